import { toSentence } from '../../../platform/sandbox-kit-error.ts';
import { capitalize, formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import {
  rowNouns,
  type TranscriptFile,
} from '../../operations/transcript-file/read-transcripts.ts';

/** What the pages show of a file, without its conversations. */
export type FileReport = Omit<TranscriptFile<unknown>, 'items'>;

export const PROBLEM_LIST_CSS = `
.problems { table-layout: fixed; }
.problems thead th:nth-child(2) { width: 8.5rem; } .problems thead th.number { width: 3.5rem; }
`;

/** Renders the problems of a file as a table, and counts those that it does not show. */
export function renderProblems({ format, problems, problemCount }: FileReport): Html | undefined {
  if (problemCount === 0) return undefined;
  const rest = problemCount - problems.length;
  return html`${renderItems({
    label: 'Problems',
    className: 'problems',
    items: toVisible(problems),
    columns: [
      { name: rowNouns[format], isNumber: true, content: ({ row }) => formatNumber(row) },
      {
        name: format === 'csv' ? 'column' : 'JSON pointer',
        content: ({ place }) => place !== '' && html`<code>${place}</code>`,
      },
      { name: 'problem', content: ({ problem }) => toSentence(capitalize(problem)) },
    ],
  })}
  ${rest > 0 && html`<p>And ${formatCount(rest, 'more problem')}.</p>`}`;
}
