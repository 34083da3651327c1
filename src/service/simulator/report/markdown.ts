import type { SimulationReport } from '../../../contract/index.ts';
import { comparisonBlocks } from '../../../report-kit/comparison.ts';
import { formatCount, formatInstant, formatShare } from '../../../report-kit/format.ts';
import {
  line,
  markdownLink,
  renderMarkdown,
  type Block,
  type ListItem,
} from '../../../report-kit/markdown.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
} from '../../runs/comparison/scenario-changes.ts';
import { RUN_VERDICT_WORDS } from '../../runs/scenario-results.ts';
import { describeEnd, groupUnpassed, listSharedReasons, nameOf } from '../../runs/reasons.ts';
import { listChanges, shortHeading } from './comparison.ts';
import { formatTranscript } from './transcript.ts';
import { listRunHeard } from '../../runs/heard-facts.ts';
import { listRunTurnTaking } from '../../runs/turn-taking-facts.ts';

/** Maximum numbers of groups and transcripts; the JSON report has all sessions. */
const GROUPS_MAX = 20;
const TRANSCRIPTS_MAX = 5;

const ICONS = { passed: '✅', failed: '❌', undecided: '❔' } as const;

/** Writes the report as Markdown for the summary of a CI step: the verdict, then every scenario. */
export function markdownReport(original: SimulationReport): string {
  const report = toPrintable(original);
  const { verdict, sentence, sandbox, seed, blockedBy, startedAt } = report;
  return renderMarkdown(`sandbox-kit simulate: ${RUN_VERDICT_WORDS[verdict].toLowerCase()}`, [
    sentence,
    blockedBy?.cure,
    ...changes(report),
    { title: 'Scenarios', blocks: [scenarioTable(report)] },
    ...turnTaking(report),
    ...heard(report),
    { title: 'Why sessions did not pass', blocks: [{ list: reasons(report) }] },
    ...transcripts(original),
    line`${markdownLink(sandbox)}, seed ${seed}, ${formatInstant(startedAt)}.`,
  ]);
}

function changes({ comparison }: SimulationReport): Block[] {
  if (!comparison) return [];
  const { changed, unchanged } = listChanges(comparison);
  const rows = changed.map((row) => [
    ...[row.scenario_id, changeNames[row.change]],
    ...[describeStanding(row.before), describeStanding(row.now), describeEvidence(row)],
  ]);
  return comparisonBlocks(
    comparison,
    [
      { columns: ['scenario', 'change', 'before', 'now', 'evidence'], rows },
      `${formatCount(unchanged, 'scenario')} with the same pass rate.`,
    ],
    shortHeading(comparison),
  );
}

const scenarioTable = ({ scenarios }: SimulationReport): Block => ({
  columns: ['scenario', 'verdict', 'passed', 'required', 'pass^k'],
  rows: scenarios.map((scenario) => {
    const { verdict, passed, samples, flaky, pass_hat_k: passHat } = scenario;
    return [
      scenario.scenario_id,
      `${ICONS[verdict]} ${verdict}${flaky ? ', flaky' : ''}`,
      `${passed} of ${samples}`,
      formatShare(scenario.required_pass_rate, 0),
      passHat.at(-1)?.toFixed(2) ?? '',
    ];
  }),
});

function turnTaking({ turn_taking: measured }: SimulationReport): Block[] {
  const facts = listRunTurnTaking(measured);
  if (facts.length === 0) return [];
  const rows = facts.map(([name, figure]) => [name, figure]);
  return [{ title: 'Turn-taking', blocks: [{ columns: ['property', 'measured'], rows }] }];
}

function heard({ heard: measured, sessions }: SimulationReport): Block[] {
  const facts = listRunHeard(measured, sessions);
  if (facts.length === 0) return [];
  const title = 'Speech of the agent, transcribed';
  if (measured?.skipped !== undefined) return [{ title, blocks: [measured.skipped] }];
  const rows = facts.map(([name, figure]) => [name, figure]);
  return [{ title, blocks: [{ columns: ['property', 'measured'], rows }] }];
}

/** Lists why sessions did not pass, with the most frequent reason first. */
function reasons({ sessions }: SimulationReport): ListItem[] {
  const groups = groupUnpassed(sessions);
  const more = groups.length - GROUPS_MAX;
  const items = groups.slice(0, GROUPS_MAX).flatMap((group): ListItem[] => {
    const [first] = group;
    if (!first) return [];
    const names = group.map(nameOf).join(', ');
    const count = formatCount(group.length, 'session');
    return [
      {
        text: `${ICONS[first.verdict]} ${count}: ${names} (${describeEnd(first)})`,
        details: listSharedReasons(group),
      },
    ];
  });
  return more > 0
    ? [...items, { text: `${formatCount(more, 'more group')} in the JSON report` }]
    : items;
}

/** Returns the transcripts of the first failed sessions, collapsed. */
function transcripts({ sessions }: SimulationReport): Block[] {
  const failed = sessions.filter(({ verdict }) => verdict === 'failed');
  return failed.slice(0, TRANSCRIPTS_MAX).map((session) => ({
    summary: `Transcript of ${toPrintable(nameOf(session))}`,
    blocks: [{ list: formatTranscript(session) }],
  }));
}
