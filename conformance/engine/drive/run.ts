import { serviceApiKeyHeader } from '../../../src/contract/index.ts';
import type { Area, Endpoint, RunRecord } from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { isoTime, type Clock } from '../../../src/platform/clock.ts';
import { findBlockingCause } from '../preflight/preflight.ts';
import { isServiceRun } from '../../areas/index.ts';
import {
  cleanup,
  clockReset,
  probes,
  serviceProbes,
  createServiceContext,
  createVoiceContext,
  type Cost,
  type SimulatedUsers,
  type Phase,
  type Probe,
} from '../../areas/probes.ts';
import { PREFLIGHT } from '../transcript/reading.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';
import { httpClient, type HttpClient } from './http-client.ts';
import { recorder, type Recorder } from './recorder.ts';
import { sender, type Sender } from './sender.ts';
import { createRequestLimiter } from './request-limiter.ts';
import type { Caller } from './call/caller.ts';
import { voiceOptions, type VoiceOptions } from './call/options.ts';

/** What to check, and how. */
export interface DriveOptions {
  /** Base URL of the sandbox. */
  target: string;
  areas: readonly Area[];
  /** The sandbox's bearer key, or the key of the service; undefined to send none. */
  apiKey: string | undefined;
  /** Lower-case name of the header that holds the service's key; `x-service-api-key`. */
  apiKeyHeader?: string | undefined;
  /** Of a service: send what is large, many or slow as well. */
  intrusive?: boolean;
  /** PEM of a CA to trust besides the system's. */
  ca: string | undefined;
  /** Every id of the run follows from it. */
  seed: string;
  kitVersion: string;
  clock: Clock;
  /** Requests in flight at most. */
  concurrency: number;
  /** Requests a second at most. */
  ratePerSecond: number | undefined;
  /** Milliseconds until a chat or users request counts as unanswered. */
  timeoutMs: number;
  allowHttp: boolean;
  /** How the voice endpoint is reached, where not as it usually is. */
  voice?: Partial<VoiceOptions> | undefined;
  /** Messages that may make the agent use a tool. */
  prompts: readonly string[];
  /** Stop after the preflight. */
  preflightOnly: boolean;
  /** Drive these scenarios and the preflight alone; all when left out. */
  probes?: readonly string[] | undefined;
  /** Told after every exchange. */
  onExchange: (exchange: Exchange) => void;
  /** Interrupts the run: nothing more is sent but what deletes the users that it created. */
  signal?: AbortSignal | undefined;
}

/** The name of this set of requirements, recorded with every run. */
export const SUITE = '2026-11';

/** What `GET /health` may take: the service gives up after 10 s, and a little is ours. */
const HEALTH_DEADLINE_MS = 10_250;

/** What a run would send, before it sends anything. */
export interface Plan extends Cost {
  probes: readonly Probe[];
}

/** The scenarios of some areas with what they cost, 429s apart. */
export function plan(
  options: Pick<DriveOptions, 'areas' | 'prompts' | 'preflightOnly' | 'intrusive' | 'probes'>,
): Plan {
  const suite = isServiceRun(options) ? serviceProbes : probes;
  const chosen = suite.filter(
    (scenario) =>
      (options.areas.includes(scenario.area) || isFixture(scenario, options.areas)) &&
      (options.intrusive || !scenario.intrusive) &&
      (scenario.phase === 'preflight' || (options.probes?.includes(scenario.id) ?? true)) &&
      (!options.preflightOnly || scenario.id === PREFLIGHT || scenario.phase === 'cleanup'),
  );
  const total: Cost = { requests: 0, modelCalls: 0, users: 0, calls: 0 };
  for (const scenario of chosen) {
    const { requests, modelCalls, users, calls } = scenario.cost(options.prompts);
    total.requests += requests;
    total.modelCalls += modelCalls;
    total.users += users;
    total.calls += calls;
  }
  return { ...total, probes: chosen };
}

/**
 * Health is asked in every run, to tell a sandbox from an address with nothing there. Whoever
 * talks needs a user to talk as: one is created, and deleted at the end.
 */
function isFixture({ area, phase }: Probe, areas: readonly Area[]): boolean {
  if (area === 'health') return phase === 'preflight';
  const talks = areas.includes('chat') || areas.includes('voice');
  return talks && area === 'users' && ['preflight', 'cleanup'].includes(phase);
}

const PHASES: readonly Phase[] = [
  ...(['preflight', 'accepted', 'refused', 'after', 'cleanup', 'last', 'end'] as const),
];

/**
 * Drives a run: every scenario of a phase at once, phase after phase, and nothing after a preflight
 * that found no sandbox. Never rejects for what a sandbox does.
 */
export async function drive(options: DriveOptions): Promise<Transcript> {
  const { clock, seed, prompts } = options;
  const isInterrupted = (): boolean => options.signal?.aborted ?? false;
  const run = runRecord(options);
  const client = httpClient({
    target: options.target,
    clock,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const service = createServiceContext({
    clock,
    random: seededRandom(`${seed}/${run.startedAt}`),
    intrusive: options.intrusive ?? false,
    signal: options.signal,
  });
  const given = options.apiKey === undefined ? [] : [options.apiKey];
  const records = recorder(
    [...given, ...service.runKeys()],
    options.apiKeyHeader ?? serviceApiKeyHeader,
  );
  const send = await senderOf(options, { client, records, isInterrupted });
  const users: SimulatedUsers = {
    chatAs: undefined,
    isUnsupported: false,
    existing: new Set(),
    wronglyAccepted: new Set(),
  };
  const voice = createVoiceContext();
  const start = (scenario: Probe): Promise<void> =>
    scenario.run({
      send: (step) => send(scenario.id, step),
      users,
      random: seededRandom(`${seed}/${scenario.area}/${scenario.id}`),
      prompts,
      service,
      voice,
    });
  try {
    const chosen = plan(options).probes;
    for (const phase of PHASES) {
      await Promise.all(chosen.filter((scenario) => scenario.phase === phase).map(start));
      if (phase === 'preflight' && findBlockingCause({ run, exchanges: records.exchanges })) break;
    }
  } finally {
    await client.close();
  }
  const interrupted = isInterrupted() ? { interrupted: true } : {};
  return { run: { ...run, ...interrupted }, exchanges: records.exchanges };
}

/** The sender of a run, with a caller where it has calls to place. */
async function senderOf(
  options: DriveOptions,
  run: { client: HttpClient; records: Recorder; isInterrupted: () => boolean },
): Promise<Sender> {
  const { clock, ratePerSecond, concurrency, apiKey, apiKeyHeader = serviceApiKeyHeader } = options;
  return sender({
    client: run.client,
    caller: options.areas.includes('voice') ? await callerOf(options) : undefined,
    clock,
    requestLimiter: createRequestLimiter({
      clock,
      concurrency,
      ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    }),
    callLimiter: createRequestLimiter({ clock, concurrency: CALLS_AT_ONCE }),
    recorder: run.records,
    keys: {
      apiKey,
      apiKeyHeader,
      voicePath: new URL(voiceOptions(options.target, options.voice).url).pathname,
    },
    deadlineMs: deadlines(options.timeoutMs),
    onExchange: options.onExchange,
    stopped: (scenario) => run.isInterrupted() && !TIDYING.includes(scenario),
  });
}

/** What an interrupted run still does: it leaves nothing behind that was not there before. */
const TIDYING: readonly string[] = [cleanup.id, clockReset.id];

/** Calls at once at most: two of them are what is to be kept apart. */
const CALLS_AT_ONCE = 4;

/** What calls needs a moment to load, and most runs have none. */
async function callerOf({ clock, target, voice, ca, signal }: DriveOptions): Promise<Caller> {
  const { caller } = await import('./call/caller.ts');
  const { url: voiceUrl, answerForm, mediaAddress, onAudio } = voiceOptions(target, voice);
  const never = new AbortController().signal;
  return caller({
    clock,
    voiceUrl,
    ca,
    answerForm,
    mediaAddress,
    onAudio,
    signal: signal ?? never,
  });
}

function runRecord(options: DriveOptions): RunRecord {
  return {
    record: 'run',
    kitVersion: options.kitVersion,
    suite: SUITE,
    target: options.target,
    seed: options.seed,
    startedAt: isoTime(options.clock.nowMs()),
    areas: [...options.areas],
    allowHttp: options.allowHttp,
    keyGiven: options.apiKey !== undefined,
    concurrency: options.concurrency,
    ...(options.areas.includes('voice') && {
      voiceUrl: voiceOptions(options.target, options.voice).url,
    }),
    ...(isServiceRun(options) && { intrusive: options.intrusive ?? false }),
    ...(options.apiKeyHeader !== undefined && { apiKeyHeader: options.apiKeyHeader }),
  };
}

const deadlines =
  (timeoutMs: number) =>
  (endpoint: Endpoint): number =>
    endpoint === 'health' ? HEALTH_DEADLINE_MS : timeoutMs;
