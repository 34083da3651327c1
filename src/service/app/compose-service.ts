import { SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import { closeServer } from '../../http-kit/listen.ts';
import { createAdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock } from '../../platform/clock.ts';
import { silentLog } from '../../platform/log.ts';
import { randomSeed } from '../../platform/random.ts';
import { createServiceCounters } from '../background/metrics.ts';
import { createReportedProblems } from '../background/reported-problems.ts';
import { startIngestThread } from '../ingest/ingest-thread.ts';
import { createReadiness } from '../operations/service-readiness.ts';
import { startSessionCounter } from '../background/session-counter.ts';
import { startFormResultRemover } from '../retention/form-result-remover.ts';
import { startSpanRemover } from '../retention/span-remover.ts';
import { createAccess } from './access.ts';
import type { Base } from './base.ts';
import { startClosing } from './closing.ts';
import { createServer } from './create-server.ts';
import { configureKeys, resolveKeys } from './keys.ts';
import { openData, type Cleanups } from './open-data.ts';
import type { StartOptions } from './options.ts';
import { createProblemReports } from './problem-reports.ts';
import { listReplicaSettings } from './replica-settings.ts';
import { startScoring, startSimulations } from './workers.ts';

/** A service that is ready to listen. */
export type ComposedService = Awaited<ReturnType<typeof composeService>>;

/**
 * Starts the parts of a service in the order of their dependencies, and returns it ready to
 * listen. Adds a step to `cleanups` for each part that must be stopped.
 */
export async function composeService(options: StartOptions, cleanups: Cleanups) {
  const { log = silentLog, retentionMs, userModel, speech, transcription } = options;
  const machineClock = options.clock ?? systemClock;
  const clock = createAdjustableClock(machineClock);

  // The data, and the other processes that work on it.
  const { store, location, guard, loadDevelopmentKey } = await openData(options, log, cleanups);
  const startKeys = await guard(() => resolveKeys(store.owners, options.keys, loadDevelopmentKey));
  const { keys, apiKey, ownerName } = startKeys;
  const settings = listReplicaSettings(options);
  const replica = await guard(() => configureKeys({ store, keys, settings, clock, log }));
  if (replica) cleanups.push(() => replica.stop());
  await guard(() => store.conversations.capReceivedAt(clock.nowMs()));
  const counters = createServiceCounters();
  const reportedProblems = createReportedProblems(clock, replica);
  const base: Base = { store, clock, machineClock, log, replica, counters, reportedProblems };

  // What works in the background.
  const spanRemover = await guard(() => startSpanRemover({ ...base, retentionMs }));
  cleanups.push(() => spanRemover.stop());
  const sessionCounter = startSessionCounter(base);
  cleanups.push(() => sessionCounter.stop());
  const formResultRemover = startFormResultRemover(base);
  cleanups.push(() => formResultRemover.stop());
  const writer = await guard(() => startIngestThread({ store: location }));
  cleanups.push(() => writer.close());
  const seed = options.randomSeed ?? randomSeed();
  const scoring = startScoring(base, { judge: options.judge, randomSeed: seed });
  cleanups.push(() => scoring.jobRunner.stop());
  const { wake } = scoring;
  const simulator = startSimulations(base, { userModel, speech, transcription, onStored: wake });
  cleanups.push(() => simulator.stop());

  // Who may call, and what is remembered about calls.
  const address = { url: '' };
  const appUrl = (): string => options.appUrl?.replace(/\/+$/, '') ?? address.url;
  const apiKeyHeader = (options.apiKeyHeader ?? SERVICE_API_KEY_HEADER).toLowerCase();
  const problems = createProblemReports(base, { ownerName, apiKeyHeader });
  const { databaseProblems, unauthorizedCallers } = problems;
  const access = createAccess(base, {
    ...options,
    apiKey,
    ownerName,
    apiKeyHeader,
    appUrl,
    unauthorizedCallers,
  });

  // The server.
  const stopping = new AbortController();
  const draining = new AbortController();
  const closing = startClosing(base, { randomSeed: seed, wake });
  const server = createServer({
    ...base,
    ...access,
    ...problems,
    ...scoring,
    ...closing,
    writer,
    spanRemover,
    simulator,
    stopping: stopping.signal,
    findUnreadyReason: createReadiness(store, draining.signal, databaseProblems),
    hasUserModel: userModel !== undefined,
    kit: options.kit,
  });
  cleanups.push(async () => {
    // Load balancers need time to see that the service is not ready anymore.
    draining.abort();
    if (options.drainMs) await machineClock.sleep(options.drainMs);
    // Requests that wait for an injected delay respond now.
    stopping.abort();
    // Connections close in real time, even if the service clock was changed.
    await closeServer(server.app, systemClock);
    await closing.idleCloser.stop();
    await server.agentTests.stop();
    await server.backlog.drain();
  });
  return { ...server, ...access, ...startKeys, store, log, guard, address };
}
