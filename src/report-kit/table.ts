import { formatNumber } from './format.ts';
import { html, type Html, type Part } from './html.ts';

/** A column: its heading, and what its cells show of each item. */
export type ItemColumn<Item> = {
  /** The first column heads the rows, and may have no name. */
  name: string;
  /** What follows the name in the heading. */
  remark?: string | undefined;
  headingClass?: string;
} & (
  | {
      content: (item: Item) => Part;
      /** Class of the cells. */
      className?: string | ((item: Item) => string);
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
export interface ItemTable<Item> {
  /** What the rows are, for screen readers. */
  label: string;
  className?: string;
  items: readonly Item[];
  columns: readonly ItemColumn<Item>[];
}

/** A table with more columns than this is stacked on screens of a medium width, too. */
const NARROW_COLUMNS_MAX = 7;

/**
 * Renders a table of items. On a narrow screen its rows are stacked: each starts with its heading, and the
 * other cells follow, each after the name of its column, without counts of 0. `label-tables.js` copies the
 * names from the headings; without the script the table scrolls. Roles are not needed: current browsers
 * keep the meaning of a table whose `display` changes (Safari since version 17).
 */
export function renderItems<Item>({ label, className, items, columns }: ItemTable<Item>): Html {
  const classes = [
    ...(className === undefined ? [] : [className]),
    ...(columns.length > NARROW_COLUMNS_MAX ? ['wide'] : []),
  ];
  return html`<table aria-label="${label}" ${classOf(classes.join(' '))}>
    <thead>
      <tr>
        ${columns.map(renderHeading)}
      </tr>
    </thead>
    <tbody>
      ${items.map(
        (item) =>
          html`<tr>
            ${columns.map((column, index) => renderCell(column, item, index === 0))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const isNumeric = <Item>(column: ItemColumn<Item>): boolean =>
  'count' in column || column.isNumber === true;

const classOf = (className: string | undefined): Html | false =>
  className !== undefined && className !== '' && html` class="${className}"`;

function renderHeading<Item>(column: ItemColumn<Item>): Html {
  const { name, remark, headingClass } = column;
  // A heading without text would have no meaning for screen readers.
  if (name === '') return html`<td></td>`;
  const className = classOf(isNumeric(column) ? 'number' : headingClass);
  const more = remark !== undefined && html` <span class="soft">${remark}</span>`;
  return html`<th scope="col" ${className}>${name}${more}</th>`;
}

function renderCell<Item>(column: ItemColumn<Item>, item: Item, isFirst: boolean): Html {
  const { className, content } =
    'count' in column ? showCount(column, item) : showItem(column, item);
  if (isFirst) return html`<th scope="row" ${classOf(className)}>${content}</th>`;
  return html`<td${classOf(className)}>${content}</td>`;
}

interface Cell {
  className: string | undefined;
  content: Part;
}

function showItem<Item>(column: Exclude<ItemColumn<Item>, { count: unknown }>, item: Item): Cell {
  const { className, isNumber = false, content } = column;
  const own = typeof className === 'function' ? className(item) : className;
  return { className: isNumber ? 'number' : own, content: content(item) };
}

function showCount<Item>(
  { count, mark, content }: Extract<ItemColumn<Item>, { count: unknown }>,
  item: Item,
): Cell {
  const value = count(item);
  return {
    className: `number ${value > 0 ? mark : 'soft'}`,
    content: content?.(item) ?? formatNumber(value),
  };
}

/** Returns the rules that stack the rows of the tables that a selector finds. */
const stackRows = (table: string): string => `
${table}, ${table} :is(tbody, tr, th, td) { display: block; }
${table} thead { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
${table} tbody tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
${table} tbody :is(th, td) { border: 0; max-width: none; min-width: 0; padding: 0.1rem 0;
  text-align: left; width: auto; }
${table} tbody th { font-weight: 600; }
${table} tbody th .soft { font-weight: 400; }
${table} tbody td { display: inline-block; margin-right: 1rem; max-width: 100%; }
${table} tbody :is(td:empty, td.number.soft) { display: none; }
${table} .same-day { opacity: 1; }
${table} tbody td::before { color: var(--soft-ink); content: attr(data-label); font-size: 0.875rem;
  font-weight: 400; margin-right: 0.35rem; }
${table} tbody td[data-label='verdict']::before { content: none; }
${table} .rate { display: inline-block; vertical-align: top; }
`;

/** CSS rules of tables. */
export const TABLE_CSS = `
table { border-collapse: collapse; margin: 0.6rem 0; width: 100%; }
th, td { border-bottom: 1px solid var(--line); min-width: 5.75rem; padding: 0.4rem 0.75rem 0.4rem 0;
  text-align: left; vertical-align: top; }
thead th { color: var(--soft-ink); font-size: 0.875rem; font-weight: 550; overflow-wrap: break-word;
  vertical-align: bottom; }
tbody th { font-weight: inherit; min-width: 9rem; }
td:where(.number), th:where(.number) { font-variant-numeric: tabular-nums; min-width: 0; text-align: right;
  white-space: nowrap; }
thead th:where(.number) { white-space: normal; }
td.number { font-size: inherit; }
th:last-child, td:last-child { padding-right: 0; }
:where(td.number) + td:where(:not(.number)), :where(th.number) + th:where(:not(.number)) {
  padding-left: 0.8rem; }
@media (min-width: 72rem) { .when { white-space: nowrap; } }
@media screen and (max-width: 48rem) {${stackRows('table:where(.labeled)')}}
@media screen and (max-width: 63rem) {${stackRows('table.wide:where(.labeled)')}
table:where(:not(.heat, .labeled)) { display: block; overflow-wrap: normal; overflow-x: auto; } }
`;
