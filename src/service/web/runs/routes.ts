import { html } from '../../../report-kit/html.ts';
import type { ParameterError } from '../../requests/errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import { cancelSimulation, type Simulations } from '../../operations/simulations.ts';
import type { RunFilter, Store } from '../../store/store.ts';
import { chooseKind, readListFilter } from '../frame/list-filter.ts';
import { linkTo } from '../frame/page-frame.ts';
import { goTo, type Pages, type Visit } from '../frame/pages.ts';
import { readRequestId, renderConfirmationPage } from '../scenarios/run-form.ts';
import { JUDGED_RUNS_MAX, judgeRuns } from './judge-runs.ts';
import { findRun, loadRunPage, unknownRun, type RunPageOptions } from './load-run-page.ts';
import { toRepeatRequest } from './repeat-command.ts';
import { renderRunContent } from './run-page.ts';
import { listStoredDefinitions } from './stored-definitions.ts';
import { timeRuns } from './time-runs.ts';
import { pathOfRun } from './run-links.ts';
import { renderRunsPage } from './runs-page.ts';

/** What the lists of runs show, and what changes a simulation. */
export interface RunRouteOptions extends RunPageOptions {
  store: RunPageOptions['store'] & Pick<Store, 'simulations' | 'overview'>;
  simulations: Simulations;
  /** The service clock. */
  clock: Clock;
}

/** Adds the lists of production runs and of simulations, and what changes a simulation. */
export function addRunRoutes({ page, form, live }: Pages, options: RunRouteOptions): void {
  const { store, simulations, clock } = options;
  page('/runs', async ({ ownerId, context, query: asked }) => {
    const query = await chooseKind(store, ownerId, asked);
    const { filter, problem } = readRunFilter(query, ownerId);
    const found = problem
      ? { runs: [], total: 0, problem }
      : await store.runs.list({ ...filter, judgedMax: JUDGED_RUNS_MAX });
    const simulated = filter.kind === 'simulation' ? found.runs : [];
    const judged = await judgeRuns(options, ownerId, simulated);
    const times = await timeRuns(store, { ownerId, kind: filter.kind }, found.runs);
    const stored = await listStoredDefinitions(store, ownerId);
    const list = renderRunsPage(
      { filter, query, judged, times, stored, nowMs: clock.nowMs(), ...found },
      context,
    );
    return problem ? { status: problem.status, page: list } : list;
  });
  live('/simulation/:id/progress', async (visit) => {
    const { id } = visit.params;
    const { context, ref } = await findRun(options, visit, { kind: 'simulation', id });
    return async () => {
      const shown = await loadRunPage(options, ref, visit.query);
      if (shown) return renderRunContent(shown, context);
      return { content: html`<p>The simulation was deleted.</p>`, isFinal: true };
    };
  });
  form('/simulation/:id/cancel', async ({ ownerId, context, params: { id } }) => {
    await cancelSimulation({ simulations }, ownerId, id);
    return goTo(context, pathOfRun('simulation', id), { notice: 'canceled' });
  });
  addRepeatRoutes({ page, form }, options);
}

/** `/simulation/ID/again`: shows what another run costs, and starts it. */
function addRepeatRoutes(
  { page, form }: Pick<Pages, 'page' | 'form'>,
  { store, simulations }: RunRouteOptions,
): void {
  const load = async ({ ownerId, params }: Visit<'id'>) => {
    const plan = await store.simulations.find(ownerId, params.id);
    if (!plan) throw unknownRun('simulation');
    // A stored agent is called with its key.
    const agent = await store.documents.find(ownerId, 'agent', plan.agentId ?? '');
    const stored = agent?.url === plan.agent.url ? agent : undefined;
    const request = { ...toRepeatRequest(plan), ...(stored && { agent: stored.id }) };
    return { plan, request, health: await simulations.checkHealth(ownerId, request) };
  };
  const renderStart = async (
    { ownerId, context }: Visit<'id'>,
    { plan, request, health }: Awaited<ReturnType<typeof load>>,
  ): Promise<string> => {
    const path = pathOfRun('simulation', plan.id);
    const start = {
      agent: plan.agent,
      health,
      action: `${path}/again`,
      scenarioCount: plan.scenarios.length,
      estimate: await simulations.estimate(ownerId, request),
      back: html`<a href="${linkTo(context, path)}">Back</a>`,
    };
    return renderConfirmationPage(start, context);
  };
  page('/simulation/:id/again', async (visit) => renderStart(visit, await load(visit)));
  form('/simulation/:id/again', async (sent) => {
    const { ownerId, context } = sent;
    const { plan, request, health } = await load(sent);
    const { problem, agentVersion } = health;
    if (problem !== undefined) return renderStart(sent, { plan, request, health });
    const requestId = readRequestId(sent.form);
    const { id } = await simulations.start(ownerId, request, { agentVersion, requestId });
    return goTo(context, pathOfRun('simulation', id));
  });
}

function readRunFilter(
  query: URLSearchParams,
  ownerId: string,
): { filter: RunFilter; problem?: ParameterError } {
  const { filter, problem } = readListFilter(query, ownerId);
  const { kind, skip, limit, startedAfterMs, startedBeforeMs } = filter;
  const name = query.get('name') ?? '';
  return {
    filter: {
      ownerId,
      kind,
      skip,
      limit: Math.min(limit, RUNS_MAX),
      ...(name !== '' && { name }),
      ...(startedAfterMs !== undefined && { startedAfterMs }),
      ...(startedBeforeMs !== undefined && { startedBeforeMs }),
    },
    ...(problem && { problem }),
  };
}

/** The most runs on a page. */
const RUNS_MAX = 30;
