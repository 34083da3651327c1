import type {
  ScenarioStanding,
  SimulatedSessionReport,
  SimulationComparison,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { instantMs } from '../../../platform/clock.ts';
import { wrap, type ApplyStyle, type Style } from '../../../report-kit/terminal.ts';
import { alike, reasonsOf } from './reasons.ts';
import { showable, transcriptLines } from './transcript.ts';

/** How it is written. */
export interface Page {
  style: ApplyStyle;
  /** Characters a line. */
  width: number;
}

const styles: Record<SimulationVerdict, Style> = {
  passed: 'green',
  failed: 'red',
  undecided: 'yellow',
};

/** Sessions that are told at length; the JSON has all. */
const toldMax = 20;

const verdictWidth = 9;
const channelWidth = 5;
const nameWidthMax = 32;

/** One line for a session, as it ends. */
export function sessionLine(session: SimulatedSessionReport, { style, width }: Page): string {
  const { verdict, scenario_id: id, sample, end_reason: reason, traces, channel } = session;
  const way = channel === 'voice' ? ' by voice' : '';
  const turns = `${traces.length} turn${traces.length === 1 ? '' : 's'}${way}`;
  const tail = `${turns.padStart(8)}  ${reason}`;
  const room = Math.min(nameWidthMax, width - verdictWidth - tail.length - 4);
  const name = sample === 1 ? id : `${id} #${sample}`;
  const word = style(styles[verdict], verdict.padEnd(verdictWidth));
  return `${word}  ${cut(name, room).padEnd(room)}  ${tail}\n`;
}

/** The report for people: regressions, then a table, then what went wrong, the sentence last. */
export function terminalReport(report: SimulationReport, page: Page): string {
  const { verdict, sentence, sessions, comparison, seed } = report;
  const ms = (instantMs(report.endedAt) ?? 0) - (instantMs(report.startedAt) ?? 0);
  const word = verdict.toUpperCase();
  const count = `${sessions.length} session${sessions.length === 1 ? '' : 's'}`;
  const last = wrap(
    `${word}  ${sentence} ${count} in ${(ms / 1000).toFixed(1)} s, seed ${seed}.${hintOf(report)}`,
    page.width,
  );
  const blocks = [
    ...(comparison ? [comparisonLines(comparison, page)] : []),
    tableLines(report, page),
    whyLines(sessions, page),
    saidLines(sessions, page),
    last.map((line) => line.replace(word, () => page.style(styles[verdict], word))),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Where nobody was reached, what to do about it. */
function hintOf({ sandbox, sessions }: SimulationReport): string {
  const [first] = sessions;
  const isSame = sessions.every(
    (one) => one.end_reason === 'infrastructure_error' && one.error === first?.error,
  );
  const isUnreached = /connection|resolve|reached/.test(first?.error ?? '');
  return isSame && isUnreached
    ? ` Is it running? sandbox-kit doctor ${showable(sandbox)} tells more.`
    : '';
}

function tableLines(report: SimulationReport, { style, width }: Page): string[] {
  const { scenarios, sessions } = report;
  if (scenarios.length === 0) return [];
  const ids = scenarios.map((one) => one.scenario_id.length);
  const channels = new Map(sessions.map((one) => [one.scenario_id, one.channel]));
  const hasVoice = [...channels.values()].includes('voice');
  const channelOf = (id: string): string[] =>
    hasVoice ? [(channels.get(id) ?? '').padEnd(channelWidth)] : [];
  const room = Math.min(width - (hasVoice ? 49 : 40), Math.max(8, ...ids));
  const by = hasVoice ? `${'By'.padEnd(channelWidth)}  ` : '';
  const head = `${'Scenario'.padEnd(room)}  ${by}Verdict    Passed   Wanted  pass^n  `;
  const rows = scenarios.map((one) => {
    const { verdict, passed, samples, wanted_pass_rate: wanted, pass_hat_k: hat, flaky } = one;
    const columns = [
      cut(one.scenario_id, room).padEnd(room),
      ...channelOf(one.scenario_id),
      style(styles[verdict], verdict.padEnd(verdictWidth)),
      `${passed}/${samples}`.padStart(8),
      percent(wanted).padStart(7),
      (hat.length === 0 ? '-' : (hat.at(-1) ?? 0).toFixed(2)).padStart(6),
    ];
    return `${columns.join('  ')}${flaky ? style('yellow', '  flaky') : ''}`;
  });
  return [style('dim', head.trimEnd()), ...rows];
}

function whyLines(sessions: readonly SimulatedSessionReport[], page: Page): string[] {
  const told = sessions.filter((one) => one.verdict !== 'passed' || reasonsOf(one).length > 0);
  const groups = alike(told);
  const lines = groups.slice(0, toldMax).flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { verdict, status, end_reason: reason } = first;
    const head = `${page.style(styles[verdict], verdict)} ${namesOf(group)}`;
    const why = reasonsOf(first).flatMap((one) => {
      const [line = '', ...more] = wrap(showable(one), page.width - 4);
      return [`  - ${line}`, ...more.map((next) => `    ${next}`)];
    });
    return [`${head}: ${status}, ${reason}`, ...why];
  });
  const more = groups.slice(toldMax).reduce((sum, group) => sum + group.length, 0);
  return more > 0 ? [...lines, `and ${more} sessions more; --json FILE has all`] : lines;
}

/** What was said in the first session that failed. */
function saidLines(sessions: readonly SimulatedSessionReport[], { width }: Page): string[] {
  const [first, ...others] = sessions.filter(({ verdict }) => verdict === 'failed');
  if (!first) return [];
  const more = others.length > 0 ? ['--json FILE has what was said in the others'] : [];
  const head = `What was said in ${showable(first.scenario_id)}, sample ${first.sample}:`;
  return [...wrap(head, width), ...transcriptLines(first, width), ...more];
}

/** Which sessions they are: one by its name, many by their number. */
function namesOf(group: readonly SimulatedSessionReport[]): string {
  const [first, ...others] = group;
  if (!first) return '';
  const name = `${showable(first.scenario_id)}, sample ${first.sample}`;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

function comparisonLines(comparison: SimulationComparison, { style, width }: Page): string[] {
  const { startedAt, differences, rows } = comparison;
  const changed = rows.filter(({ change }) => change !== 'same');
  const lines = changed.map(({ scenario_id: id, change, before, now }) => {
    const isBad = change === 'regressed' || change === 'worse';
    const word = change.padEnd(verdictWidth);
    const color = isBad ? 'red' : change === 'fixed' || change === 'better' ? 'green' : 'yellow';
    const told = `${standing(before)} -> ${standing(now)}`;
    return `${style(color, word)}  ${cut(showable(id), width - 52)}  ${told}`;
  });
  const same = rows.length - changed.length;
  return [
    `Beside the run of ${startedAt.slice(0, 16).replace('T', ' ')}: ${same} as before.`,
    ...differences.flatMap((one) => wrap(one, width)),
    ...lines,
  ];
}

const standing = (one: ScenarioStanding): string =>
  one ? `${one.verdict} ${one.passed}/${one.samples}` : 'not there';

const percent = (rate: number): string => `${Math.round(rate * 100)} %`;

const cut = (text: string, room: number): string =>
  text.length <= room ? text : `${text.slice(0, room - 3)}...`;
