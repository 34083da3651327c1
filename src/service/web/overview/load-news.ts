import { findLiveEvals } from '../../evals/definitions.ts';
import type { AcceptedTraces, TracesByExporter } from '../../exporters/accepted-traces.ts';
import { exporterOf } from '../../exporters/exporter-name.ts';
import type { Rejections, RejectedRequests } from '../../exporters/rejected-requests.ts';
import {
  isFollowedByTraces,
  omitSolved,
  type LoggedProblem,
  type SolvingEvidence,
} from '../../exporters/solved-problems.ts';
import type { Store } from '../../store/store.ts';
import type { News } from './overview-page.ts';

/** What shows which data arrived, and why data is missing. */
export interface NewsSources {
  store: Pick<
    Store,
    'overview' | 'ingestLog' | 'evals' | 'settings' | 'conversations' | 'describeFileChange'
  >;
  rejectedRequests: Pick<RejectedRequests, 'find'>;
  acceptedTraces: Pick<AcceptedTraces, 'find'>;
  /** What solves the problems of the ingest log (see `SolvingEvidence`). */
  solutions: SolvingEvidence['solutions'];
}

const LOG_ENTRIES_MAX = 200;

/** Reads which data arrived, and the reasons for missing data that are neither solved nor dismissed. */
export async function loadNews(sources: NewsSources, ownerId: string): Promise<News> {
  const { store, rejectedRequests, solutions } = sources;
  const [counts, logged, liveEvals] = await Promise.all([
    store.overview.count(ownerId),
    store.ingestLog.list(ownerId, LOG_ENTRIES_MAX),
    findLiveEvals(store, ownerId),
  ]);
  const dismissedAtMs = await store.settings.getDismissedAt(ownerId);
  const rejected = rejectedRequests.find(ownerId);
  const hasProblems = logged.length > 0 || rejected !== undefined;
  const traces = hasProblems ? await findTraces(sources, ownerId, logged) : undefined;
  const hasLiveEvals = liveEvals.evals.length > 0;
  const log = omitSolved(logged, {
    traces,
    solutions,
    hasLiveEvals,
    hasUnscored: counts.unscoredConversations > 0,
    chosenEvalIds: [...liveEvals.evals.map(({ id }) => id), ...liveEvals.deletedIds],
    judgedAtMs: await store.evals.findJudgedAt(ownerId, listErrored(logged)),
  });
  const shownLog = log.filter(({ atMs }) => atMs > dismissedAtMs);
  const unsolved = findUnsolved(rejected, log, { traces, solutions });
  const rejections = unsolved && unsolved.newest.atMs > dismissedAtMs ? unsolved : undefined;
  const hasDismissed = shownLog.length < log.length || rejections !== unsolved;
  const fileChange = store.describeFileChange();
  return { counts, log: shownLog, rejections, hasDismissed, hasLiveEvals, fileChange };
}

/**
 * Returns when traces were accepted. After a restart, only open conversations show it; they count for the
 * exporter with problems, if there is only one.
 */
async function findTraces(
  { store, acceptedTraces }: NewsSources,
  ownerId: string,
  log: readonly LoggedProblem[],
): Promise<TracesByExporter | undefined> {
  const known = acceptedTraces.find(ownerId);
  if (known) return known;
  const page = { skip: 0, limit: 1 };
  const [newest] = (await store.conversations.listWaiting(ownerId, 'open', page)).conversations;
  if (!newest) return undefined;
  const named = new Set(log.map(exporterOf).filter((name) => name !== ''));
  const [exporter = UNKNOWN_EXPORTER, ...others] = named;
  const { lastReceivedAtMs: atMs } = newest;
  const times = { firstMs: atMs, newestMs: atMs, newestTextMs: undefined };
  return new Map([[others.length > 0 ? UNKNOWN_EXPORTER : exporter, times]]);
}

/** No exporter has this name. */
const UNKNOWN_EXPORTER = '/';

/** Returns the ids of the evals that errored. */
const listErrored = (log: readonly LoggedProblem[]): string[] => [
  ...new Set(
    log.flatMap(({ code, about }) => (code === 'eval_errored' ? [String(about['eval'])] : [])),
  ),
];

/** Returns the rejected requests, unless the newest one and those in the log are solved. */
function findUnsolved(
  rejected: Rejections | undefined,
  log: readonly LoggedProblem[],
  evidence: Pick<SolvingEvidence, 'traces' | 'solutions'>,
): Rejections | undefined {
  if (!rejected) return undefined;
  const { exporter, atMs } = rejected.newest;
  const isSolved = isFollowedByTraces([{ code: 'rejected', about: { exporter }, atMs }], evidence);
  return isSolved && log.every(({ about }) => about['status'] === undefined) ? undefined : rejected;
}
