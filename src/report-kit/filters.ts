import { capitalize } from './format.ts';
import { html, type Html } from './html.ts';

/** A property that a page filters its rows by, such as the verdict. */
export interface Facet<Row> {
  /** Lower case, such as `verdict`. */
  name: string;
  valueOf: (row: Row) => string;
  /** The values in the order of their checkboxes; others keep the order of the rows. */
  order?: readonly string[];
  /** Whether the checkboxes have the colors of their values. */
  isColored?: boolean;
}

/**
 * Renders checkboxes that hide rows by CSS alone, so that they work without a script. `noun` names the
 * rows, such as `requirements`.
 */
export function renderFilters<Row>(
  rows: readonly Row[],
  facets: readonly Facet<Row>[],
  noun: string,
): Html {
  const sets = facets.map(
    (facet) =>
      html`<fieldset>
        <legend>${capitalize(facet.name)}</legend>
        ${countValues(rows, facet).map(
          ([value, count]) =>
            html`<label class="${facet.isColored ? selectorName(value) : ''}"
              ><input type="checkbox" id="${idOf(facet, value)}" checked />
              ${value.replaceAll('_', ' ')} <b>${count}</b></label
            >`,
        )}
      </fieldset>`,
  );
  return html`<form class="filters" autocomplete="off" aria-label="Show ${noun}">${sets}</form>`;
}

/** Returns the CSS rules that hide the rows of unchecked values. */
export function createFilterRules<Row>(
  rows: readonly Row[],
  facets: readonly Facet<Row>[],
): string {
  return facets
    .flatMap((facet) =>
      countValues(rows, facet).map(
        ([value]) =>
          `body:has(#${idOf(facet, value)}:not(:checked)) .r-${idOf(facet, value)}{display:none}`,
      ),
    )
    .join('\n');
}

/** Returns the classes of a row, which the rules select it by. */
export const filterClassesOf = <Row>(row: Row, facets: readonly Facet<Row>[]): string =>
  facets.map((facet) => `r-${idOf(facet, facet.valueOf(row))}`).join(' ');

function countValues<Row>(
  rows: readonly Row[],
  { valueOf, order }: Facet<Row>,
): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(valueOf(row), (counts.get(valueOf(row)) ?? 0) + 1);
  const rank = (value: string): number => order?.indexOf(value) ?? 0;
  return [...counts].sort(([left], [right]) => rank(left) - rank(right));
}

const idOf = <Row>({ name }: Facet<Row>, value: string): string => `${name}-${selectorName(value)}`;

/** Makes a value safe for a CSS selector. */
const selectorName = (value: string): string => value.replaceAll(/[^a-z_]/g, '');
