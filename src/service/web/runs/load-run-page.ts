import type { Simulations } from '../../operations/simulations.ts';
import { RequestError } from '../../requests/errors.ts';
import { sortByUrgency, summarizeCounts } from '../../runs/scenario-results.ts';
import type { RunDetails, RunRef, SessionKind, Store } from '../../store/store.ts';
import { readListFilter } from '../frame/list-filter.ts';
import type { PageContext } from '../frame/page-frame.ts';
import type { Reader } from '../frame/viewer.ts';
import { isUnderWay } from './progress.ts';
import type { RunPage } from './run-page.ts';
import { listStoredDefinitions } from './stored-definitions.ts';

/** The sources of the page of a run. */
export interface RunPageOptions {
  store: Pick<Store, 'runs' | 'owners' | 'documents' | 'evals'>;
  simulations: Pick<Simulations, 'watch'>;
}

/**
 * Finds a run of the reader, or of another owner whose data the reader may see, because a deep link does
 * not name the owner. @throws RequestError `not_found`.
 */
export async function findRun(
  { store }: Pick<RunPageOptions, 'store'>,
  { context, findOwner, listOwners }: Reader,
  { kind, id }: Pick<RunRef, 'kind' | 'id'>,
): Promise<{ ref: RunRef; context: PageContext }> {
  const ownerId = await findOwner();
  const ownerIds = await listOwners();
  for (const candidate of [ownerId, ...ownerIds.filter((other) => other !== ownerId)]) {
    const ref = { ownerId: candidate, kind, id };
    if (!(await store.runs.has(ref))) continue;
    const owner = candidate === ownerId ? context.owner : await store.owners.findName(candidate);
    return { ref, context: { ...context, owner } };
  }
  throw unknownRun(kind);
}

/** Returns the error about a run that does not exist. */
export const unknownRun = (kind: SessionKind): RequestError =>
  new RequestError(
    'not_found',
    `No ${kind === 'production' ? 'run' : 'simulation'} has this address. It was deleted, it belongs ` +
      'to another owner, or the service was reset after the link was created.',
  );

/** The most scenarios whose reasons a page shows, and the sessions of each. */
const CAUSES_MAX = { scenarios: 10, sessions: 10 };

/** Reads everything that the page of a run shows; undefined if the run was deleted. */
export async function loadRunPage(
  { store, simulations }: RunPageOptions,
  ref: RunRef,
  query: URLSearchParams,
): Promise<RunPage | undefined> {
  const { ownerId, kind } = ref;
  const watched = kind === 'simulation' ? await simulations.watch(ownerId, ref.id) : undefined;
  const [details] = watched ? [watched.details] : await store.runs.load([ref]);
  if (!details) return undefined;
  const { skip, limit } = readListFilter(query, ownerId).filter;
  const page = { skip, limit: Math.min(limit, SESSIONS_MAX) };
  const scenarios = watched?.scenarios ?? summarizeCounts(details.scenarios);
  const urgent = sortByUrgency(scenarios).filter(({ scenario_id: id }) => hasUnpassed(details, id));
  const unpassed: RunPage['unpassed'] = await Promise.all(
    urgent.slice(0, CAUSES_MAX.scenarios).map(async (scenario) => ({
      scenario,
      sessions: await store.runs.listSamples(
        { ...ref, scenarioId: scenario.scenario_id },
        ['failed', 'undecided'],
        CAUSES_MAX.sessions,
      ),
    })),
  );
  const omittedCauses = urgent.length - unpassed.length;
  const found = await store.runs.listSessions(ref, page);
  // A running simulation has no charts: they would change with each session.
  const times =
    watched && isUnderWay(watched)
      ? undefined
      : await store.runs.timeSessions({ ...ref, ids: [ref.id] }, TIMED_SESSIONS_MAX);
  const neighbors = await store.runs.findNeighbors(ref);
  const ofSessions = found.sessions.find((session) => session.agent)?.agent;
  const tested = watched?.plan.agent ?? ofSessions;
  const agentId = watched?.plan.agentId ?? ofSessions?.id ?? '';
  const agent = tested && {
    ...tested,
    id: (await store.documents.find(ownerId, 'agent', agentId))?.id,
  };
  const stored = await listStoredDefinitions(store, ownerId);
  const list = { ...found, ...page, query };
  const causes = { unpassed, omittedCauses };
  const shown = { scenarios, stored, ...causes, times: times?.get(ref.id) ?? [] };
  return { kind, details, watched, ...shown, list, neighbors, agent };
}

/** How many of the newest sessions the distributions count. */
const TIMED_SESSIONS_MAX = 500;

/** The most sessions on a page of a run. */
const SESSIONS_MAX = 50;

const hasUnpassed = ({ scenarios }: RunDetails, id: string): boolean =>
  scenarios.some(
    ({ scenarioId, failed, undecided }) => scenarioId === id && failed + undecided > 0,
  );
