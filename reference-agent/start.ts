import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartError } from '../src/http-kit/errors.ts';
import { rejectFaults } from '../src/http-kit/faults.ts';
import { createJournal } from '../src/http-kit/journal.ts';
import {
  closeServer,
  isWildcardHost,
  listen,
  sleepUnlessStopping,
} from '../src/http-kit/listen.ts';
import { systemClock } from '../src/platform/clock.ts';
import { errorMessage } from '../src/platform/error-origin.ts';
import { silentLog } from '../src/platform/log.ts';
import { isLoopbackHost } from '../src/platform/loopback.ts';
import { optionsSchema, withDefaults } from '../src/options/table.ts';
import { validateOptions, rejectArguments } from '../src/platform/options.ts';
import { seededRandom } from '../src/platform/random.ts';
import { buildAgent, type Agent, type AgentParts } from './agent.ts';
import { createAuthentication } from './authentication.ts';
import { replyToChat, type Chat } from './chat.ts';
import type { AgentControls } from './controls.ts';
import { createFaultInjector } from './fault-injector.ts';
import { findFaultProblem } from './faults.ts';
import { createHealthCheck } from './health.ts';
import type { AgentJournalEntry } from './journal.ts';
import type { AgentOptions } from './generated/options.ts';
import { agentOptions, JOURNAL_ENTRIES } from './options.ts';
import { rejectScript } from './script.ts';
import { createScriptPlayer } from './script-player.ts';
import { loadKeyPair } from './tls.ts';
import { createUsers } from './users.ts';
import { VOICE_PATH } from './voice/upgrade.ts';
import { VoiceServer, type VoiceServerOptions } from './voice/voice-server.ts';

/** An agent that is listening, and its test controls. */
export interface RunningAgent extends AgentControls {
  /** Base URL, without a trailing slash. */
  url: string;
  /** URL of the voice WebSocket; null when voice is off. */
  voiceUrl: string | null;
  apiKey: string | null;
  /** The generated certificate to trust as CA, PEM; null when the agent did not generate one. */
  caPem: string | null;
  /**
   * Stops accepting connections, lets requests in progress finish, ends all calls, and resolves
   * after 5 s at most.
   */
  stop(): Promise<void>;
}

// Messages list the host first.
const { host: hostOption, ...otherOptions } = agentOptions;
const schema = optionsSchema({ host: hostOption, ...otherOptions });

/**
 * Starts a sandbox that obeys area B of the interface, or breaks it on demand.
 * @throws {TypeError} if an option is unknown or invalid, or an address other than loopback has no key.
 * @throws {SandboxKitError} `start_failed`, for example if the port is in use or a certificate can't
 * be used.
 */
export async function startAgent(options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  validateOptions('startAgent', schema, options);
  const settings = withDefaults(agentOptions, options);
  const { host, port = 0, apiKey = null, open, seed, tls = null } = settings;
  const { clock = systemClock, log = silentLog, journalBodies } = settings;
  checkAccess(host, apiKey, open);
  const optionFaults = settings.faults ?? [];
  rejectFaults('startAgent', optionFaults, findFaultProblem);
  if (settings.script) rejectScript('startAgent', settings.script);
  const random = seededRandom(seed);
  const keyPair = tls ? await loadKeyPair(tls) : undefined;
  const journal = createJournal<AgentJournalEntry>(settings.journalEntriesMax ?? JOURNAL_ENTRIES);
  const stopping = new AbortController();
  const faults = createFaultInjector({
    clock,
    random: random.fork('latency'),
    options: optionFaults,
  });
  const authentication = createAuthentication({ host, apiKey, open });
  const shared = { clock, log, authentication, faults, journal };
  const users = createUsers(clock);
  const script = settings.script ? createScriptPlayer(settings.script) : undefined;
  const chatOptions = { seed, findCustomerName: users.nameOf, script };
  const chat: Chat = (request) => replyToChat(chatOptions, request);
  const voice = createVoice(settings, { ...shared, random: random.fork('voice'), chat });
  const { app, controls } = createApp({
    ...shared,
    chat,
    script,
    users,
    journalBodies,
    health: createHealthCheck({ clock, totals: journal.totals, hasVoice: voice !== undefined }),
    voice,
    keyPair,
    pause: (ms) => sleepUnlessStopping(clock, ms, stopping.signal),
  });
  const url = await listenOrClose(app, { host, port, scheme: keyPair ? 'https' : 'http' });
  log.info('agent_listening', { url });
  const stop = async (): Promise<void> => {
    // Requests that wait for an injected latency respond now.
    stopping.abort();
    // The server also waits for the sockets of calls.
    await Promise.all([voice?.stop(), closeServer(app, clock)]);
  };
  let stopped: Promise<void> | undefined;
  return rejectArguments({
    ...controls,
    url,
    voiceUrl: voice ? url.replace(/^http/, 'ws') + VOICE_PATH : null,
    apiKey,
    caPem: tls?.kind === 'generated' && keyPair ? keyPair.cert : null,
    stop: () => (stopped ??= stop()),
  });
}

function checkAccess(host: string, apiKey: string | null, open: boolean): void {
  if (apiKey !== null || isLoopbackHost(host) || open) return;
  throw new TypeError(
    `startAgent: Other machines can reach an agent on ${host}. Set apiKey, or set open to allow access without a key.`,
  );
}

/** Creates the voice side of an agent, unless voice is turned off. */
function createVoice(
  { host, voice: settings = {} }: Pick<AgentOptions, 'host'> & Partial<AgentOptions>,
  parts: Omit<VoiceServerOptions, 'settings' | 'network'>,
): VoiceServer | undefined {
  if (settings === null) return undefined;
  const hostAddress = isIP(host) > 0 && !isWildcardHost(host) ? host : undefined;
  const { address = hostAddress, ports } = settings;
  const network = { ...(address !== undefined && { address }), ...(ports && { ports }) };
  return new VoiceServer({ ...parts, settings, network });
}

/** Node rejects an unusable certificate when the server is created. */
function createApp(parts: AgentParts): Agent {
  try {
    return buildAgent(parts);
  } catch (error) {
    if (!parts.keyPair) throw error;
    const message = `Can't use the certificate: ${errorMessage(error)}.`;
    throw new StartError(message, { cause: error });
  }
}

async function listenOrClose(
  app: FastifyInstance,
  address: Parameters<typeof listen>[1],
): Promise<string> {
  try {
    return await listen(app, address);
  } catch (error) {
    await app.close();
    throw error;
  }
}
