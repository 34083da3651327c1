import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
} from '../../../contract/index.ts';
import { formatCount, formatInstant, formatShare } from '../../../report-kit/format.ts';
import { html } from '../../../report-kit/html.ts';
import { escapeMarkdown, markdownLink, markdownTable } from '../../../report-kit/markdown.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import { describeStanding } from '../../domain/simulation-results/scenario-comparison.ts';
import {
  describeEnd,
  groupUnpassed,
  listSharedReasons,
  nameOf,
} from '../../domain/simulation-results/reasons.ts';
import { formatTranscript } from './transcript.ts';

/** Maximum numbers of groups and transcripts; the JSON report has all sessions. */
const GROUPS_MAX = 20;
const TRANSCRIPTS_MAX = 5;

const ICONS = { passed: '✅', failed: '❌', undecided: '❔' } as const;

/** Writes the report as Markdown for the summary of a CI step: the verdict, then every scenario. */
export function markdownReport(original: SimulationReport): string {
  const report = toPrintable(original);
  const { verdict, sentence, sandbox, seed, blockedBy, startedAt } = report;
  const lines = [
    `## sandbox-kit simulate: ${verdict}`,
    '',
    escapeMarkdown(sentence),
    ...(blockedBy ? ['', escapeMarkdown(blockedBy.cure)] : []),
    ...comparisonLines(report),
    ...section('Scenarios', scenarioLines(report)),
    ...section('Why sessions did not pass', reasonLines(report)),
    ...transcriptLines(original),
    '',
    `${markdownLink(sandbox)}, seed ${escapeMarkdown(seed)}, ${formatInstant(startedAt)}.`,
  ];
  return `${lines.join('\n')}\n`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines];

function comparisonLines({ comparison }: SimulationReport): string[] {
  if (!comparison) return [];
  const changed = comparison.rows.filter(({ change }) => change !== 'same');
  const unchanged = comparison.rows.length - changed.length;
  return section(`Compared with ${formatInstant(comparison.startedAt)}`, [
    ...comparison.differences.map((difference) => `> ${escapeMarkdown(difference)}\n`),
    ...markdownTable(
      ['scenario', 'change', 'before', 'now'],
      changed.map(({ scenario_id: id, change, before, now }) => [
        id,
        change,
        describeStanding(before),
        describeStanding(now),
      ]),
    ),
    ...(changed.length > 0 ? [''] : []),
    `${formatCount(unchanged, 'scenario')} unchanged.`,
  ]);
}

function scenarioLines({ scenarios }: SimulationReport): string[] {
  const cells = (scenario: ScenarioResult): string[] => {
    const { verdict, passed, samples, flaky, pass_hat_k: passHat } = scenario;
    return [
      scenario.scenario_id,
      `${ICONS[verdict]} ${verdict}${flaky ? ', flaky' : ''}`,
      `${passed} of ${samples}`,
      formatShare(scenario.required_pass_rate, 0),
      passHat.at(-1)?.toFixed(2) ?? '',
    ];
  };
  const columns = ['scenario', 'verdict', 'passed', 'required', 'pass^k'];
  return markdownTable(columns, scenarios.map(cells));
}

/** Lists why sessions did not pass, with the most frequent reason first. */
function reasonLines({ sessions }: SimulationReport): string[] {
  const groups = groupUnpassed(sessions);
  const more = groups.length - GROUPS_MAX;
  const items = groups.slice(0, GROUPS_MAX).flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const names = group.map(nameOf).join(', ');
    return [
      `- ${ICONS[first.verdict]} ${formatCount(group.length, 'session')} ${describeEnd(first)}: ${escapeMarkdown(names)}`,
      ...listSharedReasons(group).map((reason) => `  - ${escapeMarkdown(reason)}`),
    ];
  });
  return more > 0 ? [...items, `- ${formatCount(more, 'more group')} in the JSON report`] : items;
}

/** Writes the transcripts of the first failed sessions, collapsed. */
function transcriptLines({ sessions }: SimulationReport): string[] {
  const failed = sessions.filter(({ verdict }) => verdict === 'failed');
  return failed.slice(0, TRANSCRIPTS_MAX).flatMap((session: SimulatedSessionReport) => [
    '',
    // Markdown has no effect in this line, because it is HTML.
    `<details>${html`<summary>Transcript of ${toPrintable(nameOf(session))}</summary>`.text}`,
    '',
    ...formatTranscript(session).map((line) => `- ${escapeMarkdown(line)}`),
    '',
    '</details>',
  ]);
}
