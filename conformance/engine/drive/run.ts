import {
  SERVICE_API_KEY_HEADER,
  type Area,
  type Endpoint,
  type RunRecord,
} from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { DeadlinePassed, isoTime, type Clock } from '../../../src/platform/clock.ts';
import { secretsOf, type Connection } from '../../../src/platform/connection.ts';
import { findProxy, proxyHostOf } from '../../../src/platform/proxy.ts';
import type { RunOptionOfLibrary } from '../../../src/options/run.ts';
import type { WithDefaults } from '../../../src/options/table.ts';
import { createTraceparents } from '../../../src/platform/trace-context.ts';
import { findBlockingCause } from '../preflight/preflight.ts';
import type { Suite } from '../area.ts';
import type { Cost, Phase, Probe, Step } from '../probe.ts';
import { INTERRUPTED } from '../transcript/failure-messages.ts';
import { isConnectionFailure, PREFLIGHT } from '../transcript/reading.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createSender, type Sender } from './sender.ts';
import { createRequestLimiter } from './request-limiter.ts';
import type { Caller } from './call/caller.ts';
import { resolveVoiceOptions, type VoiceOptions } from './call/options.ts';
import type { CheckOptions } from '../../generated/options.ts';
import type { checkOptions } from '../../options.ts';

/** The options of a check that a run gets in other forms, and those of the report. */
type OptionOfLibrary =
  | RunOptionOfLibrary
  | ('only' | 'skip' | 'requirements' | 'strict' | 'knownFailures' | 'compareWith' | 'recordFile')
  | ('apiKeyHeader' | 'onExchange' | 'voice');

/** What to check, and how: the options of a check with defaults, and what the packages above add. */
export interface RunSettings extends Omit<
  WithDefaults<typeof checkOptions, CheckOptions>,
  OptionOfLibrary
> {
  /** The base URL of the peer. */
  target: string;
  areas: readonly Area[];
  /** The requirements to judge; undefined for all of the areas. */
  selected?: readonly string[] | undefined;
  /** The lowercase name of the header with the service key, if it was chosen. */
  apiKeyHeader?: string | undefined;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  /** The random seed. Every id of the run is derived from it. */
  seed: string;
  kitVersion: string;
  clock: Clock;
  /** How to reach the voice endpoint, if not in the usual way. */
  voice?: Partial<VoiceOptions> | undefined;
  /** Messages that are likely to make the agent call a tool. */
  prompts: readonly string[];
  /** Stop after the preflight. */
  preflightOnly: boolean;
  /** Run only the probes with these ids and the preflight (default: all). */
  probes?: readonly Pick<Probe, 'id'>[] | undefined;
  /** Called after every exchange, except those that wait for the peer to come back. */
  onExchange: (exchange: Exchange) => void;
  /** Called with a sentence for people while the run waits for the peer to come back. */
  onWaiting?: ((message: string) => void) | undefined;
  /** Called when a phase starts. */
  onPhase?: ((phase: Phase) => void) | undefined;
  /** Interrupts the run. Afterwards it only deletes the users that it created. */
  signal?: AbortSignal | undefined;
}

/** The name of this set of requirements, recorded with every run. */
export const SUITE_NAME = '2026-11';

/** Timeout of `GET /health`: the 10 s of the specification and a margin for the kit. */
const HEALTH_DEADLINE_MS = 10_250;

/** What a run will send, at most. */
export interface Plan extends Cost {
  peer: Suite['peer'];
  probes: readonly PlannedProbe[];
}

/** A probe of a run and its maximum cost. */
export interface PlannedProbe {
  probe: Probe;
  cost: Cost;
}

/** Selects the probes of a run and adds up what they cost, not counting repetitions. */
export function planRun(
  suite: Suite,
  options: Pick<RunSettings, 'areas' | 'prompts' | 'preflightOnly' | 'intrusive' | 'probes'>,
): Plan {
  const { areas, prompts, preflightOnly, intrusive = false } = options;
  const isSelected = (probe: Probe): boolean =>
    [probe.area, ...(probe.alsoFor ?? [])].some((area) => areas.includes(area)) &&
    (intrusive || !probe.intrusive) &&
    (probe.phase === 'preflight' || (options.probes?.some(({ id }) => id === probe.id) ?? true)) &&
    (!preflightOnly || probe.id === PREFLIGHT || probe.phase === 'cleanup');
  const selected = suite.probes.filter(isSelected);
  const total: Cost = { requests: 0, modelCalls: 0, users: 0, calls: 0 };
  const costs = new Map<Probe, Cost>();
  // A probe that deletes users runs after all that create them.
  for (const probe of selected.toSorted((a, b) => phaseOrder(a) - phaseOrder(b))) {
    const cost = probe.cost(prompts, total.users);
    costs.set(probe, cost);
    total.requests += cost.requests;
    total.modelCalls += cost.modelCalls;
    total.users += cost.users;
    total.calls += cost.calls;
  }
  const probes = [...costs].map(([probe, cost]) => ({ probe, cost }));
  return { ...total, peer: suite.peer, probes };
}

/** The phases of a run, in order. */
export const phases: readonly Phase[] = [
  'preflight',
  'accepted',
  'refused',
  'after',
  'cleanup',
  'last',
  'end',
];

const phaseOrder = ({ phase }: Probe): number => phases.indexOf(phase);

/**
 * Runs the probes of a phase concurrently, phase after phase, and stops after a preflight that found
 * a blocking cause. Never rejects because of what a peer does.
 */
export async function runProbes(suite: Suite, options: RunSettings): Promise<Transcript> {
  const { clock, seed, prompts, areas, intrusive = false, signal } = options;
  const isInterrupted = (): boolean => signal?.aborted ?? false;
  const run = createRunRecord(suite, options);
  const client = createHttpClient({
    target: options.target,
    clock,
    ca: options.ca,
    connection: options.connection,
  });
  const { startedAt } = run;
  const { state, secrets } = suite.createState({ clock, seed, startedAt, intrusive, signal });
  const recorder = createRecorder(
    [...secretsOf(options.connection, options.apiKey), ...secrets],
    [options.apiKeyHeader ?? SERVICE_API_KEY_HEADER, ...headerNamesOf(options)],
  );
  using interruption = createInterruption(signal);
  const inRun = { client, recorder, interruption: interruption.signal };
  const send = await createRunSender(suite, options, inRun);
  const { probes } = planRun(suite, options);
  const unfinished = new Set(probes.map(({ probe }) => probe));
  const background: Promise<void>[] = [];
  const start = async (probe: Probe): Promise<void> => {
    const continuing: Promise<void>[] = [];
    await probe.run({
      send: (step: Step) => send(probe, step),
      wasCutOff: ({ repeats }: Exchange) =>
        recorder.exchanges.some((first) => first.id === repeats && isConnectionFailure(first)),
      continueInBackground(work: Promise<void>) {
        // An error of this work fails the run at its end, not in the middle of a phase.
        work.catch(() => undefined);
        continuing.push(work);
      },
      random: seededRandom(`${seed}/${probe.area}/${probe.id}`),
      prompts,
      areas,
      ...state,
    });
    const finished = Promise.all(continuing).then(() => {
      if (!isInterrupted() || probe.cleansUp) unfinished.delete(probe);
    });
    finished.catch(() => undefined);
    background.push(finished);
  };
  try {
    for (const phase of phases) {
      options.onPhase?.(phase);
      const due = probes.map(({ probe }) => probe).filter((probe) => probe.phase === phase);
      await startAll(due, start, clock);
      const transcript = { run, exchanges: recorder.exchanges };
      if (phase === 'preflight' && findBlockingCause(suite, transcript)) break;
    }
    await Promise.all(background);
  } finally {
    await client.close();
  }
  if (!isInterrupted()) return { run, exchanges: recorder.exchanges };
  const unfinishedProbes = [...new Set([...unfinished].map(({ id }) => id))];
  return { run: { ...run, interrupted: true, unfinishedProbes }, exchanges: recorder.exchanges };
}

/** How long the probes of a phase wait for one that goes first, in milliseconds. */
const FIRST_MS_MAX = 2_000;

/** Starts the probes of a phase concurrently, after those that go first, and waits for all. */
async function startAll(
  probes: readonly Probe[],
  start: (probe: Probe) => Promise<void>,
  clock: Clock,
): Promise<void> {
  const first = probes.filter(({ goesFirst }) => goesFirst).map(start);
  await waitForAll(first, clock);
  await Promise.all([...first, ...probes.filter(({ goesFirst }) => !goesFirst).map(start)]);
}

async function waitForAll(started: readonly Promise<void>[], clock: Clock): Promise<void> {
  using limit = clock.deadline(FIRST_MS_MAX);
  const late = Promise.withResolvers<undefined>();
  limit.signal.addEventListener('abort', () => late.resolve(undefined), { once: true });
  await Promise.race([Promise.all(started), late.promise]);
}

/** Creates the sender of a run, with a caller if the run places calls. */
async function createRunSender(
  suite: Suite,
  options: RunSettings,
  run: { client: HttpClient; recorder: Recorder; interruption: AbortSignal },
): Promise<Sender> {
  const {
    clock,
    rate: ratePerSecond,
    concurrency,
    apiKey,
    apiKeyHeader = SERVICE_API_KEY_HEADER,
  } = options;
  const { interruption } = run;
  return createSender({
    client: run.client,
    caller: options.areas.includes('voice') ? await loadCaller(options, interruption) : undefined,
    clock,
    requestLimiter: createRequestLimiter({ clock, concurrency, ratePerSecond, interruption }),
    callLimiter: createRequestLimiter({ clock, concurrency: CONCURRENT_CALLS_MAX }),
    recorder: run.recorder,
    settings: {
      apiKey,
      headers: options.connection?.headers ?? {},
      authorize: (key) => suite.authorize(key, apiKeyHeader),
      voicePath: new URL(resolveVoiceOptions(options.target, options.voice).url).pathname,
    },
    createTraceparent: createTraceparents(options.seed),
    deadlineMs: createDeadlines(options.timeoutMs, interruption),
    onExchange: options.onExchange,
    recovery: suite.repeatsFailures
      ? { peer: suite.peer, signal: options.signal, onWaiting: options.onWaiting ?? (() => {}) }
      : undefined,
    interruption,
    isStopped: (probe) => interruption.aborted && !probe.cleansUp,
  });
}

/** Maximum number of concurrent calls. The probes need two to test that calls are independent. */
export const CONCURRENT_CALLS_MAX = 4;

/** Loads the caller on demand, because WebRTC loads slowly and most runs place no calls. */
async function loadCaller(options: RunSettings, signal: AbortSignal): Promise<Caller> {
  const { clock, target, voice, ca, connection } = options;
  const { createCaller } = await import('./call/caller.ts');
  const { url: voiceUrl, answerForm, mediaAddress, onAudio } = resolveVoiceOptions(target, voice);
  return createCaller({
    clock,
    voiceUrl,
    ca,
    connection,
    answerForm,
    mediaAddress,
    onAudio,
    signal,
  });
}

const headerNamesOf = ({ connection }: RunSettings): string[] =>
  Object.keys(connection?.headers ?? {});

function createRunRecord(suite: Suite, options: RunSettings): RunRecord {
  const { connection, target } = options;
  const names = headerNamesOf(options);
  const proxy = findProxy(target, connection?.proxies);
  return {
    record: 'run',
    kitVersion: options.kitVersion,
    suite: SUITE_NAME,
    target: options.target,
    seed: options.seed,
    startedAt: isoTime(options.clock.nowMs()),
    areas: [...options.areas],
    ...(options.selected && { selected: [...options.selected] }),
    allowHttp: options.allowHttp,
    keyGiven: options.apiKey !== undefined,
    ...(names.length > 0 && { headerNames: names }),
    ...(connection?.clientCertificate && { certificateGiven: true }),
    ...(proxy && { proxy: proxyHostOf(proxy) }),
    concurrency: options.concurrency,
    ...(options.areas.includes('voice') && {
      voiceUrl: resolveVoiceOptions(options.target, options.voice).url,
    }),
    ...(suite.probes.some(({ intrusive }) => intrusive) && {
      intrusive: options.intrusive ?? false,
    }),
    ...(options.apiKeyHeader !== undefined && { apiKeyHeader: options.apiKeyHeader }),
  };
}

/** Timeout of a request that cleans up after an interruption. */
const CLEANUP_DEADLINE_MS = 5_000;

/** Returns when a request is given up. */
export const deadlineMsOf = (endpoint: Endpoint, timeoutMs: number): number =>
  endpoint === 'health' ? HEALTH_DEADLINE_MS : timeoutMs;

const createDeadlines =
  (timeoutMs: number, interruption: AbortSignal) =>
  (endpoint: Endpoint): number => {
    const deadlineMs = deadlineMsOf(endpoint, timeoutMs);
    return interruption.aborted ? Math.min(CLEANUP_DEADLINE_MS, deadlineMs) : deadlineMs;
  };

/**
 * Returns a signal that ends requests like a deadline when the run is interrupted. Dispose of it to
 * release the signal of the run, which may outlive it.
 */
export function createInterruption(
  signal: AbortSignal | undefined,
): Disposable & { signal: AbortSignal } {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new DeadlinePassed(INTERRUPTED));
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt, { once: true });
  return {
    signal: interruption.signal,
    [Symbol.dispose]: () => signal?.removeEventListener('abort', interrupt),
  };
}
