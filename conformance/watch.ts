import { SERVICE_API_KEY_HEADER } from '../src/contract/index.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Connection } from '../src/platform/connection.ts';
import { isObject, parseJson } from '../src/platform/json.ts';
import { isLoopbackUrl } from '../src/platform/loopback.ts';
import { suiteOf } from './areas/index.ts';
import { areas, type CheckSettings } from './check.ts';
import { createHttpClient, type Outcome } from './engine/drive/http-client.ts';
import { isUp } from './engine/transcript/crashes.ts';

/** The state of a peer according to `GET /health`. */
export interface PeerState {
  isUp: boolean;
  /** Fields that do not change while a process is healthy, such as the status and the version. */
  health: Readonly<Record<string, unknown>>;
  /** Seconds since the process started, if the peer reports them. */
  uptime: number | undefined;
}

/** Options of `waitForChange`. */
export interface WatchOptions {
  clock: Clock;
  poll: () => Promise<PeerState>;
  /** The state before the wait. */
  before: PeerState;
  /** The noun for the peer in messages. */
  peer: string;
  /** Time between two requests. */
  intervalMs: number;
  /** Stops the wait. */
  signal: AbortSignal;
  /** Called once with a sentence for people when the peer stops responding. */
  onLost: (message: string) => void;
}

/** Polls on this machine are cheap, and a restart can be short. */
const LOCAL_INTERVAL_MS = 500;
const REMOTE_INTERVAL_MS = 2_000;
const POLL_DEADLINE_MS = 5_000;
/** A change counts after this number of equal responses, so that a restart in steps is one change. */
const SETTLED_POLLS = 2;

/** Returns the options to watch the peer of a check. */
export function watchOptionsOf(
  options: Pick<CheckSettings, 'target' | 'areas' | 'apiKey' | 'apiKeyHeader' | 'ca'> & Connection,
  clock: Clock,
): Pick<WatchOptions, 'clock' | 'poll' | 'peer' | 'intervalMs'> {
  const { target, apiKey, apiKeyHeader = SERVICE_API_KEY_HEADER, ca } = options;
  const { headers: more, clientCertificate, proxies } = options;
  const suite = suiteOf({ areas: options.areas ?? areas });
  const key = apiKey === undefined ? {} : suite.authorize(apiKey, apiKeyHeader);
  const headers = { ...more, ...key };
  const client = createHttpClient({
    target,
    clock,
    ca,
    connection: { clientCertificate, proxies },
  });
  return {
    clock,
    peer: suite.peer,
    intervalMs: isLoopbackUrl(target) ? LOCAL_INTERVAL_MS : REMOTE_INTERVAL_MS,
    // Each poll uses a new connection, so that the watch keeps no connection open.
    poll: async () =>
      stateOf(await client.send({ method: 'GET', path: '/health', headers }, POLL_DEADLINE_MS)),
  };
}

/** Fields of a health response that change only after an event, such as a deployment. */
const STABLE = ['status', 'version', 'webrtc_status', 'dependencies'] as const;

function stateOf({ response }: Outcome): PeerState {
  const body = parseJson(response?.body);
  const health = isObject(body) ? body : {};
  const { uptime } = health;
  return {
    isUp: isUp({ response }),
    health: {
      http: response?.status,
      ...Object.fromEntries(STABLE.map((name) => [name, health[name]])),
    },
    uptime: typeof uptime === 'number' ? uptime : undefined,
  };
}

/**
 * Waits until a peer comes back, restarts, or reports another version or health, and two responses
 * in a row agree. Returns a sentence about the change; undefined if the signal stopped the wait.
 */
export async function waitForChange(options: WatchOptions): Promise<string | undefined> {
  const { clock, poll, peer, intervalMs, signal, onLost } = options;
  let { before } = options;
  let wasLost = !before.isUp;
  let isRestarted = false;
  let candidate = before;
  let repeats = 0;
  if (wasLost) onLost(describeLoss(peer));
  for (;;) {
    await clock.sleep(intervalMs, signal).catch(() => undefined);
    if (signal.aborted) return undefined;
    const now = await poll();
    if (!now.isUp) {
      if (!wasLost) onLost(describeLoss(peer));
      wasLost = true;
      repeats = 0;
      continue;
    }
    isRestarted ||= (now.uptime ?? 0) < (candidate.uptime ?? 0);
    repeats = isSameHealth(now, candidate) ? repeats + 1 : 1;
    candidate = now;
    if (repeats < SETTLED_POLLS) continue;
    if (wasLost) return `The ${peer} responds again.`;
    if (isRestarted) return `The ${peer} restarted.`;
    if (!isSameHealth(now, before)) return describeHealthChange(before, now, peer);
    before = now;
  }
}

const describeLoss = (peer: string): string =>
  `The ${peer} does not respond. Waiting for it to come back.`;

const isSameHealth = (left: PeerState, right: PeerState): boolean =>
  JSON.stringify(left.health) === JSON.stringify(right.health);

function describeHealthChange(before: PeerState, now: PeerState, peer: string): string {
  for (const name of ['version', 'status'] as const) {
    const [was, is] = [before.health[name], now.health[name]];
    if (was === is || typeof was !== 'string' || typeof is !== 'string') continue;
    return `The ${name} of the ${peer} changed from ${shorten(was)} to ${shorten(is)}.`;
  }
  return `The health response of the ${peer} changed.`;
}

const TEXT_LENGTH_MAX = 40;

const shorten = (text: string): string => JSON.stringify(text.slice(0, TEXT_LENGTH_MAX));
