import { serviceApiKeyHeader } from '../../contract/index.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { SeedDocument } from '../../contract/index.ts';
import { createAdjustableClock } from '../../platform/adjustable-clock.ts';
import { randomSeed, seededRandom } from '../../platform/random.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { silentLog, type Log } from '../../platform/log.ts';
import { checkOptions } from '../../platform/option-kinds.ts';
import type { SpeechEndpoint } from '../../voice/speech/index.ts';
import { openDataDir } from './data-dir.ts';
import { developmentKey } from './development-key.ts';
import { StartError, InvalidDocumentError, RequestError } from '../domain/errors.ts';
import { createAuthentication, isKey, keyDigestOf } from './authentication.ts';
import { createIdMaker } from '../domain/ids.ts';
import { startIngestThread } from '../ingest/ingest-thread.ts';
import { createJudge, type JudgeOptions } from '../scoring/judge.ts';
import { createErroredEvals } from '../scoring/errored-evals.ts';
import { startJobRunner } from '../scoring/job-runner.ts';
import { findScoredSession } from '../domain/sessions.ts';
import { serviceOptionKinds } from './service-option-kinds.ts';
import { buildService, type Service } from './service.ts';
import { startSimulator } from '../simulator/start-simulator.ts';
import type { UserModelOptions } from '../simulator/user-model.ts';
import { withFileOf } from './start-failure.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { createUnauthorizedCallers } from './unauthorized-callers.ts';
import { parseMessage } from '../domain/document-checks.ts';

/** A key that the service takes, and whose it is. */
export interface ServiceKey {
  key: string;
  /** Name of the owner; `development` when left out. */
  owner?: string;
}

/** How a service is started. */
export interface ServiceOptions {
  /** Where to listen; `127.0.0.1`. */
  host: string;
  /** 0, the default, takes a free one. */
  port: number;
  /** Where everything is kept; a folder that is removed at the stop when left out. */
  dataDir: string;
  /**
   * May be manual; `/__admin/clock` moves the service's time on from what it says. How far is not
   * kept: after a restart the service's time is this clock's again, and what is dated later is due,
   * and idle, as if it had come at the start.
   */
  clock: Clock;
  /** What the service holds at the start, and after each reset to it. */
  seed: SeedDocument;
  /**
   * Told now and then how many of the seed's sessions are kept, and how many there are; the last time
   * before the start ends. Not of seeds that are planted later.
   */
  onSeedProgress: (done: number, total: number) => void;
  /**
   * The ids of sessions of live traces follow from it; unforeseeable when left out. Ids of what is
   * in a seed or a transcript follow from the document itself.
   */
  chanceSeed: string;
  log: Log;
  /** The header that holds the key; `x-service-api-key` (spec 5). */
  apiKeyHeader: string;
  /**
   * Keys from the configuration; the first is the service's own. Without any, on loopback, there is
   * a development key. Later keys are made by `/__admin/keys`, and stay; of the configured ones
   * those alone are taken that this start names.
   */
  keys: readonly ServiceKey[];
  /** The language model behind evals of kind `judge`. */
  judge: Omit<JudgeOptions, 'clock' | 'random'>;
  /** The language model behind simulated users of mode `llm`. */
  userModel: UserModelOptions;
  /** Who speaks the lines of simulated users that call; a synthesizer in the process when left out. */
  speech: SpeechEndpoint;
  /** Base of the deep links; the service itself when left out. */
  appUrl: string;
}

/** A service that listens. */
export interface RunningService {
  /** Its base address, without a slash at the end. */
  url: string;
  /** The first configured key, or the development key. */
  apiKey: string;
  /** Base of the deep links, without a slash at the end. */
  appUrl: string;
  adminUrl: string;
  /** Takes no more connections, finishes what it is at, and ends after some seconds at the latest. */
  stop(): Promise<void>;
}

const ownerNameDefault = 'development';
const stopMsMax = 5_000;
const idleSweepMs = 10;

/**
 * Starts the service: area A of the interface, `/__admin` and the pages that deep links lead to.
 * @throws StartError that says what to change: beyond loopback without a key, a port that is
 * taken, a folder that can't be used, a seed that makes no sense.
 * @throws TypeError about an option that is unknown or of another type.
 */
export async function startService(options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  checkOptions('startService', options, serviceOptionKinds);
  const { host = '127.0.0.1', keys = [] } = options;
  checkKeys(host, keys);
  const undo: (() => Promise<void>)[] = [];
  // What was opened last is closed first.
  const undoAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start({ ...options, host, keys }, undo, undoAll);
  } catch (error) {
    await undoAll();
    if (error instanceof RequestError) {
      const place =
        error instanceof InvalidDocumentError
          ? { seedPointer: error.pointer, seedBesides: error.relatedPointer }
          : {};
      throw new StartError(error.message, { cause: error, ...place });
    }
    throw error;
  }
}

type Undo = (() => Promise<void>)[];
type Given = Partial<ServiceOptions> & Pick<ServiceOptions, 'host' | 'keys'>;

async function start(
  options: Given,
  undo: Undo,
  undoAll: () => Promise<void>,
): Promise<RunningService> {
  const { host, port = 0, log = silentLog, clock: below = systemClock } = options;
  const clock = createAdjustableClock(below);
  const dataDir = await openDataDir(options.dataDir, undo);
  const file = join(dataDir, 'service.db');
  const isTemporary = options.dataDir === undefined;
  const store = await withFileOf(file, () => openStore({ file, isTemporary }));
  undo.push(() => store.close());
  const { apiKey, ownerName } = await withFileOf(file, () =>
    letKeysIn(store, dataDir, options.keys),
  );
  await withFileOf(file, () => store.conversations.capReceivedAt(clock.nowMs()));
  const writer = await withFileOf(file, () => startIngestThread({ file, isTemporary }));
  undo.push(() => writer.close());

  const chanceSeed = options.chanceSeed ?? randomSeed();
  const random = seededRandom(chanceSeed).fork('judge');
  // The judge's endpoint lives in real time, wherever the service's clock stands or is moved.
  const judge = options.judge && createJudge({ ...options.judge, clock: systemClock, random });
  const readSession = (ownerId: string, sessionId: string) =>
    findScoredSession(store, ownerId, sessionId);
  const worker = `service-${randomSeed()}`;
  const errored = createErroredEvals({ ingestLog: store.ingestLog, clock, log });
  const runner = startJobRunner({ store, readSession, judge, erroredEvals: errored, clock, log, worker });
  undo.push(() => runner.stop());
  const onKept = (): void => runner.wake();
  const { userModel, speech } = options;
  const simulator = startSimulator(userModel, { store, clock, log, onKept, speech });
  undo.push(() => simulator.stop());

  const stopping = new AbortController();
  const address = { url: '' };
  const apiKeyHeader = (options.apiKeyHeader ?? serviceApiKeyHeader).toLowerCase();
  const appUrl = (): string => options.appUrl?.replace(/\/+$/, '') ?? address.url;
  const noted = createUnauthorizedCallers({ store, clock, log, ownerName, apiKeyHeader });
  const service = buildService({
    clock,
    log,
    authentication: createAuthentication({
      host,
      owners: store.owners,
      apiKeyHeader,
      apiKey,
      unauthorizedCallers: noted,
    }),
    unauthorizedCallers: noted,
    apiKeyHeader,
    store,
    writer,
    runner,
    simulator,
    errored,
    hasJudge: judge !== undefined,
    hasUserModel: userModel !== undefined,
    makeId: createIdMaker(chanceSeed),
    ownerName,
    appUrl,
    stopping: stopping.signal,
  });
  undo.push(() => closeDoors(service, stopping));
  await withFileOf(file, () => plant(service, store, { ...options, ownerName }));
  await listen(service.app, host, port);
  address.url = addressOf(service.app, host);
  log.info('service listens', { url: address.url });
  let stopped: Promise<void> | undefined;
  return {
    url: address.url,
    apiKey,
    appUrl: appUrl(),
    adminUrl: `${address.url}/__admin`,
    stop: () => (stopped ??= undoAll()),
  };
}

function checkKeys(host: string, keys: readonly ServiceKey[]): void {
  if (keys.length === 0 && !isLoopbackHost(host)) {
    throw new StartError(`a service on ${host} can be reached by others: give it a key of its own`);
  }
  for (const { key } of keys) {
    if (isKey(key)) continue;
    throw new StartError('a key must be 8 to 256 visible ASCII characters without a space');
  }
}

/**
 * Lets in the configured keys, or the development key, which is none where there are others. Those
 * of an earlier start are let in no more; what `/__admin/keys` gave since then stays.
 */
async function letKeysIn(
  { owners }: Store,
  dataDir: string,
  configured: readonly ServiceKey[],
): Promise<{ apiKey: string; ownerName: string }> {
  const [first = { key: await developmentKey(dataDir) }, ...others]: readonly ServiceKey[] =
    configured;
  const digests = [];
  for (const { key, owner = ownerNameDefault } of [first, ...others]) {
    digests.push({ ownerId: await owners.ensure(owner), keyDigest: keyDigestOf(key) });
  }
  if (await owners.configureKeys(digests)) {
    return { apiKey: first.key, ownerName: first.owner ?? ownerNameDefault };
  }
  throw new StartError(
    'a configured key was given to another owner; take it away first, or use another',
  );
}

async function plant(
  { seeds, findWarnings }: Service,
  { owners }: Store,
  {
    ownerName,
    seed,
    onSeedProgress,
  }: Pick<Given, 'seed' | 'onSeedProgress'> & { ownerName: string },
): Promise<void> {
  if (seed) {
    const ownerId = await owners.ensure(ownerName);
    await seeds.plant(ownerId, parseMessage('SeedDocument', seed), onSeedProgress);
  }
  for (const ownerId of await owners.listIds()) await findWarnings(ownerId);
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new StartError(`can't listen on ${host}, port ${port}: ${why}`, { cause: error });
  }
}

async function closeDoors({ app, idleCloser }: Service, stopping: AbortController): Promise<void> {
  // Requests that wait out a slow fault answer now.
  stopping.abort();
  // A connection that is in use is idle right after; it must not be kept for a next request.
  app.server.keepAliveTimeout = 1;
  app.server.keepAliveTimeoutBuffer = 0;
  // Peers take real time to go away, wherever the service's clock stands.
  using deadline = systemClock.deadline(stopMsMax);
  deadline.signal.addEventListener('abort', () => app.server.closeAllConnections());
  const over = new AbortController();
  const closed = app.close().finally(() => over.abort());
  // Nothing tells when a connection becomes idle whose answer was out before its request was whole.
  while (!over.signal.aborted) {
    app.server.closeIdleConnections();
    await systemClock.sleep(idleSweepMs, over.signal).catch(() => undefined);
  }
  await closed;
  await idleCloser.stop();
}

/** An address that a client of this machine can use. */
function addressOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const name = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `http://${name}:${port}`;
}
