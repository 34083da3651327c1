import type { CheckReport, RequirementVerdict, Verdict } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';

/** The verdicts, most urgent first. */
export const verdictsInOrder: readonly Verdict[] = [
  ...(['error', 'fail', 'warn', 'note', 'blocked'] as const),
  ...(['pass', 'not_observed', 'not_applicable', 'not_selected'] as const),
];

const names = ['verdict', 'area', 'level'] as const;
type Name = (typeof names)[number];

/** Counts the requirements by the values of one property. */
function valuesOf(report: CheckReport, name: Name): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const row of report.requirements) counts.set(row[name], (counts.get(row[name]) ?? 0) + 1);
  const order = (value: string): number =>
    name === 'verdict' ? verdictsInOrder.indexOf(value as Verdict) : 0;
  return [...counts].sort(([left], [right]) => order(left) - order(right));
}

/** Makes a value safe for a CSS selector. */
const selectorName = (value: string): string => value.replaceAll(/[^a-z_]/g, '');

/** Renders checkboxes that filter requirements by CSS alone, so that the page needs no script. */
export function filters(report: CheckReport): Html {
  const sets = names.map(
    (name) =>
      html`<fieldset>
        <legend>${name[0]?.toUpperCase()}${name.slice(1)}</legend>
        ${valuesOf(report, name).map(
          ([value, count]) =>
            html`<label class="${name === 'verdict' ? selectorName(value) : ''}"
              ><input type="checkbox" id="${name}-${selectorName(value)}" checked />
              ${value.replaceAll('_', ' ')} <b>${count}</b></label
            >`,
        )}
      </fieldset>`,
  );
  return html`<form class="filters" autocomplete="off" aria-label="Show requirements">
    ${sets}
  </form>`;
}

/** Returns the CSS rules that hide filtered requirements. */
export function filterRules(report: CheckReport): string {
  return names
    .flatMap((name) =>
      valuesOf(report, name).map(
        ([value]) =>
          `body:has(#${name}-${selectorName(value)}:not(:checked)) .r-${name}-${selectorName(value)}{display:none}`,
      ),
    )
    .join('\n');
}

/** Returns the classes by which the rules select a requirement. */
export const filterClasses = (row: RequirementVerdict): string =>
  names.map((name) => `r-${name}-${selectorName(row[name])}`).join(' ');
