import { formatNumber } from './format.ts';
import { html, type Html, type Part } from './html.ts';

/** A column, with the class of its heading if it has one, such as `number`. */
export type Column = string | { name: string | Html; className?: string | undefined };

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

/** A column of a table of items: its heading, and what its cells show of each item. */
export type ItemColumn<Item> = {
  name: string | Html;
  headingClass?: string;
} & (
  | {
      content: (item: Item) => Part;
      /** Class of the cells. */
      className?: string;
      /** Whether the heading and the cells are aligned as numbers. */
      isNumber?: boolean;
    }
  | {
      count: (item: Item) => number;
      /** Class that marks counts above 0. */
      mark: string;
      /** Replaces the number. */
      content?: (item: Item) => Html | undefined;
    }
);

/** A table with a row for each item. */
export interface ItemTable<Item> extends Omit<TableContent, 'columns' | 'rows'> {
  items: readonly Item[];
  columns: readonly ItemColumn<Item>[];
}

/** Renders a table of items: headings and cells come from its columns. */
export const renderItems = <Item>({ columns, items, ...table }: ItemTable<Item>): Html =>
  renderTable({
    ...table,
    columns: columns.map(headingOf),
    rows: items.map(
      (item) =>
        html`<tr>
          ${columns.map((column) => renderItemCell(column, item))}
        </tr>`,
    ),
  });

function headingOf<Item>(column: ItemColumn<Item>): Column {
  const isNumber = 'count' in column || column.isNumber === true;
  const className = isNumber ? 'number' : column.headingClass;
  return { name: column.name, className };
}

function renderItemCell<Item>(column: ItemColumn<Item>, item: Item): Html {
  if ('count' in column) {
    return renderCount(column.count(item), column.mark, column.content?.(item));
  }
  const className = column.isNumber === true ? 'number' : column.className;
  const content = column.content(item);
  return html`<td${className !== undefined && html` class="${className}"`}>${content}</td>`;
}

/** Renders a cell with a count. The class marks a count above 0. */
export const renderCount = (count: number, className: string, content?: Html): Html =>
  html`<td class="number ${count > 0 ? className : 'soft'}">${content ?? formatNumber(count)}</td>`;

function renderHeading(column: Column): Html {
  // A heading without text would have no meaning for screen readers.
  if (column === '') return html`<td></td>`;
  return typeof column === 'string'
    ? html`<th>${column}</th>`
    : html`<th${column.className !== undefined && html` class="${column.className}"`}>${column.name}</th>`;
}
