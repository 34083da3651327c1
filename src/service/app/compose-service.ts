import { SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import { closeServer } from '../../http-kit/listen.ts';
import { createAdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock } from '../../platform/clock.ts';
import { silentLog } from '../../platform/log.ts';
import { randomSeed } from '../../platform/random.ts';
import { createRequestOwners } from '../admin/request-owners.ts';
import { closeConversation, type ConversationRef } from '../close/close-conversation.ts';
import { startIdleCloser } from '../close/idle-closer.ts';
import { createMissingEvals } from '../close/missing-evals.ts';
import { createDatabaseProblemLog, createDatabaseRetry } from '../domain/database-retry.ts';
import { createIdMaker } from '../domain/ids.ts';
import { createServiceCounters, type ServiceCounters } from '../domain/metrics.ts';
import { createRejectedRequests } from '../domain/rejected-requests.ts';
import { createReportedProblems, type ReportedProblems } from '../domain/reported-problems.ts';
import { startIngestThread } from '../ingest/ingest-thread.ts';
import { createReadiness } from '../operations/service-readiness.ts';
import { startSpanRemover } from '../retention/span-remover.ts';
import { createAuthentication } from './authentication.ts';
import type { Base } from './base.ts';
import { createCallerRecorder } from './caller-recorder.ts';
import { createServer, type Access, type Closing, type ProblemReports } from './create-server.ts';
import { configureKeys, resolveKeys, type StartKeys } from './keys.ts';
import { createMisdirectedTraces } from './misdirected-traces.ts';
import { openData, type Cleanups } from './open-data.ts';
import type { ServiceOptions, ServiceSetup } from './options.ts';
import { createPageSessions } from './page-sessions.ts';
import { listReplicaSettings } from './replica-settings.ts';
import { createUnauthorizedCallers } from './unauthorized-callers.ts';
import { startScoring, startSimulations } from './workers.ts';

/** The checked options of a service. */
export type StartOptions = Partial<ServiceSetup> & Pick<ServiceOptions, 'host' | 'keys'>;

/** A service that is ready to listen. */
export type ComposedService = Awaited<ReturnType<typeof composeService>>;

/** Not every request that succeeds shows that the database works again. */
const PROBLEM_REPEAT_MS = 60_000;

/**
 * Starts the parts of a service in the order in which they depend on each other, and returns it ready to
 * listen. What has to be stopped is added to the cleanups.
 */
export async function composeService(options: StartOptions, cleanups: Cleanups) {
  const { log = silentLog, retentionMs, userModel, speech } = options;
  const machineClock = options.clock ?? systemClock;
  const clock = createAdjustableClock(machineClock);

  // The data, and the other processes that work on it.
  const { store, location, guard, loadDevelopmentKey } = await openData(options, log, cleanups);
  const startKeys = await guard(() => resolveKeys(store.owners, options.keys, loadDevelopmentKey));
  const { keys, ownerName } = startKeys;
  const settings = listReplicaSettings(options);
  const replica = await guard(() => configureKeys({ store, keys, settings, clock, log }));
  if (replica) cleanups.push(() => replica.stop());
  await guard(() => store.conversations.capReceivedAt(clock.nowMs()));
  const base: Base = { store, clock, machineClock, log, replica };

  // What works in the background.
  const spanRemover = await guard(() => startSpanRemover({ store, clock, log, retentionMs }));
  cleanups.push(() => spanRemover.stop());
  const writer = await guard(() => startIngestThread({ store: location }));
  cleanups.push(() => writer.close());
  const seed = options.randomSeed ?? randomSeed();
  const counters = createServiceCounters();
  const reportedProblems = createReportedProblems(clock, replica);
  const scoring = startScoring(base, {
    ...{ judge: options.judge, randomSeed: seed, reportedProblems, finished: counters.jobs },
  });
  cleanups.push(() => scoring.runner.stop());
  const onStored = scoring.wake;
  const simulator = startSimulations(base, { userModel, speech, onStored });
  cleanups.push(() => simulator.stop());

  // Who may call, and what is remembered about calls.
  const address = { url: '' };
  const appUrl = (): string => options.appUrl?.replace(/\/+$/, '') ?? address.url;
  const apiKeyHeader = (options.apiKeyHeader ?? SERVICE_API_KEY_HEADER).toLowerCase();
  const problems = createProblemReports(base, { reportedProblems, ownerName, apiKeyHeader });
  const access = createAccess(base, { options, startKeys, apiKeyHeader, appUrl, problems });

  // The server.
  const stopping = new AbortController();
  const draining = new AbortController();
  const lifecycle = {
    stopping: stopping.signal,
    findUnreadyReason: createReadiness(store, draining.signal),
  };
  const closing = startClosing(base, { seed, counters, reportedProblems, wake: scoring.wake });
  const workers = { writer, spanRemover, scoring, simulator, closing };
  const server = createServer(base, {
    ...{ workers, access, problems, counters, lifecycle },
    ...{ hasUserModel: userModel !== undefined, kit: options.kit },
  });
  cleanups.push(async () => {
    // Load balancers need time to see that the service is not ready anymore.
    draining.abort();
    if (options.drainMs) await machineClock.sleep(options.drainMs);
    // Requests that wait for an injected delay respond now.
    stopping.abort();
    // Connections close in real time, whatever the service clock shows.
    await closeServer(server.app, systemClock);
    await closing.idleCloser.stop();
    await server.operations.backlog.drain();
  });
  return { ...server, ...access, ...startKeys, store, log, guard, address };
}

/** Creates what remembers and reports the problems that callers have with the service. */
function createProblemReports(
  { store, clock, log }: Base,
  {
    reportedProblems,
    ownerName,
    apiKeyHeader,
  }: {
    reportedProblems: ReportedProblems;
    ownerName: string;
    apiKeyHeader: string;
  },
): ProblemReports {
  const rejectedRequests = createRejectedRequests(clock);
  const reporting = { store, reportedProblems, clock, log, ownerName };
  const callers = { ...reporting, rejectedRequests, apiKeyHeader };
  return {
    rejectedRequests,
    reportedProblems,
    unauthorizedCallers: createUnauthorizedCallers(callers),
    misdirectedTraces: createMisdirectedTraces(reporting),
    database: createDatabaseProblemLog({ log, clock }, 'requests', PROBLEM_REPEAT_MS),
  };
}

/** Creates what decides what a request may do, and for which owner. */
function createAccess(
  { store: { owners }, machineClock, replica }: Base,
  {
    options,
    startKeys: { apiKey, ownerName },
    apiKeyHeader,
    appUrl,
    problems: { unauthorizedCallers },
  }: {
    options: StartOptions;
    startKeys: StartKeys;
    apiKeyHeader: string;
    appUrl: () => string;
    problems: Pick<ProblemReports, 'unauthorizedCallers'>;
  },
): Access {
  const isSecure = (): boolean => appUrl().startsWith('https:');
  const sessions = createPageSessions(machineClock, isSecure, replica);
  const { host } = options;
  return {
    ...{ apiKeyHeader, appUrl, ownerName },
    owners: createRequestOwners(owners, ownerName),
    authentication: createAuthentication({
      ...{ host, owners, apiKeyHeader, apiKey, sessions, appUrl, unauthorizedCallers },
    }),
    callerRecorder:
      options.recordCallers === true
        ? createCallerRecorder({
            // Clients act in real time, even when a test moves the service clock.
            clock: systemClock,
            apiKeyHeader,
            secrets: [apiKey, ...options.keys.map(({ key }) => key)],
          })
        : undefined,
  };
}

/** Starts what closes conversations, by request or after a time without activity. */
function startClosing(
  { store, clock, log }: Base,
  {
    seed,
    counters: { idleCloses },
    reportedProblems,
    wake,
  }: Pick<ProblemReports, 'reportedProblems'> & {
    seed: string;
    counters: Pick<ServiceCounters, 'idleCloses'>;
    wake: () => void;
  },
): Closing {
  const makeId = createIdMaker(seed);
  const makeSessionId = (ownerId: string, conversationId: string): string =>
    makeId('ses', ['conversation', ownerId, conversationId]);
  const { ingestLog, conversations } = store;
  const deps = {
    ...{ store, clock, log, makeSessionId, idleCloses, wake },
    missingEvals: createMissingEvals({ ingestLog, reportedProblems, clock, log }),
    turnChecks: createDatabaseRetry({ log, clock }, 'turn_check'),
  };
  const close = (conversation: ConversationRef, idleBeforeMs?: number) =>
    closeConversation(deps, conversation, idleBeforeMs);
  const idleCloser = startIdleCloser({ conversations, clock, log, close });
  return { makeSessionId, close, idleCloser };
}
