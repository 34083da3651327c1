import type { IncomingMessage, Server } from 'node:http';
import { createRequire } from 'node:module';
import type * as ws from 'ws';
import type { AgentFault } from '../../src/contract/index.ts';
import { findHostProblem } from '../../src/http-kit/local-access.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Log } from '../../src/platform/log.ts';
import type { PeerNetwork } from '../../src/voice/peer/index.ts';
import {
  isSynthesizerInstalled,
  createSpeechSynthesizer,
  SYNTHESIZER_PACKAGE,
  type SpeechSynthesizer,
} from '../../src/voice/speech/index.ts';
import type { Chat } from '../chat.ts';
import { RequestError, toRequestError } from '../errors.ts';
import { readInjectedFault, requestErrorOf } from '../fault-hook.ts';
import type { FaultInjector } from '../fault-injector.ts';
import type { Authentication } from '../authentication.ts';
import type { AgentJournal } from '../journal.ts';
import { Call, type CallParts } from './call.ts';
import type { AgentCalls } from '../controls.ts';
import { drawCallFaults } from './call-faults.ts';
import { createCallHistory, createCallRecord } from './call-record.ts';
import type { CaptionServices } from './caption-dialogue.ts';
import { handleUpgrades, type Upgrade } from '../../src/http-kit/upgrade.ts';
import { loadMediaModules } from './media.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { assertSubprotocol, isForVoice, rejectUpgrade, VOICE_PROTOCOL } from './upgrade.ts';
import { resolveVoiceLimits, type VoiceSettings } from './voice-limits.ts';

const requireLibrary = createRequire(import.meta.url);

/** What the voice endpoint needs from the rest of the agent. */
export interface VoiceServerOptions {
  clock: Clock;
  log: Log;
  random: Random;
  authentication: Authentication;
  faults: FaultInjector;
  journal: AgentJournal;
  settings: VoiceSettings;
  /** Replies to a caption like the chat endpoint. */
  chat: Chat;
  /** The addresses of the media. */
  network: PeerNetwork;
}

/** The voice endpoint of an agent (spec 4.9). It accepts calls once it is attached to a server. */
export class VoiceServer {
  readonly #options: VoiceServerOptions;
  readonly #callParts: CallParts;
  readonly #history = createCallHistory();
  readonly #calls = new Set<Call>();
  #sockets: ws.WebSocketServer | undefined;
  #speech: SpeechSynthesizer | undefined;
  #isStopping = false;

  constructor(options: VoiceServerOptions) {
    const { clock, log, network, settings } = options;
    const limits = resolveVoiceLimits(settings);
    this.#options = options;
    this.#callParts = {
      clock,
      log,
      limits,
      network,
      pacer: createPacer(clock),
      hasRoom: () => this.#countActiveCalls() < limits.callsMax,
      captions: this.#createCaptionServices(),
    };
  }

  /** Accepts calls on a server. */
  attach(server: Server): void {
    handleUpgrades(server, isForVoice, (upgrade) => this.#admit(upgrade));
  }

  /** Returns open and past calls, for `/__admin/calls`. */
  calls(): AgentCalls {
    return this.#history.view();
  }

  /** Removes the past calls. */
  clear(): void {
    this.#history.clear();
  }

  /** Ends all calls. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const call of this.#calls) call.end('stopping');
    await Promise.all([...this.#calls].map(({ over }) => over));
    await this.#speech?.close();
  }

  /** Loads `ws` when the first call arrives, so that an agent starts faster. */
  #createSockets(): ws.WebSocketServer {
    const { WebSocketServer } = requireLibrary('ws') as typeof ws;
    const sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: this.#callParts.limits.messageBytesMax,
      handleProtocols: () => VOICE_PROTOCOL,
    });
    sockets.on('wsClientError', (error, socket) => {
      rejectUpgrade(socket, new RequestError('bad_request', error.message));
    });
    return sockets;
  }

  /** An agent that can't speak its replies does not support captions. */
  #createCaptionServices(): CaptionServices | undefined {
    const { settings, chat, log } = this.#options;
    if (settings.captions === false) return undefined;
    if (!isSynthesizerInstalled()) {
      log.info('captions_disabled', { missing_package: SYNTHESIZER_PACKAGE });
      return undefined;
    }
    this.#speech = createSpeechSynthesizer({ speaker: 'agent' });
    return { chat, speech: this.#speech, log };
  }

  #countActiveCalls(): number {
    return [...this.#calls].filter(({ state }) => state !== 'waiting' && state !== 'over').length;
  }

  #admit(upgrade: Upgrade): void {
    const { request, socket, head } = upgrade;
    const startedMs = this.#options.clock.monotonicMs();
    try {
      const faults = this.#check(request);
      if (faults.some(({ kind }) => kind === 'dropped_connection')) {
        socket.destroy();
        this.#recordRequest(request, 0, startedMs);
        return;
      }
      this.#sockets ??= this.#createSockets();
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        this.#recordRequest(request, 101, startedMs);
        this.#begin(webSocket, faults);
      });
    } catch (error) {
      const refusal = toRequestError(error);
      rejectUpgrade(socket, refusal);
      this.#recordRequest(request, refusal.status, startedMs);
    }
  }

  /** Returns the faults to inject into a call. @throws RequestError. */
  #check(request: IncomingMessage): AgentFault[] {
    const { authentication, faults } = this.#options;
    const hostProblem = findHostProblem(request);
    if (hostProblem !== undefined) throw new RequestError('bad_request', hostProblem);
    authentication.checkOrigin(request);
    authentication.checkKey(request);
    assertSubprotocol(request);
    if (this.#isStopping) throw new RequestError('server_error', 'the agent is shutting down');
    if (this.#calls.size >= this.#callParts.limits.socketsMax) {
      throw new RequestError('rate_limit_exceeded', 'too many WebSockets are open');
    }
    const injectedFaults = faults.injectIntoCall(readInjectedFault(request, authentication));
    const refusal = injectedFaults.map(requestErrorOf).find((error) => error !== undefined);
    if (refusal) throw refusal;
    return injectedFaults;
  }

  #begin(socket: ws.WebSocket, injectedFaults: readonly AgentFault[]): void {
    const { clock, random } = this.#options;
    const callId = `call_${random.id(12)}`;
    const record = createCallRecord(callId, clock.nowMs(), clock.monotonicMs());
    const faults = drawCallFaults(injectedFaults, random.fork(callId));
    // Loading takes a moment, so it starts before the first message. A failure ends the call later.
    loadMediaModules().catch(() => undefined);
    const call = new Call(socket, this.#callParts, faults, record);
    this.#calls.add(call);
    this.#history.open(record);
    void call.over.then(() => {
      this.#calls.delete(call);
      this.#history.close(record);
    });
  }

  #recordRequest(
    { method = '', url = '' }: IncomingMessage,
    status: number,
    startedMs: number,
  ): void {
    const { clock, journal } = this.#options;
    journal.record({
      method,
      url,
      status,
      atMs: clock.nowMs(),
      durationMs: clock.monotonicMs() - startedMs,
      requestBytes: 0,
      responseBytes: 0,
    });
  }
}
