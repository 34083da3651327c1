import { describeArgument, SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import { StartError } from '../../http-kit/errors.ts';
import { closeServer, listen } from '../../http-kit/listen.ts';
import { digestKey } from '../../http-kit/local-access.ts';
import { createAdjustableClock, type AdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock } from '../../platform/clock.ts';
import { silentLog, type Log } from '../../platform/log.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import { checkOptions } from '../../platform/options.ts';
import { randomSeed, seededRandom } from '../../platform/random.ts';
import { InvalidDocumentError, InvalidSeedError, RequestError } from '../domain/errors.ts';
import { createIdMaker } from '../domain/ids.ts';
import { createServiceCounters, type ServiceCounters } from '../domain/metrics.ts';
import { createRejectedRequests } from '../domain/rejected-requests.ts';
import { createReportedProblems, type ReportedProblems } from '../domain/reported-problems.ts';
import { findScoredSession } from '../domain/transcripts.ts';
import { startIngestThread } from '../ingest/ingest-thread.ts';
import type { ScoreEval } from '../operations/dry-run.ts';
import { createReadiness } from '../operations/service-readiness.ts';
import { createErroredEvals } from '../scoring/errored-evals.ts';
import { startSpanRemover } from '../retention/span-remover.ts';
import { scoreSession } from '../scoring/eval-kinds.ts';
import { createJudge } from '../scoring/judge.ts';
import { startJobRunner } from '../scoring/job-runner.ts';
import { startSimulator } from '../simulator/simulation-runner.ts';
import { KeyTakenError } from '../store/owners.ts';
import type { ConfiguredKey, Store } from '../store/store.ts';
import type { ServiceControls } from '../admin/controls.ts';
import { createAuthentication } from './authentication.ts';
import {
  createCallerRecorder,
  type CallerRecorder,
  type CallerRecording,
} from './caller-recorder.ts';
import { openData, type Cleanups } from './open-data.ts';
import {
  serviceOptionsSchema,
  type ServiceKey,
  type ServiceOptions,
  type ServiceSetup,
} from './options.ts';
import { buildService, type Service } from './service.ts';
import { createMetrics } from './metrics.ts';
import { createPageSessions } from './page-sessions.ts';
import { listReplicaSettings } from './replica-settings.ts';
import { joinReplicas, type Replica, type ReplicaOptions } from './replicas.ts';
import { createMisdirectedTraces } from './misdirected-traces.ts';
import { createUnauthorizedCallers } from './unauthorized-callers.ts';

/** Variables that point a process to a service. */
export interface ServiceEnvironment {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_EXPORTER_OTLP_PROTOCOL: string;
  OTEL_EXPORTER_OTLP_HEADERS: string;
  SANDBOX_KIT_SERVICE_URL: string;
  SANDBOX_KIT_SERVICE_API_KEY: string;
  SANDBOX_KIT_ADMIN_URL: string;
}

/** A service that is listening, and its test controls. */
export interface RunningService extends ServiceControls {
  /** Base URL, without a trailing slash. */
  url: string;
  /** The first configured API key, or the development key. */
  apiKey: string;
  /** Base URL of the deep links, without a trailing slash. */
  appUrl: string;
  adminUrl: string;
  /**
   * Variables for a process that sends traces to the service or calls it: those of OpenTelemetry
   * exporters (`OTEL_EXPORTER_OTLP_ENDPOINT`, `_HEADERS`, `_PROTOCOL`), and
   * `SANDBOX_KIT_SERVICE_URL`, `SANDBOX_KIT_SERVICE_API_KEY`, and `SANDBOX_KIT_ADMIN_URL`.
   */
  env: ServiceEnvironment;
  /** Whether the settings of the service's own owner had evals at the start. */
  hasLiveEvals: boolean;
  /** Returns the requests of callers so far; undefined unless the option `recordCallers` is set. */
  callerRecording(): Promise<CallerRecording | undefined>;
  /** Stops accepting connections and lets requests in progress finish. Takes a few seconds at most. */
  stop(): Promise<void>;
}

const OWNER_NAME_DEFAULT = 'development';

type StartOptions = Partial<ServiceSetup> & Pick<ServiceOptions, 'host' | 'keys'>;

/**
 * Starts the service: area A of the interface, `/__admin`, and the pages of the deep links.
 * @throws {TypeError} if an option is unknown or invalid, or an address other than loopback has no key.
 * @throws {SandboxKitError} `start_failed`, for example if the port is in use, or another service uses
 * the data directory.
 */
export async function startService(options: Partial<ServiceSetup> = {}): Promise<RunningService> {
  checkOptions('startService', serviceOptionsSchema, options);
  const { host = '127.0.0.1', keys = [], seed } = options;
  const problem = seed && describeArgument('seed', 'SeedDocument', seed);
  if (problem !== undefined) throw new TypeError(`startService: ${problem}`);
  checkAccess(host, keys);
  if (options.dataDir !== undefined && options.databaseUrl !== undefined) {
    throw new TypeError('startService: Set dataDir or databaseUrl, not both.');
  }
  const cleanups: Cleanups = [];
  const cleanUp = async (): Promise<void> => {
    for (const step of cleanups.splice(0).reverse()) await step();
  };
  try {
    const running = await start({ ...options, host, keys }, cleanups);
    let stopped: Promise<void> | undefined;
    return { ...running, stop: () => (stopped ??= cleanUp()) };
  } catch (error) {
    await cleanUp();
    if (error instanceof InvalidDocumentError) throw new InvalidSeedError(error);
    if (error instanceof RequestError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

async function start(
  options: StartOptions,
  cleanups: Cleanups,
): Promise<Omit<RunningService, 'stop'>> {
  const { host, port = 0, log = silentLog, retentionMs } = options;
  const clock = createAdjustableClock(options.clock ?? systemClock);
  const { store, location, guard, loadDevelopmentKey } = await openData(options, log, cleanups);
  const { keys, apiKey, ownerName } = await guard(() =>
    resolveKeys(store, options.keys, loadDevelopmentKey),
  );
  const replica = await guard(() => configureKeys({ store, keys, clock, log, options }, cleanups));
  await guard(() => store.conversations.capReceivedAt(clock.nowMs()));
  const spanRemover = await guard(() => startSpanRemover({ store, clock, log, retentionMs }));
  cleanups.push(() => spanRemover.stop());
  const writer = await guard(() => startIngestThread({ store: location }));
  cleanups.push(() => writer.close());
  const seed = options.randomSeed ?? randomSeed();
  const counters = createServiceCounters();
  const reportedProblems = createReportedProblems(clock, replica);
  const workers = startWorkers(
    { ...options, randomSeed: seed, clock, log, store, replica, counters, reportedProblems },
    cleanups,
  );

  const stopping = new AbortController();
  const draining = new AbortController();
  const address = { url: '' };
  const apiKeyHeader = (options.apiKeyHeader ?? SERVICE_API_KEY_HEADER).toLowerCase();
  const appUrl = (): string => options.appUrl?.replace(/\/+$/, '') ?? address.url;
  const { owners } = store;
  const rejectedRequests = createRejectedRequests(clock);
  const reporting = { store, reportedProblems, clock, log, ownerName };
  const callers = createUnauthorizedCallers({ ...reporting, rejectedRequests, apiKeyHeader });
  const baseClock = options.clock ?? systemClock;
  const sessions = createPageSessions(baseClock, () => appUrl().startsWith('https:'), replica);
  const keyOptions = { host, owners, apiKeyHeader, apiKey, sessions, appUrl };
  const recordsCallers = options.recordCallers === true;
  const callerRecorder = recordsCallers ? recordCallers(options, apiKeyHeader, apiKey) : undefined;
  const service = buildService({
    ...{ clock, log, store, replica, writer, spanRemover, ...workers },
    ...{ apiKeyHeader, ownerName, appUrl, callerRecorder },
    baseClock,
    authentication: createAuthentication({ ...keyOptions, unauthorizedCallers: callers }),
    ...{ unauthorizedCallers: callers, rejectedRequests, reportedProblems },
    misdirectedTraces: createMisdirectedTraces(reporting),
    hasUserModel: options.userModel !== undefined,
    kit: options.kit,
    makeId: createIdMaker(seed),
    stopping: stopping.signal,
    findUnreadyReason: createReadiness(store, draining.signal),
    ...{ counters, writeMetrics: createMetrics({ store, writer, clock, counters, ...workers }) },
  });
  cleanups.push(async () => {
    // Load balancers need time to see that the service is not ready anymore.
    draining.abort();
    if (options.drainMs) await baseClock.sleep(options.drainMs);
    await closeService(service, stopping);
  });
  await guard(() => loadSeed(service, store, { ...options, ownerName }));
  address.url = await listen(service.app, { host, port, scheme: 'http' });
  log.info('service_listening', { url: address.url });
  const { evals } = await store.evals.getSettings(await owners.ensure(ownerName));
  const urls = { url: address.url, appUrl: appUrl(), adminUrl: `${address.url}/__admin` };
  return {
    ...service.controls,
    ...urls,
    apiKey,
    env: createEnvironment({ ...urls, apiKey }, apiKeyHeader),
    hasLiveEvals: evals.length > 0,
    callerRecording: async () => callerRecorder?.recording(),
  };
}

/** Creates a recorder of callers, which knows no key. */
function recordCallers(
  options: StartOptions,
  apiKeyHeader: string,
  apiKey: string,
): CallerRecorder {
  return createCallerRecorder({
    // Clients act in real time, even when a test moves the service clock.
    clock: systemClock,
    apiKeyHeader,
    secrets: [apiKey, ...options.keys.map(({ key }) => key)],
  });
}

/**
 * Configures the keys of this process, and joins the other replicas; returns undefined if the store is a
 * file, which has none. Keys of a configuration that is not in use anymore stop working; keys created by
 * `/__admin/keys` keep working.
 */
async function configureKeys(
  started: Omit<ReplicaOptions, 'replicas' | 'settings'> & { store: Store; options: StartOptions },
  cleanups: Cleanups,
): Promise<Replica | undefined> {
  const { owners, replicas } = started.store;
  try {
    if (!replicas) {
      await owners.configureKeys(started.keys);
      return undefined;
    }
    const settings = listReplicaSettings(started.options);
    const replica = await joinReplicas({ ...started, replicas, settings });
    cleanups.push(() => replica.stop());
    return replica;
  } catch (error) {
    if (!(error instanceof KeyTakenError)) throw error;
    throw new StartError(
      'A configured key belongs to another owner. Revoke it first, or configure another key.',
    );
  }
}

function createEnvironment(
  { url, apiKey, adminUrl }: Pick<RunningService, 'url' | 'apiKey' | 'adminUrl'>,
  apiKeyHeader: string,
): ServiceEnvironment {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `${apiKeyHeader}=${encodeURIComponent(apiKey)}`,
    SANDBOX_KIT_SERVICE_URL: url,
    SANDBOX_KIT_SERVICE_API_KEY: apiKey,
    SANDBOX_KIT_ADMIN_URL: adminUrl,
  };
}

/** Starts the workers that score sessions and run simulations. */
function startWorkers(
  options: Pick<ServiceOptions, 'randomSeed'> &
    Pick<StartOptions, 'judge' | 'userModel' | 'speech'> & {
      clock: AdjustableClock;
      log: Log;
      store: Store;
      counters: ServiceCounters;
      reportedProblems: ReportedProblems;
      replica: Replica | undefined;
    },
  cleanups: Cleanups,
) {
  const { clock, log, store, replica, reportedProblems, userModel, speech } = options;
  const random = seededRandom(options.randomSeed).fork('judge');
  // The LLM judge responds in real time, whatever the service clock shows.
  const judge = options.judge && createJudge({ ...options.judge, clock: systemClock, random });
  const errored = createErroredEvals({
    ...{ ingestLog: store.ingestLog, reportedProblems, clock, log },
  });
  const runner = startJobRunner({
    ...{ store, judge, erroredEvals: errored, finished: options.counters.jobs, clock, log },
    readSession: (ownerId, sessionId) => findScoredSession(store, ownerId, sessionId),
    worker: `service-${randomSeed()}`,
    isShared: replica !== undefined,
  });
  cleanups.push(() => runner.stop());
  const wake = (): void => {
    runner.wake();
    replica?.publish('jobs');
  };
  const sharing = replica &&
    store.replicas && {
      leases: store.replicas.simulationLeases,
      wakeOthers: () => replica.publish('simulations'),
    };
  const simulator = startSimulator({
    ...{ store, clock, log, userModel, speech, sharing },
    onStored: wake,
  });
  cleanups.push(() => simulator.stop());
  replica?.onPublished((topic) => {
    if (topic === 'jobs') runner.wake();
    if (topic === 'simulations') simulator.wake();
  });
  const scoreEval: ScoreEval = (definition, session, signal) =>
    scoreSession(definition, session, judge, signal);
  return { runner, wake, simulator, hasJudge: judge !== undefined, scoreEval };
}

function checkAccess(host: string, keys: readonly ServiceKey[]): void {
  if (keys.length > 0 || isLoopbackHost(host)) return;
  throw new TypeError(`startService: Other machines can reach a service on ${host}. Set keys.`);
}

/** Returns the given API keys with their owners, or the development key without any. */
async function resolveKeys(
  { owners }: Store,
  configured: readonly ServiceKey[],
  loadDevelopmentKey: () => Promise<string>,
): Promise<{ keys: ConfiguredKey[]; apiKey: string; ownerName: string }> {
  const [first = { key: await loadDevelopmentKey() }, ...others]: readonly ServiceKey[] =
    configured;
  const keys = [];
  for (const { key, owner = OWNER_NAME_DEFAULT } of [first, ...others]) {
    keys.push({ ownerId: await owners.ensure(owner), keyDigest: digestKey(key) });
  }
  return { keys, apiKey: first.key, ownerName: first.owner ?? OWNER_NAME_DEFAULT };
}

/** Loads the seed data, and logs the warnings about every owner's settings. */
async function loadSeed(
  { seeder, findWarnings }: Service,
  { owners }: Store,
  options: Pick<StartOptions, 'seed' | 'onSeedProgress'> & { ownerName: string },
): Promise<void> {
  const { seed, onSeedProgress, ownerName } = options;
  if (seed) {
    const ownerId = await owners.ensure(ownerName);
    await seeder.load(ownerId, seed, onSeedProgress);
  }
  for (const ownerId of await owners.listIds()) await findWarnings(ownerId);
}

async function closeService(
  { app, idleCloser, backlog }: Service,
  stopping: AbortController,
): Promise<void> {
  // Requests that wait for an injected delay respond now.
  stopping.abort();
  // Connections close in real time, whatever the service clock shows.
  await closeServer(app, systemClock);
  await idleCloser.stop();
  await backlog.drain();
}
