import type {
  RunChange,
  ScenarioChange,
  SimulatedSessionReport,
  SimulationBlocker,
  SimulationComparison,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { msBetween } from '../../../platform/clock.ts';
import { comparisonHeading } from '../../../report-kit/comparison.ts';
import {
  capitalize,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../../report-kit/format.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import { typeCommandsIn } from '../../../report-kit/program-name.ts';
import {
  labeled,
  shorten,
  visibleWidth,
  wrap,
  type Style,
  type TextLayout,
} from '../../../report-kit/terminal.ts';
import { runChangeNames } from '../../runs/comparison/run-comparison.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
} from '../../runs/comparison/scenario-changes.ts';
import {
  describeEnd,
  groupAlike,
  isStopped,
  listReasons,
  listSharedReasons,
  nameEnd,
  nameOf,
} from '../../runs/reasons.ts';
import { listChanges } from './comparison.ts';
import { findFailedTurn, putExampleFirst } from './failed-turn.ts';
import { describeTurnResend, formatTurnCommand } from './send-again.ts';
import { formatTranscriptLines, formatTurnLines, nameTurn } from './transcript.ts';
import { RUN_VERDICT_WORDS } from '../../runs/scenario-results.ts';
import { listRunHeard } from '../../runs/heard-facts.ts';
import { listRunTurnTaking } from '../../runs/turn-taking-facts.ts';

const STYLE_BY_VERDICT: Record<SimulationVerdict, Style> = {
  passed: 'green',
  failed: 'red',
  undecided: 'yellow',
};

/** Maximum number of groups of sessions to list; the JSON report has all sessions. */
const GROUPS_MAX = 20;

const STYLE_BY_RUN_CHANGE: Record<RunChange, Style> = {
  worse: 'red',
  mixed: 'red',
  better: 'green',
  no_difference: 'bold',
  not_comparable: 'yellow',
};

const STYLE_BY_CHANGE: Record<ScenarioChange, Style> = {
  regressed: 'red',
  improved: 'green',
  unclear: 'yellow',
  not_comparable: 'yellow',
  new: 'yellow',
  gone: 'yellow',
  same: 'dim',
};

const VERDICT_WIDTH = 9;
const CHANGE_WIDTH = 14;
const ID_WIDTH_MIN = 12;
const CHANNEL_WIDTH = 7;
const NAME_WIDTH_MAX = 32;

/** Formats the line that reports the end of a session. */
export function formatSessionLine(
  session: SimulatedSessionReport,
  { style, width }: TextLayout,
): string {
  const { verdict, end_reason: reason, traces, channel } = session;
  const suffix = channel === 'voice' ? ' by voice' : '';
  const turns = `${formatCount(traces.length, 'turn')}${suffix}`;
  const tail = `${turns.padStart(8)}  ${nameEnd(reason)}`;
  const nameWidth = Math.min(NAME_WIDTH_MAX, width - VERDICT_WIDTH - tail.length - 4);
  const word = style(STYLE_BY_VERDICT[verdict], verdict.padEnd(VERDICT_WIDTH));
  return `${word}  ${shorten(nameOf(session), nameWidth).padEnd(nameWidth)}  ${tail}\n`;
}

/** Formats the line of a session that ended, and its turns. */
export function formatVerboseSession(session: SimulatedSessionReport, layout: TextLayout): string {
  const lines = formatTranscriptLines(session, layout.width);
  return `${formatSessionLine(session, layout)}${lines.map((line) => `${line}\n`).join('')}`;
}

/** Formats the report for a terminal: the comparison, a table, the reasons, and the summary last. */
export function terminalReport(
  report: SimulationReport,
  { resendFile, ...layout }: TextLayout & { resendFile?: string | undefined },
): string {
  const { verdict, sentence, sessions, blockedBy, comparison, seed } = report;
  const ms = msBetween(report.startedAt, report.endedAt);
  const word = RUN_VERDICT_WORDS[verdict].toUpperCase();
  // After an interruption, not all sessions ran, and the sentence counts those that were judged.
  const wasInterrupted = sessions.some(({ status }) => status === 'canceled');
  const isPartial = wasInterrupted || blockedBy !== undefined;
  const count = isPartial ? 'Stopped after' : `${formatCount(sessions.length, 'session')} in`;
  const outcome = blockedBy ? 'No session was started.' : typeCommandsIn(sentence, layout.program);
  const summary = labeled(
    `${layout.style(STYLE_BY_VERDICT[verdict], word)}  `,
    `${outcome} ${count} ${formatDuration(ms)}, seed ${seed}.`,
    layout.width,
  );
  const blocks = [
    ...(comparison ? [formatComparison(comparison, layout)] : []),
    blockedBy ? formatBlocker(blockedBy, layout) : formatTable(report, layout),
    formatTurnTaking(report, layout),
    formatHeard(report, layout),
    formatReasons(report, { ...layout, resendFile }),
    formatFailedTranscript(sessions, layout),
    summary,
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function formatBlocker(
  { message, cure }: SimulationBlocker,
  { style, width, program }: TextLayout,
): string[] {
  return [
    ...wrap(message, width).map((line) => style('red', line)),
    ...wrap(typeCommandsIn(cure, program), width),
  ];
}

function formatTable(report: SimulationReport, { style, width }: TextLayout): string[] {
  const { scenarios, sessions } = report;
  if (scenarios.length === 0 || haveSameStop(sessions)) return [];
  const ids = scenarios.map((scenario) => scenario.scenario_id.length);
  const channels = new Map(sessions.map((session) => [session.scenario_id, session.channel]));
  const hasVoice = [...channels.values()].includes('voice');
  const channelOf = (id: string): string[] =>
    hasVoice ? [(channels.get(id) ?? '').padEnd(CHANNEL_WIDTH)] : [];
  const idWidth = Math.min(width - (hasVoice ? 51 : 42), Math.max(8, ...ids));
  const channelTitle = hasVoice ? `${'Channel'.padEnd(CHANNEL_WIDTH)}  ` : '';
  const head = `${'Scenario'.padEnd(idWidth)}  ${channelTitle}Verdict      Passed  Required  pass^k`;
  const rows = scenarios.map((scenario) => {
    const { scenario_id: id, verdict, passed, samples, flaky } = scenario;
    const { required_pass_rate: required, pass_hat_k: passHat } = scenario;
    const columns = [
      shorten(id, idWidth).padEnd(idWidth),
      ...channelOf(id),
      style(STYLE_BY_VERDICT[verdict], verdict.padEnd(VERDICT_WIDTH)),
      `${passed}/${samples}`.padStart(8),
      formatShare(required, 0).padStart(8),
      (passHat.length === 0 ? '-' : (passHat.at(-1) ?? 0).toFixed(2)).padStart(6),
    ];
    return `${columns.join('  ')}${flaky ? style('yellow', '  flaky') : ''}`;
  });
  return [style('dim', head), ...rows];
}

/** Returns whether the same error stopped several sessions and no other one ran: the reasons say all. */
function haveSameStop(sessions: readonly SimulatedSessionReport[]): boolean {
  const [first] = sessions;
  if (!first || sessions.length === 1) return false;
  return isStopped(first) && groupAlike(sessions).length === 1;
}

function formatTurnTaking(
  { turn_taking: measured }: SimulationReport,
  layout: TextLayout,
): string[] {
  const facts = listRunTurnTaking(measured).filter(([name]) => name !== 'calls');
  if (!measured || facts.length === 0) return [];
  const nameWidth = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.flatMap(([name, figure]) => {
    return labeled(`  ${capitalize(name).padEnd(nameWidth)}  `, figure, layout.width);
  });
  return [`Turn-taking in ${formatCount(measured.calls, 'call')}:`, ...lines];
}

function formatHeard({ heard, sessions }: SimulationReport, layout: TextLayout): string[] {
  const facts = listRunHeard(heard, sessions);
  if (facts.length === 0) return [];
  const text = facts.map(([name, figure]) =>
    name === 'calls' || name === 'skipped' ? figure : `${name} ${toPrintable(figure)}`,
  );
  return labeled('Heard: ', text.join('; ').replace(/\.?$/, '.'), layout.width);
}

function formatReasons(
  report: SimulationReport,
  { resendFile, ...layout }: TextLayout & { resendFile: string | undefined },
): string[] {
  const { sessions } = report;
  const notable = sessions.filter(
    (session) => session.verdict !== 'passed' || listReasons(session).length > 0,
  );
  const groups = groupAlike(notable).map(putExampleFirst);
  const lines = groups.slice(0, GROUPS_MAX).flatMap((group, index) => {
    const [first] = group;
    if (!first) return [];
    const { verdict } = first;
    const word = layout.style(STYLE_BY_VERDICT[verdict], verdict);
    const head = `${nameGroup(group)} (${describeEnd(first)})`;
    const reasons = listSharedReasons(group).flatMap((text) =>
      labeled('  - ', toPrintable(text), layout.width),
    );
    const trace = first.verdict === 'passed' ? undefined : first.trace_ids?.at(-1);
    return [
      ...(index === 0 ? [] : ['']),
      ...labeled(`${word} `, head, layout.width),
      ...reasons,
      ...formatFailedTurn(first, layout),
      ...formatRepetition(first, report, { ...layout, resendFile }),
      ...(trace === undefined ? [] : [`  - Trace id of the last request: ${trace}`]),
    ];
  });
  const more = groups.slice(GROUPS_MAX).reduce((sum, group) => sum + group.length, 0);
  return more > 0
    ? [...lines, `and ${formatCount(more, 'more session')}. --json FILE writes all of them.`]
    : lines;
}

/** Formats the turn that failed a session: what the user said, and what the agent replied. */
function formatFailedTurn(session: SimulatedSessionReport, { width }: TextLayout): string[] {
  const turn = findFailedTurn(session);
  if (!turn) return [];
  const layout = { indent: '      ', width };
  return [`  - ${nameTurn(turn)}:`, ...formatTurnLines(session, turn, layout)];
}

/** Says how to send the request of the turn that failed a session again: from the report, or by curl. */
function formatRepetition(
  session: SimulatedSessionReport,
  report: SimulationReport,
  { resendFile: file, style, width, program }: TextLayout & { resendFile: string | undefined },
): string[] {
  const turn = session.failed_turn?.session_sequence;
  const resend = describeTurnResend(session, { turn, file, program });
  const curl = file === undefined ? formatTurnCommand(report, session) : undefined;
  if (file === undefined && curl === undefined) {
    return resend === undefined ? [] : labeled('  - ', resend, width);
  }
  const command = curl ?? resend;
  // A command is one line, so that it can be copied.
  return command === undefined
    ? []
    : ['  - Send its request again:', `    ${style('dim', command)}`];
}

/** Formats the transcript of the first session with several turns that failed. */
function formatFailedTranscript(
  sessions: readonly SimulatedSessionReport[],
  { width }: TextLayout,
): string[] {
  const failed = sessions.filter(({ verdict }) => verdict === 'failed');
  const first = failed.find(({ traces }) => traces.length > 1);
  const others = failed.filter((session) => session !== first);
  if (!first) return [];
  const more =
    others.length > 0 ? ['--json FILE writes the transcripts of the other failed sessions.'] : [];
  const head = `Transcript of ${toPrintable(first.scenario_id)}, sample ${first.sample}:`;
  return [...wrap(head, width), ...formatTranscriptLines(first, width), ...more];
}

/** Names a group of sessions by its first session. */
function nameGroup(group: readonly SimulatedSessionReport[]): string {
  const [first, ...others] = group;
  if (!first) return '';
  const name = `${toPrintable(first.scenario_id)}, sample ${first.sample}`;
  return others.length === 0 ? name : `${name} and ${formatNumber(others.length)} more`;
}

function formatComparison(
  comparison: SimulationComparison,
  { style, width }: TextLayout,
): string[] {
  const { changed, unchanged } = listChanges(comparison);
  const rows = changed.map((row) => ({
    change: row.change,
    id: toPrintable(row.scenario_id),
    results: `${describeStanding(row.before)} -> ${describeStanding(row.now)}`,
    evidence: toPrintable(describeEvidence(row)),
  }));
  const widthOf = (name: 'id' | 'results' | 'evidence'): number =>
    rows.reduce((max, row) => Math.max(max, row[name].length), 0);
  const idWidth = Math.min(
    Math.max(ID_WIDTH_MIN, width - CHANGE_WIDTH - widthOf('results') - widthOf('evidence') - 6),
    widthOf('id'),
  );
  const lines = rows.flatMap(({ change, id, results, evidence }) => {
    const word = style(STYLE_BY_CHANGE[change], changeNames[change].padEnd(CHANGE_WIDTH));
    const start = `${word}  ${shorten(id, idWidth).padEnd(idWidth)}  `;
    const line = `${start}${results.padEnd(evidence === '' ? 0 : widthOf('results'))}`;
    if (evidence === '') return [line];
    return visibleWidth(line) + 2 + evidence.length <= width
      ? [`${line}  ${evidence}`]
      : [line.trimEnd(), ...labeled(' '.repeat(CHANGE_WIDTH + 2), evidence, width)];
  });
  const { verdict, sentence, differences } = comparison;
  const heading = `${comparisonHeading(comparison)}: ${runChangeNames[verdict]}`;
  return [
    ...wrap(heading, width).map((line) => style(STYLE_BY_RUN_CHANGE[verdict], line)),
    ...wrap(sentence, width),
    ...differences.flatMap((difference) => wrap(difference, width)),
    ...lines,
    ...(unchanged === 0 ? [] : [`${formatCount(unchanged, 'scenario')} with the same pass rate.`]),
  ];
}
