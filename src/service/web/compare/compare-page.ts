import type { ComparedScenario } from '../../../contract/index.ts';
import { cutText, formatCount, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import {
  numberColumn,
  renderItems,
  renderTable,
  type ItemColumn,
} from '../../../report-kit/table.ts';
import { CHANCE_P_MAX, computeChance, type Counts } from '../../domain/chance.ts';
import { describeStanding } from '../../domain/simulation-results/scenario-comparison.ts';
import type { EvalCounts } from '../../store/store.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { createEvalNames } from '../runs/eval-names.ts';
import { passRateOf } from '../runs/pass-rate-chart.ts';
import { pathOfRun, RUNS_CSS } from '../runs/runs-page.ts';
import { describeTimes, listChanges } from './changes.ts';
import type { ComparedEval, RunComparison, Side } from './load-comparison.ts';
import { renderPair, TRANSCRIPT_PAIR_CSS } from './transcript-pair.ts';

/** The most rows of a table. */
const ROWS_MAX = 100;

/** Renders two runs: what changed, regressions first, and transcripts side by side. */
export function renderComparePage(comparison: RunComparison, context: PageContext): string {
  const { kind, before, after, pairs } = comparison;
  const groups =
    kind === 'simulation' ? groupScenarios(comparison) : groupEvals(comparison, context);
  const [regressions, ...others] = groups;
  return renderServicePage(
    {
      title: 'Compare',
      section: 'Runs',
      css: `${RUNS_CSS}${TRANSCRIPT_PAIR_CSS}${CSS}`,
      main: html`<p class="soft"><a href="${linkTo(context, '/runs', { kind })}">All runs</a></p>
        <h1>Compare</h1>
        ${renderSides(before, after, context)}
        <p class="verdict">${describeResult(groups, kind)}</p>
        ${kind === 'production' && html`<p>${describeSessions(before, after)}</p>`}
        ${regressions && renderGroup(regressions)}
        <h2>What changed between these runs</h2>
        ${renderChanges(comparison)} ${others.flatMap((group) => renderGroup(group) ?? [])}
        <p class="soft">
          "May be chance" means: if both runs had the same pass rate, a difference like this one
          would still occur in more than ${formatShare(CHANCE_P_MAX, 0)} of such comparisons
          (Fisher's exact test).
        </p>
        ${
          pairs.length !== 0 &&
          html`<h2>Regressed transcripts</h2>
            ${pairs.map((pair) => renderPair(pair, context))}`
        }`,
    },
    context,
  );
}

function renderSides(before: Side, after: Side, context: PageContext): Html {
  const row = (label: string, side: Side): Html => {
    const { run } = side.details;
    const rate = passRateOf(run);
    return html`<tr>
      <th scope="row">${label}</th>
      <td><a href="${linkTo(context, pathOfRun(side.ref.kind, run.id))}">${run.name}</a></td>
      <td>${describeTimes(side)}</td>
      <td class="number">${formatNumber(run.sessions)}</td>
      <td class="number">${formatNumber(run.failedSessions)}</td>
      <td class="number">${formatNumber(run.erroredSessions)}</td>
      <td class="number">${rate === undefined ? 'no evals' : formatShare(rate, 1)}</td>
    </tr>`;
  };
  return html`${renderTable({
    label: 'Compared runs',
    columns: [
      ...['', 'run', 'time'],
      ...['sessions', 'with a failed eval', 'with an errored eval', 'pass rate'].map(numberColumn),
    ],
    rows: [row('before', before), row('after', after)],
  })}
  ${renderSwap(before, after, context)} ${renderNeighbors(before, after, context)}`;
}

const nounOf = ({ ref: { kind } }: Side): string => (kind === 'production' ? 'run' : 'simulation');

const linkToComparison = (
  a: { id: string },
  b: { id: string },
  { ref }: Side,
  context: PageContext,
): string => linkTo(context, '/compare', { kind: ref.kind, a: a.id, b: b.id });

function renderSwap(before: Side, after: Side, context: PageContext): Html {
  const link = linkToComparison(after.ref, before.ref, before, context);
  const swap = html`<a href="${link}">Swap before and after</a>`;
  const newest = ({ plan, details: { run } }: Side): number =>
    run.newestStartMs ?? plan?.startedAtMs ?? 0;
  if (newest(before) <= newest(after)) return html`<p>${swap}</p>`;
  return html`<p class="undecided" role="note">
    The ${nounOf(before)} under "before" is newer than the one under "after", so regressions and
    improvements below are reversed. ${swap}
  </p>`;
}

/** The most characters of the name of a run in a link. */
const NAME_LENGTH_MAX = 80;

/** Renders links to the comparisons of both runs with the runs next to them. */
function renderNeighbors(before: Side, after: Side, context: PageContext): Html | undefined {
  const shown = new Set([`${before.ref.id} ${after.ref.id}`]);
  const links = [before, after].flatMap((side) => {
    const { run } = side.details;
    const { older, newer } = side.neighbors;
    return [
      older && { a: older, b: run, other: older, place: 'previous' },
      newer && { a: run, b: newer, other: newer, place: 'next' },
    ].flatMap((step) => {
      if (!step || shown.has(`${step.a.id} ${step.b.id}`)) return [];
      shown.add(`${step.a.id} ${step.b.id}`);
      const names = [run, step.other].map(({ name }) => cutText(name, NAME_LENGTH_MAX));
      return html`<li>
        <a href="${linkToComparison(step.a, step.b, side, context)}"
          >${names[0]} with the ${step.place} ${nounOf(side)}, ${names[1]}</a
        >
      </li>`;
    });
  });
  if (links.length === 0) return undefined;
  return html`<section class="neighbors" aria-label="Other comparisons">
    Other comparisons:
    <ul>
      ${links}
    </ul>
  </section>`;
}

/** The most characters of a value. */
const VALUE_LENGTH_MAX = 300;

function renderChanges({ before, after, kind }: RunComparison): Html {
  const changes = listChanges(before, after);
  const source =
    kind === 'production'
      ? `Models, tags, and evals are those of the newest sessions (${before.traits.sessions} before, ${after.traits.sessions} after).`
      : 'Models and tags come from the traces of the agent, if it sends them to this service.';
  if (changes.length === 0) {
    return html`<p>
      Nothing that this service knows: the same agent, models, tags, scenarios, and evals. ${source}
    </p>`;
  }
  const value = (text: string): string => (text === '' ? '–' : cutText(text, VALUE_LENGTH_MAX));
  return html`${renderItems({
      label: 'Changes',
      items: changes,
      columns: [
        { name: 'changed', content: ({ name }) => cutText(name, VALUE_LENGTH_MAX) },
        { name: 'before', content: (change) => value(change.before) },
        { name: 'after', content: (change) => value(change.after) },
      ],
    })}
    <p class="soft">${source}</p>`;
}

/** Scenarios or evals with the same kind of change. */
interface Group {
  name: string;
  className: string;
  isFolded: boolean;
  noun: string;
  count: number;
  table: Html;
}

const SCENARIO_GROUPS: readonly (Omit<Group, 'noun' | 'count' | 'table'> & {
  changes: readonly ComparedScenario['change'][];
})[] = [
  { name: 'Regressions', className: 'failed', isFolded: false, changes: ['regressed', 'worse'] },
  { name: 'Improvements', className: 'passed', isFolded: false, changes: ['fixed', 'better'] },
  {
    name: 'Not comparable',
    className: 'undecided',
    isFolded: false,
    changes: ['unknown', 'new', 'gone'],
  },
  { name: 'Unchanged', className: '', isFolded: true, changes: ['same'] },
];

function groupScenarios({ scenarios }: RunComparison): Group[] {
  return SCENARIO_GROUPS.map(({ changes, ...group }) => {
    const { name, className } = group;
    const items = scenarios.filter(({ change }) => changes.includes(change));
    const table = renderFirstItems(name, items, [
      { name: 'scenario', content: ({ scenario_id: id }) => id },
      { name: 'change', className, content: ({ change }) => change },
      { name: 'before', content: ({ before }) => describeStanding(before) },
      { name: 'after', content: ({ now }) => describeStanding(now) },
      {
        name: 'chance',
        content: ({ change, chance }) => change !== 'same' && describeChance(chance),
      },
    ]);
    return { ...group, noun: 'scenario', count: items.length, table };
  });
}

/** Renders the first items of a group as a table, and counts the others. */
function renderFirstItems<Item>(
  label: string,
  items: readonly Item[],
  columns: readonly ItemColumn<Item>[],
): Html {
  const omitted = items.length - ROWS_MAX;
  return html`${renderItems({ label, items: items.slice(0, ROWS_MAX), columns })}
  ${omitted > 0 && html`<p class="soft">and ${formatNumber(omitted)} more</p>`}`;
}

function groupEvals({ evals, after }: RunComparison, context: PageContext): Group[] {
  const differenceOf = (compared: ComparedEval): number =>
    rateOf(compared.after) - rateOf(compared.before);
  const kindOf = (compared: ComparedEval): string => {
    if (compared.chance === undefined) return 'Not comparable';
    const difference = differenceOf(compared);
    if (difference === 0) return 'Unchanged';
    if (compared.chance > CHANCE_P_MAX) return 'Differences that may be chance';
    return difference < 0 ? 'Regressions' : 'Improvements';
  };
  const renderName = createEvalNames(evals);
  const ordered = [...evals].sort((left, right) => differenceOf(left) - differenceOf(right));
  const classNames = [
    ['Regressions', 'failed'],
    ['Improvements', 'passed'],
    ['Differences that may be chance', 'undecided'],
    ['Not comparable', 'undecided'],
    ['Unchanged', ''],
  ] as const;
  const linkToFailed = ({ id, after: counts }: ComparedEval): Html | false => {
    const failed = counts?.failed ?? 0;
    const query = { kind: 'production', run_id: after.ref.id, eval_id: id, failed_only: 'true' };
    const link = linkTo(context, '/sessions', query);
    return failed > 0 && html`<a href="${link}">${formatNumber(failed)} failed</a>`;
  };
  return classNames.map(([name, className]) => {
    const items = ordered.filter((compared) => kindOf(compared) === name);
    const table = renderFirstItems(name, items, [
      { name: 'eval', content: renderName },
      {
        name: 'change',
        className,
        content: (compared) =>
          compared.chance !== undefined && formatDifference(differenceOf(compared)),
      },
      { name: 'before', content: ({ before }) => describeCounts(before) },
      {
        name: 'after',
        content: (compared) => html`${describeCounts(compared.after)} ${linkToFailed(compared)}`,
      },
      { name: 'chance', content: ({ chance }) => describeChance(chance) },
    ]);
    return {
      name,
      className,
      isFolded: name === 'Unchanged',
      noun: 'eval',
      count: items.length,
      table,
    };
  });
}

const rateOf = (counts: EvalCounts | undefined): number =>
  counts && counts.passed + counts.failed > 0 ? counts.passed / (counts.passed + counts.failed) : 0;

const formatDifference = (difference: number): string =>
  `${difference > 0 ? '+' : ''}${formatNumber(difference * 100, 1)} points`;

function describeCounts(counts: EvalCounts | undefined): string {
  if (!counts) return 'absent';
  const { passed, failed, errored } = counts;
  const more = errored > 0 ? `, ${formatNumber(errored)} errored` : '';
  return `${formatNumber(passed)} of ${formatNumber(passed + failed)} passed (${formatShare(rateOf(counts), 1)})${more}`;
}

function describeChance(chance: number | undefined): string {
  if (chance === undefined) return '';
  const p = chance < 0.001 ? 'p < 0.001' : `p = ${chance.toFixed(3)}`;
  return chance > CHANCE_P_MAX ? `may be chance, ${p}` : `not chance, ${p}`;
}

function renderGroup({ name, noun, count, isFolded, table }: Group): Html | undefined {
  if (count === 0) return undefined;
  if (isFolded) {
    return html`<details>
      <summary>${name}: ${formatCount(count, noun)}</summary>
      ${table}
    </details>`;
  }
  return html`<h2>${name}</h2>
    ${table}`;
}

function describeResult(groups: readonly Group[], kind: RunComparison['kind']): Html {
  const count = (name: string): number => groups.find((group) => group.name === name)?.count ?? 0;
  const noun = kind === 'simulation' ? 'scenario' : 'eval';
  const [regressed, improved] = [count('Regressions'), count('Improvements')];
  if (regressed === 0 && improved === 0) return html`No ${noun} regressed or improved.`;
  return html`<span class="mark ${regressed > 0 ? 'failed' : 'passed'}"
      >${regressed === 0 ? `No ${noun}` : formatCount(regressed, noun)} regressed</span
    >, ${formatNumber(improved)} improved.`;
}

/** Compares the sessions without a failed eval: several evals that drop a little can be a clear drop. */
function describeSessions(before: Side, after: Side): string {
  const [earlier, later] = [before, after].map(({ details: { run } }) => ({
    ...{ passed: run.sessions - run.failedSessions, failed: run.failedSessions },
  }));
  if (!earlier || !later) return '';
  const describe = ({ passed, failed }: Counts): string =>
    `${formatNumber(passed)} of ${formatNumber(passed + failed)}`;
  const chance = describeChance(computeChance(earlier, later));
  return (
    `Sessions without a failed eval: ${describe(earlier)} before, ${describe(later)} after ` +
    `(${chance}). This also counts evals that are not required.`
  );
}

const CSS = `
.verdict { font-size: 1.1rem; margin: 0.75rem 0; }
h3 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
section.neighbors ul { margin: 0.25rem 0 0.75rem; }
[aria-label='Compared runs'] td:nth-child(2) { min-width: 10rem; }
[aria-label='Compared runs'] :is(th, td):first-child { min-width: 4rem; }
`;
