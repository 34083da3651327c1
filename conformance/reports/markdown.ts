import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { headlineOf, staleSentence } from './headline.ts';
import { showable } from './layout.ts';
import { openCauses } from './terminal.ts';

/** The report as Markdown, for the summary of a CI step: the verdict, then what is to be done. */
export function markdownReport(given: CheckReport): string {
  const report = showable(given);
  const of = (verdict: string): RequirementVerdict[] =>
    report.requirements.filter((one) => one.verdict === verdict && one.accepted === undefined);
  const { notices = [], staleKnownFailures: stale = [] } = report;
  const counts = Object.entries(report.counts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict.replace('_', ' ')}`)
    .join(', ');
  const lines = [
    `## sandbox-kit check: ${headlineOf(report).replace('baseline-', 'baseline is ')}`,
    '',
    `${cell(report.target)}, suite ${cell(report.suite)}, seed ${cell(report.seed)}: ${counts}.`,
    ...report.waived.map((waiver) => `\n> Waived: ${cell(waiver)}`),
    ...notices.map((notice) => `\n> ${cell(notice)}`),
    ...(stale.length === 0 ? [] : ['', `**${cell(staleSentence(stale))}**`]),
    ...(report.blockedBy
      ? ['', `**${cell(report.blockedBy.message)}** ${cell(report.blockedBy.cure)}`]
      : []),
    ...table('Fails', [...of('error'), ...of('fail')]),
    ...causes(report),
    ...table('Warns', of('warn')),
    ...acceptances(report),
    ...dialect(report),
  ];
  return `${lines.join('\n')}\n`;
}

function table(title: string, rows: RequirementVerdict[]): string[] {
  if (rows.length === 0) return [];
  return [
    '',
    `### ${title}`,
    '',
    '| requirement | says | at | expected | received |',
    '|---|---|---|---|---|',
    ...rows.map((one) => {
      const cells = [
        one.id,
        `${one.rule} (spec ${one.section})`,
        one.pointer ?? '',
        one.expected ?? '',
        one.received ?? one.reason ?? '',
      ];
      return `| ${cells.map(cell).join(' | ')} |`;
    }),
  ];
}

function causes(report: CheckReport): string[] {
  const found = openCauses(report);
  if (found.length === 0) return [];
  return [
    '',
    ...found.map(
      ({ description, clears }) => `- ${cell(description)}: clears ${cell(clears.join(', '))}`,
    ),
  ];
}

function acceptances({ requirements }: CheckReport): string[] {
  const rows = requirements.flatMap(({ id, verdict, accepted }) =>
    accepted === undefined ? [] : [`| ${cell(id)} | ${verdict} | ${cell(accepted)} |`],
  );
  if (rows.length === 0) return [];
  const head = ['| requirement | verdict | why it is accepted |', '|---|---|---|'];
  return ['', '### Accepted by the baseline', '', ...head, ...rows];
}

function dialect({ observedBehavior: found }: CheckReport): string[] {
  const entries = Object.entries(found);
  if (entries.length === 0) return [];
  return [
    '',
    '<details><summary>Dialect: what it does where the specification is silent</summary>',
    '',
    '| silence | here |',
    '|---|---|',
    ...entries.map(([name, value]) => `| ${cell(name)} | ${cell(value)} |`),
    '',
    '</details>',
  ];
}

/** What comes from a sandbox is text: never markup, a link, a mention or a formula. */
function cell(text: string): string {
  return text.replaceAll(
    /[&<>|`*_[\]\\~$@:#!]|(?<=\bwww)\./gi,
    (mark) => `&#${mark.charCodeAt(0)};`,
  );
}
