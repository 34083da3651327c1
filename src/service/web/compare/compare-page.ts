import type { ComparedScenario, RunChange, ScenarioChange } from '../../../contract/index.ts';
import { MINUTE_MS } from '../../../platform/clock.ts';
import {
  capitalize,
  cutText,
  formatCount,
  formatNumber,
  formatShare,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { createTimeColumn } from '../../../report-kit/time.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import type { ComparedEval } from '../../runs/comparison/eval-changes.ts';
import { CHANCE_P_MAX } from '../../runs/comparison/exact-test.ts';
import { formatPoints, runChangeNames } from '../../runs/comparison/run-comparison.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
  type JudgedChange,
} from '../../runs/comparison/scenario-changes.ts';
import type { EvalCounts, SessionKind } from '../../store/store.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { createEvalNames } from '../runs/eval-names.ts';
import { passRateOf } from '../runs/pass-rate-chart.ts';
import { linkToScenarioSessions, pathOfRun } from '../runs/run-links.ts';
import { evalLinks, scenarioLinks } from '../runs/stored-definitions.ts';
import { RUNS_CSS } from '../runs/runs-page.ts';
import { listChanges } from './changes.ts';
import type { RunComparison, Side } from './load-comparison.ts';
import { renderPair, TRANSCRIPT_PAIR_CSS } from './transcript-pair.ts';

/** The most rows of a table. */
const ROWS_MAX = 100;

/** Renders two runs: the verdict, regressions, what changed, and transcripts side by side. */
export function renderComparePage(comparison: RunComparison, context: PageContext): string {
  const { before, after, pairs, result } = comparison;
  const { kind, verdict, sentence } = result;
  const groups =
    kind === 'simulation'
      ? groupRows('scenario', result.rows, scenarioColumns(comparison, context))
      : groupRows('eval', result.rows, evalColumns(result.rows, comparison, context));
  const [regressions, ...others] = groups;
  return renderServicePage(
    {
      title: 'Compare',
      section: 'Runs',
      css: `${RUNS_CSS}${TRANSCRIPT_PAIR_CSS}${CSS}`,
      main: html`<p class="soft"><a href="${linkTo(context, '/runs', { kind })}">All runs</a></p>
        <h1>Compare</h1>
        <p class="verdict">
          ${renderVerdict(CLASSES[verdict], capitalize(runChangeNames[verdict]))} ${sentence}
        </p>
        ${renderSides(before, after, context)} ${regressions && renderGroup(regressions)}
        <h2>What changed between these runs</h2>
        ${renderChanges(comparison)}
        ${
          pairs.length !== 0 &&
          html`<h2>Transcripts of scenarios that passed less often</h2>
            ${pairs.map((pair) => renderPair(pair, context))}`
        }
        ${others.flatMap((group) => renderGroup(group) ?? [])}
        ${result.rows.some(({ change }) => change === 'unclear') && renderChance(kind)}`,
    },
    context,
  );
}

const renderChance = (kind: SessionKind): Html =>
  html`<p class="soft">
    "May be chance" means: if nothing changed, more than ${formatShare(CHANCE_P_MAX, 0)} of
    comparisons like this one would show such a difference somewhere (exact tests, adjusted for the
    number of ${kind === 'simulation' ? 'scenarios' : 'evals'}).
  </p>`;

const CLASSES: Readonly<Record<RunChange, string>> = {
  worse: 'failed',
  mixed: 'failed',
  better: 'passed',
  no_difference: '',
  not_comparable: 'undecided',
};

function renderSides(before: Side, after: Side, context: PageContext): Html {
  return html`${renderItems({
    label: 'Compared runs',
    items: [
      { place: 'before', side: before, run: before.details.run },
      { place: 'after', side: after, run: after.details.run },
    ],
    columns: [
      { name: '', content: ({ place }) => place },
      {
        name: 'run',
        content: ({ side, run }) =>
          html`<a href="${linkTo(context, pathOfRun(side.ref.kind, run.id))}">${run.name}</a>`,
      },
      startColumn('first session', [before, after], startOf),
      startColumn('newest session', [before, after], ({ details: { run } }) => run.newestStartMs),
      { name: 'sessions', isNumber: true, content: ({ run }) => formatNumber(run.sessions) },
      { name: 'with a failed eval', count: ({ run }) => run.failedSessions, mark: 'failed' },
      { name: 'with an errored eval', count: ({ run }) => run.erroredSessions, mark: 'undecided' },
      {
        name: 'pass rate',
        isNumber: true,
        content: ({ run }) => {
          const rate = passRateOf(run);
          return rate === undefined ? 'no evals' : formatShare(rate, 1);
        },
      },
    ],
  })}
  ${renderSwap(before, after, context)} ${renderNeighbors(before, after, context)}`;
}

const startOf = ({ plan, details: { run } }: Side): number | undefined =>
  plan?.startedAtMs ?? run.oldestStartMs;

/** Returns a column of times, with seconds if the minutes are the same. */
function startColumn(
  name: string,
  sides: readonly Side[],
  msOf: (side: Side) => number | undefined,
): ItemColumn<{ side: Side }> {
  const minutes = sides.map((side) => Math.floor((msOf(side) ?? 0) / MINUTE_MS));
  const hasSeconds = new Set(minutes).size < sides.length;
  return createTimeColumn({ name, msOf: ({ side }) => msOf(side), hasSeconds });
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

function renderChanges({ before, after, result: { kind } }: RunComparison): Html {
  const changes = listChanges(before, after);
  const sides = [before.traits, after.traits];
  const [earlier, later] = sides.map(({ sessions }) => formatNumber(sessions));
  const source =
    kind === 'production'
      ? `Models, tags, and evals are those of the newest sessions (${earlier} before, ${later} after).`
      : 'Models and tags come from the traces of the agent, if it sends them to this service.';
  if (changes.length === 0) {
    const areKnown =
      kind === 'simulation' || Math.min(...sides.map(({ sessions }) => sessions)) > 0;
    return html`<p>
      ${
        areKnown
          ? 'Nothing that this service can see: both runs have the same agent, models, tags, scenarios, and evals.'
          : 'A run without sessions has no agent, models, tags, or evals to compare.'
      }
      ${source}
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
  isFolded: boolean;
  noun: string;
  count: number;
  table: Html;
}

/** The most rows of a group that are shown without a click. */
const OPEN_ROWS_MAX = 10;

const GROUPS: readonly {
  name: string;
  className: string;
  changes: readonly ScenarioChange[];
  openRowsMax: number;
}[] = [
  { name: 'Regressions', className: 'failed', changes: ['regressed'], openRowsMax: Infinity },
  { name: 'Improvements', className: 'passed', changes: ['improved'], openRowsMax: OPEN_ROWS_MAX },
  {
    name: 'Differences that may be chance',
    className: 'undecided',
    changes: ['unclear'],
    openRowsMax: OPEN_ROWS_MAX,
  },
  {
    name: 'Not comparable',
    className: 'undecided',
    changes: ['not_comparable', 'new', 'gone'],
    openRowsMax: OPEN_ROWS_MAX,
  },
  { name: 'Unchanged', className: '', changes: ['same'], openRowsMax: 0 },
];

/** Returns the columns of a table whose cells may have the class of its group. */
type Columns<Row> = (className: string) => readonly ItemColumn<Row>[];

function groupRows<Row extends JudgedChange>(
  noun: string,
  rows: readonly Row[],
  columns: Columns<Row>,
): Group[] {
  return GROUPS.map(({ name, className, changes, openRowsMax }) => {
    const items = rows.filter(({ change }) => changes.includes(change));
    const table = renderFirstItems(name, items, [
      ...columns(className),
      { name: 'evidence', content: describeEvidence },
    ]);
    return { name, noun, count: items.length, isFolded: items.length > openRowsMax, table };
  });
}

/** Returns the columns of scenarios. Each side leads to its sessions. */
const scenarioColumns = (
  { before: earlier, after: later, stored }: RunComparison,
  context: PageContext,
): Columns<ComparedScenario> => {
  const linkToPage = scenarioLinks(stored, context);
  const link = ({ ref }: Side, scenarioId: string, text: string): Html =>
    html`<a href="${linkToScenarioSessions(ref.id, scenarioId, context)}">${text}</a>`;
  return (className) => [
    {
      name: 'scenario',
      content: ({ scenario_id: id }) => {
        const page = linkToPage(id);
        return page === undefined ? id : html`<a href="${page}">${id}</a>`;
      },
    },
    { name: 'change', className, content: ({ change }) => changeNames[change] },
    {
      name: 'before',
      content: ({ scenario_id: id, before }) =>
        before ? link(earlier, id, describeStanding(before)) : describeStanding(before),
    },
    {
      name: 'after',
      content: ({ scenario_id: id, now }) =>
        now ? link(later, id, describeStanding(now)) : describeStanding(now),
    },
  ];
};

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

/** Returns the columns of evals. Each side leads to its failures. */
function evalColumns(
  evals: readonly ComparedEval[],
  comparison: RunComparison,
  context: PageContext,
): Columns<ComparedEval> {
  const renderName = createEvalNames(evals, evalLinks(comparison.stored, context));
  const renderSide = (side: 'before' | 'after', compared: ComparedEval): Html => {
    const { id, version } = compared;
    const failed = compared[side]?.failed ?? 0;
    const query = {
      kind: 'production',
      run_id: comparison[side].ref.id,
      eval_id: id,
      failed_only: 'true',
      ...(version !== '' && { eval_version: version }),
    };
    const link = linkTo(context, '/sessions', query);
    return html`${describeCounts(compared[side])}
    ${failed > 0 && html`<a href="${link}">${formatNumber(failed)} failed</a>`}`;
  };
  return (className) => [
    { name: 'eval', content: renderName },
    {
      name: 'change',
      className,
      content: ({ change, before, after }) =>
        change !== 'not_comparable' && formatPoints(rateOf(after) - rateOf(before)),
    },
    { name: 'before', content: (compared) => renderSide('before', compared) },
    { name: 'after', content: (compared) => renderSide('after', compared) },
  ];
}

const rateOf = (counts: EvalCounts | undefined): number =>
  counts && counts.passed + counts.failed > 0 ? counts.passed / (counts.passed + counts.failed) : 0;

function describeCounts(counts: EvalCounts | undefined): string {
  if (!counts) return 'absent';
  const { passed, failed, errored } = counts;
  const more = errored > 0 ? `, ${formatNumber(errored)} errored` : '';
  return `${formatNumber(passed)} of ${formatNumber(passed + failed)} passed (${formatShare(rateOf(counts), 1)})${more}`;
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

const CSS = `
section.neighbors ul { margin: 0.25rem 0 0.75rem; }
[aria-label='Compared runs'] th { min-width: 4rem; }
`;
