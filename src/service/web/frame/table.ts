import { html, type Html } from '../../../report-kit/html.ts';

type Column = string | { name: string | Html; className: string };

/** A table of a page. */
export interface TableContent {
  /** What the rows are, for screen readers. */
  label: string;
  /**
   * The names of the columns, with the class of their headings if they have one, such as `number`. The
   * column of the headings of rows has no name.
   */
  columns: readonly Column[];
  rows: readonly Html[];
  /** Class of the frame of the table. */
  className?: string;
}

/** Returns a column of numbers. */
export const numberColumn = (name: string): Column => ({
  name,
  className: 'number',
});

/** Renders a table that scrolls sideways, also by keyboard, where the screen is narrow. */
export function renderTable({ label, columns, rows, className }: TableContent): Html {
  const frame = className === undefined ? 'scroll' : `scroll ${className}`;
  return html`<div class="${frame}" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map(renderHeading)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function renderHeading(column: Column): Html {
  // A heading without text would have no meaning for screen readers.
  if (column === '') return html`<td></td>`;
  return typeof column === 'string'
    ? html`<th>${column}</th>`
    : html`<th class="${column.className}">${column.name}</th>`;
}
