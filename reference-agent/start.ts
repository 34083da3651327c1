import { isLoopbackHost } from '../src/platform/loopback.ts';
import { isIP, type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { AgentFault } from '../src/contract/index.ts';
import { seededRandom } from '../src/platform/random.ts';
import { systemClock, type Clock } from '../src/platform/clock.ts';
import { silentLog, type Log } from '../src/platform/log.ts';
import { checkOptions } from '../src/platform/option-kinds.ts';
import { agentOptionKinds } from './agent-option-kinds.ts';
import { buildAgent, type AgentParts } from './agent.ts';
import { chat, type ChatDeps } from './chat.ts';
import { StartError, withStartError } from './errors.ts';
import { createFaultInjector, parseFault, toFaults } from './faults.ts';
import { createAuthentication } from './authentication.ts';
import { createHealthCheck } from './health.ts';
import { createJournal } from './journal.ts';
import { prompter, type Script } from './script.ts';
import { keyPairFor, type TlsOptions } from './tls.ts';
import { createUsers } from './users.ts';
import type { VoiceSettings } from './voice/voice-limits.ts';
import { VOICE_PATH } from './voice/upgrade.ts';
import {
  createVoiceServer,
  type VoiceServer,
  type VoiceServerOptions,
} from './voice/voice-server.ts';

/** How an agent is started. */
export interface AgentOptions {
  /** Where to listen; `127.0.0.1`. */
  host: string;
  /** 0, the default, takes a free one. */
  port: number;
  /** The bearer key that callers must present; null, the default, for none. */
  apiKey: string | null;
  /** Allows an agent without a key to listen beyond loopback. */
  open: boolean;
  /** All ids and waits follow from it; `reference`. */
  seed: string;
  clock: Clock;
  log: Log;
  /** Plain http when null, the default. */
  tls: TlsOptions | null;
  /** Faults that show from the start. */
  faults: AgentFault[];
  /** Replies that come before the agent's own. */
  script: Script | null;
  /** Limits of calls, and where their media can be reached; null for an agent without voice. */
  voice: VoiceOptions | null;
  /** How many requests `/__admin/requests` remembers; 1000. */
  journalEntriesMax: number;
  /** Whether it remembers what was said, too; false. */
  journalBodies: boolean;
}

/** How an agent takes calls. */
export interface VoiceOptions extends VoiceSettings {
  /** The address that media is sent from and taken at; `host`, or loopback where that is no IP. */
  address?: string;
  /** UDP ports for media, both included; any free ones when left out. */
  ports?: readonly [number, number];
}

/** An agent that listens. */
export interface RunningAgent {
  /** Its base address, without a slash at the end. */
  url: string;
  /** The address of its voice WebSocket; null where it takes no calls. */
  voiceUrl: string | null;
  apiKey: string | null;
  /** The certificate to trust as CA, PEM; where the agent made one, else null. */
  caPem: string | null;
  /** Takes no more connections, finishes what it is at, hangs up, and ends after 5 s at the latest. */
  stop(): Promise<void>;
}

const stopMsMax = 5_000;

/**
 * Starts a sandbox that obeys area B of the interface, or breaks it on demand.
 * @throws StartError that says what to change: beyond loopback without a key, a port that is
 * taken, a certificate that can't be read or used, faults that make no sense.
 * @throws TypeError about an option that is unknown or of another type.
 */
export async function startAgent(options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  checkOptions('startAgent', options, agentOptionKinds);
  const { host = '127.0.0.1', port = 0, apiKey = null, open = false, tls = null } = options;
  const { clock = systemClock, log = silentLog, seed = 'reference', script = null } = options;
  if (apiKey === '') throw new StartError('the API key is empty; leave it out to have none');
  if (apiKey === null && !isLoopbackHost(host) && !open) {
    throw new StartError(
      `an agent on ${host} can be reached by others: give it an API key, or say that it is open`,
    );
  }
  const chance = seededRandom(seed);
  const keyPair = tls ? await keyPairFor(tls) : undefined;
  const journal = createJournal(options.journalEntriesMax ?? 1000);
  const stopping = new AbortController();
  const faults = createFaultInjector({
    clock,
    chance: chance.fork('latency'),
    options: withStartError(() => toFaults(options.faults ?? [])),
  });
  const shared = {
    clock,
    log,
    authentication: createAuthentication({ host, apiKey }),
    faults,
    journal,
  };
  const users = createUsers(clock);
  const chatDeps: ChatDeps = {
    seed,
    customerName: users.nameOf,
    prompter: script ? prompter(script) : undefined,
  };
  const calls = voiceOf(options, {
    ...shared,
    chance: chance.fork('voice'),
    chat: (request) => chat(chatDeps, request),
  });
  const app = createAgent({
    ...shared,
    seed,
    users,
    journalBodies: options.journalBodies ?? false,
    health: createHealthCheck({ clock, traffic: journal.traffic, hasVoice: calls !== undefined }),
    prompter: chatDeps.prompter,
    voice: calls,
    keyPair,
    pause: (ms) => pause(clock, ms, stopping.signal),
  });
  await listen(app, host, port);
  const url = addressOf(app, host, keyPair ? 'https' : 'http');
  log.info('agent listens', { url });
  let stopped: Promise<void> | undefined;
  return {
    url,
    voiceUrl: calls ? url.replace(/^http/, 'ws') + VOICE_PATH : null,
    apiKey,
    caPem: tls?.kind === 'made' && keyPair ? keyPair.cert : null,
    stop: () => (stopped ??= stop(app, calls, clock, stopping)),
  };
}

/** The voice side of an agent, unless it is to have none. */
function voiceOf(
  { host = '127.0.0.1', voice: given = {} }: Partial<AgentOptions>,
  parts: Omit<VoiceServerOptions, 'settings' | 'network'>,
): VoiceServer | undefined {
  if (given === null) return undefined;
  const { address = isIP(host) > 0 && !isAnyAddress(host) ? host : undefined, ports } = given;
  const network = { ...(address !== undefined && { address }), ...(ports && { ports }) };
  return createVoiceServer({ ...parts, settings: given, network });
}

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** A certificate that can't be used shows when the server is made. */
function createAgent(parts: AgentParts): FastifyInstance {
  try {
    return buildAgent(parts);
  } catch (error) {
    if (!parts.keyPair) throw error;
    const why = error instanceof Error ? error.message : '';
    throw new StartError(`the certificate can't be used: ${why}`, { cause: error });
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const why = error instanceof Error ? error.message : '';
    throw new StartError(`can't listen on ${host}, port ${port}: ${why}`, { cause: error });
  }
}

async function stop(
  app: FastifyInstance,
  calls: VoiceServer | undefined,
  clock: Clock,
  stopping: AbortController,
): Promise<void> {
  // Requests that wait out a latency answer now.
  stopping.abort();
  // A connection that is in use is idle right after; it must not be kept for a next request.
  app.server.keepAliveTimeout = 1;
  app.server.keepAliveTimeoutBuffer = 0;
  using deadline = clock.deadline(stopMsMax);
  deadline.signal.addEventListener('abort', () => app.server.closeAllConnections());
  // The server waits for the sockets of calls too.
  await Promise.all([calls?.stop(), app.close()]);
}

async function pause(clock: Clock, ms: number, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return;
  // Rejects only when the agent stops, and then there is nothing left to wait for.
  await clock.sleep(ms, stopping).catch(() => {});
}

/**
 * A fault from text, as a flag or a file has it: JSON of an AgentFault, or its short form such as
 * `rate_limit;route=chat;retry_after_s=1` or `latency;min_ms=100;max_ms=300`.
 * @throws StartError that says what is wrong.
 */
export function readFault(text: string): AgentFault {
  return withStartError(() => parseFault(text));
}

/** An address that a client of this machine can use. */
function addressOf(app: FastifyInstance, host: string, scheme: string): string {
  const { port } = app.server.address() as AddressInfo;
  const reachable = isAnyAddress(host) ? '127.0.0.1' : host;
  const name = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `${scheme}://${name}:${port}`;
}
