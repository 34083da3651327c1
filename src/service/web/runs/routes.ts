import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../../report-kit/html.ts';
import { RequestError } from '../../domain/errors.ts';
import { summarizeCounts } from '../../domain/simulation-results/scenario-results.ts';
import { listDocuments } from '../../operations/documents.ts';
import { cancelSimulation } from '../../operations/simulations.ts';
import type { RunDetails, RunFilter, RunRef, SessionKind, Store } from '../../store/store.ts';
import { readText, redirect } from '../frame/forms.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { sendPage } from '../frame/page-frame.ts';
import { readQuery, type PageOptions, type Viewer } from '../frame/viewer.ts';
import { REQUEST_ID_FIELD } from '../scenarios/run-form.ts';
import { createStartOnce } from '../scenarios/start-once.ts';
import { toRepeatRequest } from './repeat-command.ts';
import { renderRunContent, renderRunPage, type RunPage } from './run-page.ts';
import { pathOfRun, renderRunsPage } from './runs-page.ts';

type WithId = FastifyRequest<{ Params: { id: string } }>;

/** Adds the lists of production runs and of simulations, and what changes a simulation. */
export function addRunRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, simulations, clock, findViewer, findEditor, live } = options;
  app.get('/runs', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    const { filter, problem } = readRunFilter(query, ownerId);
    if (problem) reply.code(problem.status);
    const found = problem
      ? { runs: [], total: 0, problem: problem.message }
      : await store.runs.list(filter);
    return sendPage(
      reply,
      renderRunsPage({ filter, query, nowMs: clock.nowMs(), ...found }, context),
    );
  });
  app.get('/simulation/:id/progress', async (request: WithId, reply) => {
    const { context, ref } = await findRun(options, request, 'simulation');
    return live.send(request, reply, async () => {
      const page = await loadRunPage(options, ref, readQuery(request));
      if (page) return renderRunContent(page, context);
      return { content: html`<p>The simulation was deleted.</p>`, isFinal: true };
    });
  });
  app.post('/simulation/:id/cancel', async (request: WithId, reply) => {
    const { ownerId, context } = await findEditor(request);
    const { id } = request.params;
    await cancelSimulation({ simulations }, ownerId, id);
    return redirect(reply, context, pathOfRun('simulation', id), { notice: 'canceled' });
  });
  addRunAgainRoute(app, options);
}

/** Starts a simulation again. A stored agent is called with its key. */
function addRunAgainRoute(app: FastifyInstance, options: PageOptions): void {
  const { store, simulations, findEditor } = options;
  const startOnce = createStartOnce(simulations);
  app.post('/simulation/:id/again', async (request: WithId, reply) => {
    const { ownerId, context, form } = await findEditor(request);
    const plan = await store.simulations.find(ownerId, request.params.id);
    if (!plan) throw notFoundError('simulation');
    const { name, url } = plan.agent;
    const agents = await listDocuments(store, ownerId, 'agent');
    const stored = agents.find((agent) => agent.name === name && agent.url === url);
    const run = { ...toRepeatRequest(plan), ...(stored && { agent: stored.id }) };
    const id = await startOnce(ownerId, run, readText(form, REQUEST_ID_FIELD));
    return redirect(reply, context, pathOfRun('simulation', id));
  });
}

function readRunFilter(
  query: URLSearchParams,
  ownerId: string,
): { filter: RunFilter; problem?: RequestError } {
  const { filter, problem } = readListFilter(query, ownerId);
  const { kind, skip, limit, startedAfterMs, startedBeforeMs } = filter;
  const name = query.get('name') ?? '';
  return {
    filter: {
      ...{ ownerId, kind, skip, limit: Math.min(limit, RUNS_MAX) },
      ...(name !== '' && { name }),
      ...(startedAfterMs !== undefined && { startedAfterMs }),
      ...(startedBeforeMs !== undefined && { startedBeforeMs }),
    },
    ...(problem && { problem }),
  };
}

/** The most runs on a page. */
const RUNS_MAX = 100;

/**
 * Finds a run of the reader, or of another owner whose data the reader may see, because a deep link does
 * not name the owner. @throws RequestError `not_found`.
 */
async function findRun(
  { store, findViewer, findOwners }: PageOptions,
  request: WithId,
  kind: SessionKind,
): Promise<Viewer & { ref: RunRef }> {
  const { ownerId, context } = await findViewer(request);
  const { ownerIds } = await findOwners(request);
  const { id } = request.params;
  for (const candidate of [ownerId, ...ownerIds.filter((other) => other !== ownerId)]) {
    const ref = { ownerId: candidate, kind, id };
    if (!(await store.runs.has(ref))) continue;
    const owner = candidate === ownerId ? context.owner : await store.owners.findName(candidate);
    return { ownerId: candidate, context: { ...context, owner }, ref };
  }
  throw notFoundError(kind);
}

const notFoundError = (kind: SessionKind): RequestError =>
  new RequestError(
    'not_found',
    `No ${kind === 'production' ? 'run' : 'simulation'} has this address. It was deleted, it belongs ` +
      'to another owner, or the service was reset after the link was created.',
  );

/** The most scenarios whose reasons a page shows, and the sessions of each. */
const CAUSES_MAX = { scenarios: 20, sessions: 20 };

/** Shows the page of a run: a deep link without a session. */
export async function showRun(
  options: PageOptions,
  kind: SessionKind,
  request: WithId,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, ref } = await findRun(options, request, kind);
  const page = await loadRunPage(options, ref, readQuery(request));
  if (!page) throw notFoundError(kind);
  return sendPage(reply, renderRunPage(page, context));
}

/** Reads everything that the page of a run shows; undefined if the run was deleted. */
async function loadRunPage(
  { store, simulations }: PageOptions,
  ref: RunRef,
  query: URLSearchParams,
): Promise<RunPage | undefined> {
  const { ownerId, kind } = ref;
  const [details] = await store.runs.load([ref]);
  if (!details) return undefined;
  const { skip, limit } = readListFilter(query, ownerId).filter;
  const page = { skip, limit: Math.min(limit, SESSIONS_MAX) };
  const watched = kind === 'simulation' ? await simulations.watch(ownerId, ref.id) : undefined;
  const scenarios = watched?.scenarios ?? summarizeCounts(details.scenarios);
  const unpassed: RunPage['unpassed'] = await Promise.all(
    scenarios
      .filter(({ scenario_id: id }) => hasUnpassed(details, id))
      .slice(0, CAUSES_MAX.scenarios)
      .map(async (scenario) => ({
        scenario,
        sessions: await store.runs.listSamples(
          { ...ref, scenarioId: scenario.scenario_id },
          ['failed', 'undecided'],
          CAUSES_MAX.sessions,
        ),
      })),
  );
  const found = await store.runs.listSessions(ref, page);
  const neighbors = await store.runs.findNeighbors(ref);
  const tested = watched?.plan.agent ?? found.sessions.find((session) => session.agent)?.agent;
  const agent = tested && { ...tested, id: await findAgentId(store, ownerId, tested) };
  const list = { ...found, ...page, query };
  return { kind, details, watched, scenarios, unpassed, list, neighbors, agent };
}

/** Finds the stored agent with this name, preferably at this URL. */
async function findAgentId(
  store: Store,
  ownerId: string,
  { name, url }: { name: string; url: string },
): Promise<string | undefined> {
  const agents = await listDocuments(store, ownerId, 'agent');
  const sameName = agents.filter((agent) => agent.name === name);
  return (sameName.find((agent) => agent.url === url) ?? sameName[0])?.id;
}

/** The most sessions on a page of a run. */
const SESSIONS_MAX = 50;

const hasUnpassed = ({ scenarios }: RunDetails, id: string): boolean =>
  scenarios.some(
    ({ scenarioId, failed, undecided }) => scenarioId === id && failed + undecided > 0,
  );
