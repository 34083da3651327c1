import { html } from '../../../report-kit/html.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { AcceptedTraces, TracesByExporter } from '../../domain/accepted-traces.ts';
import { findLiveEvals } from '../../domain/evals.ts';
import { exporterOf } from '../../domain/exporters.ts';
import type { Rejections, RejectedRequests } from '../../domain/rejected-requests.ts';
import type { SdkSettings } from '../../domain/sdk-settings.ts';
import {
  isFollowedByTraces,
  omitSolved,
  type LoggedProblem,
  type SolvingEvidence,
} from '../../domain/solved-problems.ts';
import type { SessionKind, Store } from '../../store/store.ts';
import type { News, Overview } from './overview-page.ts';

/** The runs of each kind in the charts. */
const RUNS_MAX = 30;
const LOG_ENTRIES_MAX = 200;

/** What the overview shows, and whom it answers. */
export interface OverviewOptions {
  store: Pick<
    Store,
    | 'runs'
    | 'overview'
    | 'ingestLog'
    | 'evals'
    | 'settings'
    | 'conversations'
    | 'describeFileChange'
  >;
  rejectedRequests: Pick<RejectedRequests, 'find'>;
  acceptedTraces: Pick<AcceptedTraces, 'find'>;
  /** What solves the problems of the ingest log (see `SolvingEvidence`). */
  solutions: SolvingEvidence['solutions'];
  /** What SDKs need so that the service can read their traces. */
  sdkSettings: readonly SdkSettings[];
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
  /** The service clock. */
  clock: Clock;
}

async function loadOverview(options: OverviewOptions, ownerId: string): Promise<Overview> {
  const { store, clock, apiKeyHeader, sdkSettings } = options;
  const listRuns = (kind: SessionKind) =>
    store.runs.list({ ownerId, kind, skip: 0, limit: RUNS_MAX });
  const [news, { runs }, { runs: simulations }] = await Promise.all([
    loadNews(options, ownerId),
    listRuns('production'),
    listRuns('simulation'),
  ]);
  const access = html`Send an API key in the header <code>${apiKeyHeader}</code>.`;
  return {
    ...news,
    runs,
    simulations,
    nowMs: clock.nowMs(),
    apiKeyHeader,
    about: { about: ABOUT, access, ...LISTS },
    sdkSettings,
  };
}

async function loadNews(
  options: Pick<OverviewOptions, 'store' | 'rejectedRequests' | 'acceptedTraces' | 'solutions'>,
  ownerId: string,
): Promise<News> {
  const { store, rejectedRequests, solutions } = options;
  const [counts, logged, liveEvals] = await Promise.all([
    store.overview.count(ownerId),
    store.ingestLog.list(ownerId, LOG_ENTRIES_MAX),
    findLiveEvals(store, ownerId),
  ]);
  const dismissedAtMs = await store.settings.getDismissedAt(ownerId);
  const rejected = rejectedRequests.find(ownerId);
  const hasProblems = logged.length > 0 || rejected !== undefined;
  const traces = hasProblems ? await findTraces(options, ownerId, logged) : undefined;
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
  { store, acceptedTraces }: Pick<OverviewOptions, 'store' | 'acceptedTraces'>,
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
