import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';

/** The report as Markdown, for the summary of a CI step: the verdict, then what is to be done. */
export function markdownReport(report: CheckReport): string {
  const of = (verdict: string): RequirementVerdict[] =>
    report.requirements.filter((one) => one.verdict === verdict);
  const counts = Object.entries(report.counts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict.replace('_', ' ')}`)
    .join(', ');
  const lines = [
    `## sandbox-kit check: ${report.verdict}`,
    '',
    `\`${report.target}\`, suite ${report.suite}, seed \`${report.seed}\`: ${counts}.`,
    ...report.waived.map((waiver) => `\n> ${waiver}`),
    ...(report.gate ? ['', `**${report.gate.says}** ${report.gate.cure}`] : []),
    ...table('Fails', [...of('error'), ...of('fail')]),
    ...causes(report),
    ...table('Warns', of('warn')),
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
        `${one.says} (spec ${one.section})`,
        one.pointer ?? '',
        one.expected ?? '',
        one.received ?? one.reason ?? '',
      ];
      return `| ${cells.map(cell).join(' | ')} |`;
    }),
  ];
}

function causes({ causes: found }: CheckReport): string[] {
  if (found.length === 0) return [];
  return ['', ...found.map(({ says, clears }) => `- ${cell(says)}: clears ${clears.join(', ')}`)];
}

function dialect({ dialect: found }: CheckReport): string[] {
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

/** What comes from a sandbox is text, never markup. */
function cell(text: string): string {
  return text
    .replaceAll(/[&<>|`*_[\]\\]/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replaceAll(/\s+/g, ' ');
}
