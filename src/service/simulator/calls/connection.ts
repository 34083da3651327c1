import type { Clock } from '../../../platform/clock.ts';
import { isObject } from '../../../platform/json.ts';
import type { Pacer } from '../../../platform/pacer.ts';
import {
  CallError,
  Microphone,
  OutgoingCall,
  type CallMessage,
  type OutgoingCallOptions,
  type VoiceTarget,
} from '../../../voice/call/index.ts';
import type { LineImpairment } from '../../../voice/line-impairment/index.ts';
import type { Clip } from '../../../voice/opus/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import { toSessionError } from './call-failure.ts';

/** Receivers may cut longer captions. */
const CAPTION_CHARS_MAX = 2_000;

/** How to place the call, and its callbacks, which must not throw. */
export interface ConnectionOptions extends Pick<OutgoingCallOptions, 'onPacket' | 'onMessage'> {
  clock: Clock;
  /** Shared by all calls of the simulation. */
  pacer: Pacer;
  target: VoiceTarget;
  /** Noise and a bad network on the way to the agent. */
  impairment: LineImpairment | undefined;
  /** Called for each sent frame, with its lateness in milliseconds. */
  onSent: (payload: Buffer, lateMs: number) => void;
}

/** The call of a session: places it, speaks into it, and knows how it ended. */
export class CallConnection {
  readonly #options: ConnectionOptions;
  readonly #call: OutgoingCall;
  /** Aborts with the reason when the call ends. */
  readonly #ended = new AbortController();
  #microphone: Microphone | undefined;
  #supportsCaptions = false;
  #connectedAtMs = 0;

  constructor(options: ConnectionOptions) {
    const { clock, target, onPacket, onMessage } = options;
    this.#options = options;
    this.#call = new OutgoingCall({
      clock,
      target,
      onPacket,
      ...(onMessage && { onMessage }),
      onEnd: (error) => this.#end(error),
    });
  }

  /** Aborts with the reason when the call ends, unless we hang up. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** When media could flow, on the monotonic clock; 0 before. */
  get connectedAtMs(): number {
    return this.#connectedAtMs;
  }

  /** The payload type of received Opus packets; -1 before it is negotiated. */
  get payloadType(): number {
    return this.#call.payloadType;
  }

  /** The last error that the sandbox sent; empty if it sent none. */
  get error(): string {
    return this.#call.error;
  }

  /**
   * Places the call. `onConnected` is called when media can flow, before the first frame is sent.
   * @throws SessionError, or the signal's reason.
   */
  async open(
    startFields: CallMessage,
    onConnected: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, pacer, onSent, impairment } = this.#options;
    const hangUp = (): void => void this.#call.hangUp();
    signal.throwIfAborted();
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      const { ready } = await this.#call.place(startFields);
      const { metadata } = ready;
      this.#supportsCaptions = isObject(metadata) && metadata['captions'] === true;
      const peer = await this.#call.connect();
      this.#connectedAtMs = clock.monotonicMs();
      onConnected();
      this.#microphone = new Microphone({ peer, clock, pacer, onSent, impairment });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof CallError ? toSessionError(error) : error;
    } finally {
      signal.removeEventListener('abort', hangUp);
    }
  }

  /** Sends the text of a line, if the agent supports captions, an extension. */
  sendCaption(text: string): void {
    if (!this.#supportsCaptions) return;
    this.#call.send({ type: 'caption', text: text.slice(0, CAPTION_CHARS_MAX) });
  }

  /**
   * Plays a clip. Returns when its speech was; undefined if the call ends first. An abort stops it.
   * @throws the signal's reason.
   */
  async play(clip: Clip, signal: AbortSignal): Promise<SpeechSpan | undefined> {
    const stopSpeaking = (): void => this.#microphone?.stop();
    signal.throwIfAborted();
    signal.addEventListener('abort', stopSpeaking, { once: true });
    try {
      const speech = await this.playToEnd(clip);
      signal.throwIfAborted();
      return speech;
    } finally {
      signal.removeEventListener('abort', stopSpeaking);
    }
  }

  /** Plays a clip. Returns when its speech was; undefined if the call ends first. */
  async playToEnd(clip: Clip): Promise<SpeechSpan | undefined> {
    return await this.#microphone?.say(clip);
  }

  /**
   * Whether the agent has hung up normally, at the end of the conversation. An agent that has said
   * nothing yet (`hasSpoken`) has no conversation to end.
   * @throws SessionError if the call failed.
   */
  hasHungUp(hasSpoken: boolean): boolean {
    if (!this.ended.aborted) return false;
    const error: unknown = this.ended.reason;
    if (!(error instanceof CallError)) throw error;
    if (error.kind === 'dropped' && error.closeCode === 1000 && hasSpoken) return true;
    throw toSessionError(error);
  }

  /** Hangs up. Never rejects. */
  async close(): Promise<void> {
    this.#microphone?.stop();
    this.#options.impairment?.close();
    await this.#call.hangUp();
  }

  #end(error: CallError): void {
    this.#ended.abort(error);
    this.#microphone?.stop();
  }
}
