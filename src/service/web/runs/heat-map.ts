import type { ScenarioResult } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import { cutText, formatCount, formatInstant } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { VERDICTS_BY_URGENCY } from '../../runs/scenario-results.ts';
import type { RunSummary } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import type { JudgedRun } from './judge-runs.ts';
import { linkToScenarioSessions, pathOfRun } from './run-links.ts';

/** The most scenarios of a heat map. */
const SCENARIOS_MAX = 30;
/** The simulations that fit a phone. */
const NARROW_RUNS_MAX = 4;

/**
 * Renders the results of scenarios by simulation, the newest simulation last. Each cell leads to its
 * sessions. A single simulation has no heat map.
 * @param runs Newest first.
 * @param linkToPage Returns the link to the page of a scenario; undefined if it has none.
 */
export function renderHeatMap(
  runs: readonly JudgedRun[],
  context: PageContext,
  linkToPage: (scenarioId: string) => string | undefined = () => undefined,
): Html | undefined {
  const judged = runs.filter(({ results }) => results.length > 0).reverse();
  if (judged.length < 2) return undefined;
  const rows = listRows(judged);
  const omitted = rows.length - SCENARIOS_MAX;
  const title = `Scenarios of the last ${judged.length} simulations`;
  const days = judged.map(
    ({ run: { newestStartMs: ms } }) =>
      ms !== undefined && isoTime(ms).slice(0, 'YYYY-MM-DD'.length),
  );
  const isOneDay = new Set(days).size === 1;
  const older = judged.length - NARROW_RUNS_MAX;
  const classOf = (index: number): string => (index < older ? 'older' : '');
  return html`<figure>
    <figcaption>
      ${title}, the newest one last: ✓ passed, ✗ failed, ? undecided, with the sessions that passed.
      ${older > 0 && html`<span class="narrow-only">A wider screen shows ${older} more.</span>`}
    </figcaption>
    <table class="heat" aria-label="${title}">
      <thead>
        <tr>
          <th scope="col">scenario</th>
          ${judged.map(({ run }, index) => renderRun(run, { isOneDay, className: classOf(index) }, context))}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, SCENARIOS_MAX).map(
          ({ id, cells }) =>
            html`<tr>
              <th scope="row">${renderScenarioName(id, linkToPage(id))}</th>
              ${cells.map((cell, index) => renderCell(cell, judged[index]?.run, classOf(index), context))}
            </tr>`,
        )}
      </tbody>
    </table>
    ${omitted > 0 && html`<p class="soft">and ${formatCount(omitted, 'more scenario')}</p>`}
  </figure>`;
}

const NAME_LENGTH_MAX = 80;

function renderScenarioName(id: string, page: string | undefined): Html | string {
  const name = cutText(id, NAME_LENGTH_MAX);
  return page === undefined ? name : html`<a href="${page}">${name}</a>`;
}

/** The results of a scenario: one for each simulation that it was part of. */
interface Row {
  id: string;
  cells: readonly (ScenarioResult | undefined)[];
}

/** Returns a row for each scenario: those whose newest result is the most urgent first. */
function listRows(judged: readonly JudgedRun[]): Row[] {
  const ids = new Set(judged.flatMap(({ results }) => results.map((result) => result.scenario_id)));
  const maps = judged.map(
    ({ results }) => new Map(results.map((result) => [result.scenario_id, result])),
  );
  const rows = [...ids].map((id): Row => ({ id, cells: maps.map((map) => map.get(id)) }));
  const urgencyOf = ({ cells }: Row): number => {
    const newest = cells.findLast((cell) => cell !== undefined);
    return newest ? VERDICTS_BY_URGENCY.indexOf(newest.verdict) : VERDICTS_BY_URGENCY.length;
  };
  return rows.sort((left, right) => urgencyOf(left) - urgencyOf(right));
}

/** @param isOneDay Whether all simulations are of one day, so that only their times tell them apart. */
function renderRun(
  run: RunSummary,
  { isOneDay, className }: { isOneDay: boolean; className: string },
  context: PageContext,
): Html {
  const { id, name, newestStartMs } = run;
  const time = newestStartMs === undefined ? '' : formatInstant(isoTime(newestStartMs));
  const [from, until] = isOneDay
    ? ['YYYY-MM-DD '.length, 'YYYY-MM-DD HH:MM'.length]
    : ['YYYY-'.length, 'YYYY-MM-DD'.length];
  const heading = time === '' ? '–' : time.slice(from, until);
  const label = `${heading}: ${cutText(name, NAME_LENGTH_MAX)}${time === '' ? '' : `, ${time}`}`;
  return html`<th scope="col" class="${className}">
    <a href="${linkTo(context, pathOfRun('simulation', id))}" title="${label}" aria-label="${label}"
      >${heading}</a
    >
  </th>`;
}

const ICONS = { passed: '✓', failed: '✗', undecided: '?' } as const;

function renderCell(
  result: ScenarioResult | undefined,
  run: RunSummary | undefined,
  className: string,
  context: PageContext,
): Html {
  if (!result || !run) return html`<td class="${className}"></td>`;
  const { scenario_id: id, verdict, passed, samples } = result;
  // The label starts with the visible text, so that speech input finds it.
  const label =
    `${ICONS[verdict]} ${passed}/${samples}, ${verdict}: ` +
    `${cutText(id, NAME_LENGTH_MAX)} in ${cutText(run.name, NAME_LENGTH_MAX)}`;
  return html`<td class="${className} ${shadeOf(result)}">
    <a href="${linkToScenarioSessions(run.id, id, context)}" title="${label}" aria-label="${label}"
      >${ICONS[verdict]} <span class="of">${passed}/${samples}</span></a
    >
  </td>`;
}

/** Returns the class of the color: orange without a passed session, blue with passed ones only. */
function shadeOf({ passed, samples, verdict }: ScenarioResult): string {
  if (verdict === 'undecided' && passed === 0) return '';
  if (passed === samples) return 'share-4';
  return passed === 0 ? 'share-0' : `share-${1 + Math.floor((3 * passed) / samples)}`;
}

/** CSS rules of heat maps. People with any kind of color blindness can tell blue from orange. */
export const HEAT_MAP_CSS = `
figure:has(.heat) { margin: 1rem 0 0; }
figcaption { color: var(--soft-ink); font-size: 0.875rem; }
table.heat { table-layout: fixed; width: auto; }
.heat th, .heat td { border: 1px solid var(--page); min-width: 0; padding: 0.2rem 0.4rem;
  text-align: center; white-space: nowrap; width: 4.25rem; }
.heat th:first-child { overflow-wrap: anywhere; padding-left: 0; text-align: left;
  vertical-align: middle; white-space: normal; width: 13rem; }
.heat td { background: var(--box); padding: 0; }
.heat td a { color: var(--ink); display: block; padding: 0.25rem 0; text-decoration: none; }
.heat td a:is(:hover, :focus-visible) { text-decoration: underline; }
.heat .of { font-size: 0.8125rem; font-variant-numeric: tabular-nums; text-decoration: underline; }
.heat .share-0 { background: color-mix(in srgb, #d9730d 65%, var(--page)); }
.heat .share-1 { background: color-mix(in srgb, #d9730d 40%, var(--page)); }
.heat .share-2 { background: color-mix(in srgb, #d9730d 20%, var(--page)); }
.heat .share-3 { background: color-mix(in srgb, #1565c0 15%, var(--page)); }
.heat .share-4 { background: color-mix(in srgb, #1565c0 32%, var(--page)); }
.narrow-only { display: none; }
@media screen and (max-width: 48rem) {
  .narrow-only { display: inline; }
  .heat .older { display: none; }
  .heat th:first-child { width: 7rem; }
  .heat th, .heat td { width: 3.6rem; }
}
`;
