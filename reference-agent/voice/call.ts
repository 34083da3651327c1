import type { RawData, WebSocket } from 'ws';
import type { ConversationUpdate } from '../../src/contract/index.ts';
import type { Clock, Deadline } from '../../src/platform/clock.ts';
import type { Log } from '../../src/platform/log.ts';
import type { AudioPacket, Peer, PeerNetwork } from '../../src/voice/peer/index.ts';
import type { CallFaults } from './call-faults.ts';
import type { CallRecord } from './call-record.ts';
import {
  endingResponses,
  isEnding,
  nextStep,
  type CallEvent,
  type CallState,
  type Ending,
} from './call-states.ts';
import { CaptionDialogue, type CaptionServices } from './caption-dialogue.ts';
import { loadMediaModules, type Media, type MediaModules } from './media.ts';
import {
  createCallReady,
  createTurnUpdate,
  createGreetingUpdate,
  findIdMismatch,
  readMessage,
  readStart,
  createErrorMessage,
  type CallRequest,
  type CallerMessage,
  type CallIds,
} from './messages.ts';
import type { Pacer } from '../../src/platform/pacer.ts';
import { readOpusPayloadType } from '../../src/voice/call/messages.ts';
import { PeerError } from '../../src/voice/peer/peer.ts';
import { Echo } from './echo.ts';
import { Conversation } from './conversation.ts';
import type { VoiceLimits } from './voice-limits.ts';
import { isError } from '../../src/platform/error-origin.ts';

/** What all calls share. */
export interface CallParts {
  clock: Clock;
  log: Log;
  limits: VoiceLimits;
  network: PeerNetwork;
  pacer: Pacer;
  /** Whether another call may start. */
  hasRoom: () => boolean;
  /** Undefined if the agent does not support captions. */
  captions: CaptionServices | undefined;
}

/** What comes with an event of a call. */
interface EventDetails {
  /** The offer of the agent, or the answer of the caller. */
  sdp?: string;
  /** What is wrong, for the caller. */
  problem?: string;
}

/** One call over one WebSocket, from the first message to the last packet. */
export class Call {
  readonly record: CallRecord;
  /** Resolves when the call has ended and all its resources are released. */
  readonly over: Promise<void>;
  readonly #socket: WebSocket;
  readonly #parts: CallParts;
  readonly #faults: CallFaults;
  /** Aborts when the call ends, and with it every pending wait. */
  readonly #life = new AbortController();
  #state: CallState = 'waiting';
  #limit: Deadline | undefined;
  #request: CallRequest | undefined;
  #peer: Peer | undefined;
  #modules: MediaModules | undefined;
  #media: Media | undefined;
  #captions: CaptionDialogue | undefined;
  #messages = 0;

  constructor(socket: WebSocket, parts: CallParts, faults: CallFaults, record: CallRecord) {
    this.#socket = socket;
    this.#parts = parts;
    this.#faults = faults;
    this.record = record;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    // A violation of the WebSocket protocol: ws closes the socket and reports the reason to the
    // caller.
    socket.on('error', () => undefined);
    this.over = new Promise((resolve) => {
      socket.on('close', () => {
        this.#step('disconnected');
        void Promise.resolve(this.#peer?.close()).then(resolve);
      });
    });
    this.#setLimit('waiting');
  }

  get state(): CallState {
    return this.#state;
  }

  /** Ends the call from the agent's side. */
  end(ending: Ending): void {
    this.#step(ending);
  }

  /** The only place where the state changes. */
  #step(event: CallEvent, { sdp = '', problem = '' }: EventDetails = {}): void {
    const step = nextStep(this.#state, event);
    if (!step) return;
    this.#state = step.state;
    this.record.state = step.state;
    this.#setLimit(step.state);
    const { action } = step;
    if (isEnding(action)) {
      this.#finish(action, problem);
    } else if (action === 'create_offer') {
      void this.#createOffer().catch((error: unknown) => this.#fail(error));
    } else if (action === 'send_offer') {
      this.#sendOffer(sdp);
    } else if (action === 'accept_answer') {
      void this.#acceptAnswer(sdp).catch((error: unknown) => this.#fail(error));
    } else {
      this.#startMedia();
    }
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#messages += 1;
    if (this.#messages > this.#parts.limits.messagesMax) {
      this.#step('too_many_messages', {
        problem: `a call may have at most ${this.#parts.limits.messagesMax} messages`,
      });
    } else if (isBinary) {
      this.#step('not_text', { problem: 'expected JSON in a text frame, got a binary frame' });
    } else {
      // ws has verified that a text frame is UTF-8, and passes it as one Buffer.
      const text = (data as Buffer).toString('utf8');
      const read = readMessage(text, this.#parts.captions !== undefined);
      if (read.kind === 'message') this.#handleMessage(read.message);
      else if (read.kind === 'invalid') this.#step('bad_message', { problem: read.problem });
      else this.record.unknownMessages += 1;
    }
  }

  #handleMessage(message: CallerMessage): void {
    switch (message.type) {
      case 'start_call':
        if (this.#state === 'waiting') this.#start(readStart(message));
        else this.#step('start_requested');
        return;
      case 'webrtc_answer': {
        const mismatch = findIdMismatch(message, this.#ids);
        const { sdp } = message.webrtc_answer;
        if (mismatch !== undefined) this.#step('bad_message', { problem: mismatch });
        else if (readOpusPayloadType(sdp) === undefined)
          this.#step('codec_refused', { problem: 'The answer does not include Opus.' });
        else this.#step('answered', { sdp });
        return;
      }
      case 'ice_candidate':
        if (findIdMismatch(message, this.#ids) === undefined) {
          void this.#peer?.addCandidate(message.candidate.candidate);
        }
        return;
      case 'caption': {
        const mismatch = findIdMismatch(message, this.#ids);
        if (mismatch !== undefined) this.#step('bad_message', { problem: mismatch });
        else this.#captions?.add(message.text);
        this.record.captions += 1;
        return;
      }
      case 'end_call':
        this.#step('end_requested');
    }
  }

  /** Starts the call that the caller requests, or rejects it. */
  #start(request: CallRequest): void {
    const { captions, hasRoom } = this.#parts;
    const { sessionId, isEcho, rejection } = request;
    this.#request = request;
    this.record.sessionId = sessionId;
    this.record.isEcho = isEcho;
    if (captions && !isEcho) {
      this.#captions = new CaptionDialogue(captions, request, this.#life.signal);
    }
    if (rejection !== undefined) {
      this.#step('codec_refused', { problem: rejection });
    } else if (!hasRoom()) {
      this.#step('too_many_calls', { problem: 'try again when a call has ended' });
    } else {
      this.#step('start_requested');
    }
  }

  async #createOffer(): Promise<void> {
    const { clock, network } = this.#parts;
    if (this.#faults.offerDelayMs > 0) {
      await clock.sleep(this.#faults.offerDelayMs, this.#life.signal);
    }
    this.#modules = await loadMediaModules();
    if (this.#life.signal.aborted) return;
    this.#peer = this.#modules.createPeer({
      clock,
      network,
      onPacket: (packet) => this.#hear(packet),
      onState: (state) => {
        // While connecting, `waitUntilConnected` reports the reason.
        if (state === 'failed' && this.#state === 'talking')
          this.#step('connection_lost', { problem: 'the other side is no longer reachable' });
      },
    });
    this.#step('offer_created', { sdp: await this.#peer.createOffer() });
  }

  #sendOffer(sdp: string): void {
    this.record.readyMs = this.#parts.clock.monotonicMs();
    const text = JSON.stringify(
      createCallReady(this.#ids, this.#faults.corruptOffer(sdp), this.#captions !== undefined),
    );
    this.#send(this.#faults.truncatesReady ? text.slice(0, text.length / 2) : text);
  }

  async #acceptAnswer(sdp: string): Promise<void> {
    const [peer, modules] = [this.#peer, this.#modules];
    if (!peer || !modules) return;
    try {
      await peer.acceptAnswer(sdp);
    } catch (error) {
      this.#step('bad_message', { problem: isError(error) ? error.message : '' });
      return;
    }
    await peer.waitUntilConnected(this.#life.signal);
    this.#media = await this.#createMedia(peer, modules);
    if (this.#life.signal.aborted) this.#media.close();
    else this.#step('connected');
  }

  /** Creates the media that the caller requested: a conversation, or an echo. */
  async #createMedia(peer: Peer, { createDecoder, repertoire }: MediaModules): Promise<Media> {
    const { limits, clock } = this.#parts;
    const [captions, request, record] = [this.#captions, this.#request, this.record];
    const send = this.#faults.corruptMedia((payload, timestamp) => {
      const isSent = peer.send(payload, timestamp);
      if (isSent) record.packetsSent += 1;
      return isSent;
    });
    if (request?.isEcho) return new Echo(send, this.#faults.drawEchoDelayMs);
    const sendUpdate = (update: ConversationUpdate): void => this.#send(JSON.stringify(update));
    return new Conversation({
      clock,
      decoder: await createDecoder(),
      faults: this.#faults.conversation,
      repertoire,
      record,
      scenarioId: request?.scenarioId ?? '',
      hangOverMs: limits.hangOverMs,
      yieldMs: limits.yieldMs,
      send,
      captions,
      onTurn: (turn) => {
        // An extension, like the update of the greeting.
        if (turn.spoken === undefined || request?.wantsCaptions === true)
          sendUpdate(createTurnUpdate(this.#ids, turn));
      },
      onGreeting: (greeting, spoken) => {
        if (captions && request?.wantsCaptions)
          sendUpdate(createGreetingUpdate(this.#ids, greeting, spoken));
      },
    });
  }

  #startMedia(): void {
    const { clock, pacer } = this.#parts;
    this.record.connectedMs = clock.monotonicMs();
    if (this.#media) pacer.add(this.#media);
    const { dropAfterMs } = this.#faults;
    if (dropAfterMs === undefined) return;
    clock.sleep(dropAfterMs, this.#life.signal).then(
      () => this.#step('dropped'),
      () => undefined,
    );
  }

  #hear(packet: AudioPacket): void {
    this.record.packetsReceived += 1;
    if (this.#state === 'talking') this.#media?.hear(packet);
  }

  #fail(error: unknown): void {
    if (error instanceof PeerError) this.#step('connection_lost', { problem: error.message });
    else this.#step('broken');
  }

  #finish(ending: Ending, problem: string): void {
    const { clock, pacer, log } = this.#parts;
    const { closeCode, error } = endingResponses[ending];
    this.#life.abort(new Error(`the call is over: ${ending}`));
    Object.assign(this.record, { ending, closeCode, endedMs: clock.monotonicMs() });
    if (this.#media) {
      pacer.remove(this.#media);
      this.#media.close();
    }
    void this.#peer?.close();
    const { callId, packetsSent, packetsReceived } = this.record;
    log.info('call_ended', {
      call_id: callId,
      ending,
      packets_sent: packetsSent,
      packets_received: packetsReceived,
    });
    if (closeCode === undefined) {
      this.#socket.terminate();
      return;
    }
    if (error) this.#send(JSON.stringify(createErrorMessage(error, problem)));
    this.#socket.close(closeCode, ending);
    const closing = clock.deadline(this.#parts.limits.closeMsMax);
    closing.signal.addEventListener('abort', () => this.#socket.terminate());
    this.#socket.once('close', () => closing[Symbol.dispose]());
  }

  #send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
  }

  #setLimit(state: CallState): void {
    this.#limit?.[Symbol.dispose]();
    if (state === 'over') return;
    const { limits, clock } = this.#parts;
    const extraMs = state === 'preparing' ? this.#faults.offerDelayMs : 0;
    this.#limit = clock.deadline(limits.stateMsMax[state] + extraMs);
    this.#limit.signal.addEventListener('abort', () => {
      this.#step('timed_out', { problem: `the call was ${state} for too long` });
    });
  }

  get #ids(): CallIds {
    return { callId: this.record.callId, sessionId: this.record.sessionId };
  }
}
