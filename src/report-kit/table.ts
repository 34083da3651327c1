import { formatNumber } from './format.ts';
import { html, type Html } from './html.ts';

/** A column, with the class of its heading if it has one, such as `number`. */
export type Column = string | { name: string | Html; className: string };

/** A table of a page. */
export interface TableContent {
  /**
   * What the rows are, for screen readers. A table with a label scrolls sideways where the screen is
   * narrow, also by keyboard; a table without one fits every screen.
   */
  label?: string;
  /** The column of the headings of rows has no name. Without columns, the table has no headings. */
  columns?: readonly Column[];
  rows: readonly Html[];
  /** Class of the table; with a label, of its frame. */
  className?: string;
}

/** Returns a column of numbers. */
export const numberColumn = (name: string): Column => ({
  name,
  className: 'number',
});

/** Renders a table. */
export function renderTable({ label, columns = [], rows, className }: TableContent): Html {
  const isFramed = label !== undefined;
  const tableClass = isFramed || className === undefined ? '' : html` class="${className}"`;
  const table = html`<table${tableClass}>
    ${
      columns.length > 0 &&
      html`<thead>
        <tr>
          ${columns.map(renderHeading)}
        </tr>
      </thead>`
    }
    <tbody>
      ${rows}
    </tbody>
  </table>`;
  if (!isFramed) return table;
  const frame = className === undefined ? 'scroll' : `scroll ${className}`;
  return html`<div class="${frame}" tabindex="0" role="region" aria-label="${label}">
    ${table}
  </div>`;
}

/** Renders a cell with a count. The class marks a count above 0. */
export const renderCount = (count: number, className: string, content?: Html): Html =>
  html`<td class="number ${count > 0 ? className : 'soft'}">${content ?? formatNumber(count)}</td>`;

function renderHeading(column: Column): Html {
  // A heading without text would have no meaning for screen readers.
  if (column === '') return html`<td></td>`;
  return typeof column === 'string'
    ? html`<th>${column}</th>`
    : html`<th class="${column.className}">${column.name}</th>`;
}
