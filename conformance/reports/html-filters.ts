import type { CheckReport, RequirementVerdict, Verdict } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';

/** The verdicts, what is to be done first. */
export const verdictsInOrder: readonly Verdict[] = [
  ...(['error', 'fail', 'warn', 'note', 'blocked'] as const),
  ...(['pass', 'not_observed', 'not_applicable', 'not_selected'] as const),
];

const names = ['verdict', 'area', 'level'] as const;
type Name = (typeof names)[number];

/** The values that there are of one property, each with how many requirements have it. */
function valuesOf(report: CheckReport, name: Name): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const one of report.requirements) counts.set(one[name], (counts.get(one[name]) ?? 0) + 1);
  const order = (value: string): number =>
    name === 'verdict' ? verdictsInOrder.indexOf(value as Verdict) : 0;
  return [...counts].sort(([one], [other]) => order(one) - order(other));
}

/** Values are words of ours; in a selector, they must be nothing else. */
const word = (value: string): string => value.replaceAll(/[^a-z_]/g, '');

/** Boxes to choose by; they work by style alone, so that the page needs no script. */
export function filters(report: CheckReport): Html {
  const sets = names.map(
    (name) =>
      html`<fieldset>
        <legend>${name[0]?.toUpperCase()}${name.slice(1)}</legend>
        ${valuesOf(report, name).map(
          ([value, count]) =>
            html`<label class="${name === 'verdict' ? word(value) : ''}"
              ><input type="checkbox" id="${name}-${word(value)}" checked />
              ${value.replaceAll('_', ' ')} <b>${count}</b></label
            >`,
        )}
      </fieldset>`,
  );
  return html`<form class="filters" autocomplete="off" aria-label="Show requirements">
    ${sets}
  </form>`;
}

/** The rules that hide what is not chosen. */
export function filterRules(report: CheckReport): string {
  return names
    .flatMap((name) =>
      valuesOf(report, name).map(
        ([value]) =>
          `body:has(#${name}-${word(value)}:not(:checked)) .r-${name}-${word(value)}{display:none}`,
      ),
    )
    .join('\n');
}

/** The classes by which the rules find a requirement. */
export const filterClasses = (one: RequirementVerdict): string =>
  names.map((name) => `r-${name}-${word(one[name])}`).join(' ');
