import { errorMessage } from '../../../../src/platform/error-origin.ts';
import type { WebSocket } from 'ws';
import type { CallEvent, RecordedCall } from '../../../../src/contract/index.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import type { Clip } from '../../../../src/voice/opus/index.ts';
import {
  createAnswerMessage,
  readCandidate,
  readOffer,
  parseMessage,
  type AnswerForm,
  type SocketListener,
  type CallAudio,
} from '../../../../src/voice/call/index.ts';
import type { Call, CallMessage, Connection } from './script.ts';
import type { MediaConnection } from './media-connection.ts';
import { roundTo } from '../../../../src/platform/round.ts';

/** Options of a probe call. */
export interface ProbeCallOptions {
  clock: Clock;
  /** Converts a time of the clock to milliseconds since the start of the run. */
  sinceRunMs: (atMs: number) => number;
  answerForm: AnswerForm;
  /** Creates the media connection for an offer. `onPacket` is called after every received packet. */
  createMedia: (offer: string, onPacket: () => void) => Promise<MediaConnection>;
  /** Aborted when the run is interrupted; ends the call. */
  signal: AbortSignal;
}

const EVENTS_MAX = 2_000;
/** The longest message of the kit that is recorded in full. */
const KIT_TEXT_LENGTH_MAX = 65_536;
/** The total length of the messages of the sandbox that are recorded in full. */
const SANDBOX_TEXTS_LENGTH_MAX = 4 * 1024 * 1024;
/** How much is recorded of each message beyond that total. */
const TEXT_START_LENGTH = 1_000;
const TOO_LARGE_CODE = 1009;
const CLOSE_MS_MAX = 2_000;
const POLL_MS = 50;
const NO_CLOSE_CODE = 1006;
/** The types of the messages that respond to `start_call`. */
const RESPONSE_TYPES: readonly unknown[] = ['call_ready', 'error'];

/** Runs one call for a script and records it. */
export class ProbeCall implements Call, SocketListener {
  readonly #options: ProbeCallOptions;
  readonly #events: CallEvent[] = [];
  readonly #unread: CallMessage[] = [];
  readonly #wakers = new Set<() => void>();
  #socket: WebSocket | undefined;
  #media: MediaConnection | undefined;
  #closeCode: number | undefined;
  #tooLargeMessage: string | undefined;
  #textLengthLeft = SANDBOX_TEXTS_LENGTH_MAX;
  #hasResponse = false;
  #hasHungUp = false;
  #ending: Promise<void> | undefined;
  /** Candidates that arrived before the media connection existed. */
  readonly #earlyCandidates: string[] = [];

  constructor(options: ProbeCallOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake());
  }

  /** Starts the call on an open WebSocket. */
  start(socket: WebSocket): void {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#closeCode === undefined && !this.#hasHungUp && !this.#options.signal.aborted;
  }

  /** Whether the WebSocket ended without a close frame while the call was in progress. */
  get isDropped(): boolean {
    return this.#closeCode === NO_CLOSE_CODE && !this.#hasHungUp;
  }

  /** Describes the message that exceeded the size limit; undefined unless one did. */
  get tooLargeMessage(): string | undefined {
    return this.#tooLargeMessage;
  }

  /**
   * Whether the sandbox ignored the messages of the kit: it sent neither `call_ready` nor `error`, and
   * did not close the WebSocket first.
   */
  get isUnanswered(): boolean {
    const hasSent = this.#events.some(({ from, kind }) => from === 'kit' && kind === 'message');
    const firstClose = this.#events.find(({ kind }) => kind === 'close');
    return hasSent && firstClose?.from !== 'sandbox' && !this.#hasResponse;
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    const text = data.toString('utf8');
    // Messages are recorded in full until their total gets too large. Part of a message can't be parsed.
    const isWhole = text.length <= this.#textLengthLeft;
    if (isWhole) this.#textLengthLeft -= text.length;
    this.#note({
      from: 'sandbox',
      kind: 'message',
      text: isWhole ? text : text.slice(0, TEXT_START_LENGTH),
      ...(!isWhole && { bytes: data.length }),
      ...(isBinary && { isBinary }),
    });
    const message = parseMessage(text);
    this.#hasResponse ||= RESPONSE_TYPES.includes(message?.['type']);
    if (!message || this.#unread.length >= EVENTS_MAX) return;
    const candidate = message['type'] === 'ice_candidate' ? readCandidate(message) : undefined;
    if (candidate === undefined) this.#unread.push(message);
    else if (this.#media) this.#media.addCandidate(candidate);
    else this.#earlyCandidates.push(candidate);
    this.#wake();
  }

  onTooLarge(message: string): void {
    this.#tooLargeMessage = message;
    this.#closeCode = TOO_LARGE_CODE;
    this.#note({ from: 'kit', kind: 'close', code: TOO_LARGE_CODE, detail: message });
    this.#wake();
  }

  onClose(code: number, detail: string): void {
    if (this.#tooLargeMessage !== undefined) return;
    this.#closeCode = code;
    this.#note({ from: 'sandbox', kind: 'close', code, detail });
    this.#wake();
  }

  send(message: object | string | Uint8Array): void {
    if (!this.isOpen) return;
    const isBytes = message instanceof Uint8Array;
    const content = typeof message === 'string' || isBytes ? message : JSON.stringify(message);
    const fullText = isBytes ? `${message.length} bytes` : String(content);
    const text = fullText.slice(0, KIT_TEXT_LENGTH_MAX);
    this.#note({ from: 'kit', kind: 'message', text, ...(isBytes && { isBinary: true }) });
    this.#socket?.send(content);
  }

  async waitForMessage(types: readonly string[], waitMs: number): Promise<CallMessage | undefined> {
    const isWanted = ({ type }: CallMessage): boolean =>
      types.includes('*') || (typeof type === 'string' && types.includes(type));
    await this.#waitUntil(() => this.#unread.some(isWanted), waitMs);
    const index = this.#unread.findIndex(isWanted);
    return index < 0 ? undefined : this.#unread.splice(index, 1)[0];
  }

  async waitUntilClosed(waitMs: number): Promise<boolean> {
    await this.#waitUntil(() => false, waitMs);
    return this.#closeCode !== undefined;
  }

  async pause(ms: number): Promise<void> {
    await this.#waitUntil(() => false, ms);
  }

  async connect(ready: CallMessage, change = (answer: string) => answer): Promise<Connection> {
    const offer = readOffer(ready);
    if (offer === undefined || this.#media || !this.isOpen) return 'none';
    let sdp: string;
    try {
      this.#media = await this.#options.createMedia(offer, () => this.#wake());
      for (const candidate of this.#earlyCandidates) this.#media.addCandidate(candidate);
      sdp = change(await this.#media.answer(offer));
    } catch (error) {
      this.#note({ from: 'kit', kind: 'unusable', detail: errorMessage(error) });
      return 'none';
    }
    this.send(createAnswerMessage(ready, sdp, this.#options.answerForm));
    this.#note({ from: 'kit', kind: 'answered' });
    const ended = new AbortController();
    const failure = await Promise.race([
      this.#media.connect(ended.signal),
      this.#waitUntil(() => false, Infinity).then(() => 'the WebSocket was closed'),
    ]);
    ended.abort(new Error('the WebSocket was closed'));
    if (failure === undefined) {
      this.#note({ from: 'kit', kind: 'connected' });
      return 'flows';
    }
    this.#note({ from: 'kit', kind: 'unconnected', detail: failure });
    return this.#media.toRecord().hasPath ? 'broken' : 'none';
  }

  async speak(clip: Clip): Promise<void> {
    const callEnd = this.#waitUntil(() => false, Infinity).then(() => undefined);
    const speech = await Promise.race([this.#media?.say(clip), callEnd]);
    if (!speech) return;
    const { sinceRunMs } = this.#options;
    const atMs = roundTo(sinceRunMs(speech.startMs), 2);
    const untilMs = roundTo(sinceRunMs(speech.endMs), 2);
    this.#push({ atMs, from: 'kit', kind: 'speech', detail: clip.id, untilMs });
  }

  async waitUntilAudible(waitMs: number): Promise<boolean> {
    const fromMs = this.#nowMs();
    const isAudible = (): boolean => (this.#media?.sounds.at(-1)?.untilMs ?? -Infinity) > fromMs;
    await this.#waitUntil(isAudible, waitMs);
    return isAudible();
  }

  async waitUntilSilent(waitMs: number): Promise<boolean> {
    const isSilent = (): boolean => !this.#media?.isLoud;
    await this.#waitUntil(isSilent, waitMs);
    return isSilent();
  }

  hangUp(listenMs = 0): Promise<void> {
    return (this.#ending ??= this.#end(listenMs));
  }

  async #end(listenMs: number): Promise<void> {
    const socket = this.#socket;
    if (this.#closeCode === undefined && socket) {
      this.#note({ from: 'kit', kind: 'close', code: 1000 });
      socket.close(1000);
    }
    this.#hasHungUp = true;
    this.#media?.stopSpeaking();
    const { clock, signal } = this.#options;
    const hungUpMs = clock.monotonicMs();
    if (this.#closeCode === undefined) await this.#waitForClose(CLOSE_MS_MAX);
    if (this.#closeCode === undefined) {
      socket?.terminate();
      await this.#waitForClose(CLOSE_MS_MAX);
    }
    if (this.#tooLargeMessage !== undefined) socket?.terminate();
    const leftMs = hungUpMs + listenMs - clock.monotonicMs();
    if (this.#media && leftMs > 0) await clock.sleep(leftMs, signal).catch(() => undefined);
    if (this.#media) this.#note({ from: 'kit', kind: 'released' });
    await this.#media?.close();
  }

  /** Returns the record of the call. Call it when the call is over. */
  toRecord(): RecordedCall {
    const sounds = (this.#media?.sounds ?? []).map(({ atMs, untilMs }): CallEvent => ({
      atMs: roundTo(atMs, 2),
      from: 'sandbox',
      kind: 'sound',
      untilMs: roundTo(untilMs, 2),
    }));
    const events = [...this.#events, ...sounds].sort((a, b) => a.atMs - b.atMs);
    return { events, ...(this.#media && { media: this.#media.toRecord() }) };
  }

  audio(): CallAudio | undefined {
    return this.#media?.audio();
  }

  /** Waits until the condition is met, the time runs out, or the call ends. */
  async #waitUntil(isMet: () => boolean, waitMs: number): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + waitMs;
    while (this.isOpen && !isMet()) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      await this.#waitForEvent(Math.min(leftMs, POLL_MS));
    }
  }

  async #waitForClose(waitMs: number): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + waitMs;
    while (this.#closeCode === undefined && clock.monotonicMs() < endMs) {
      await this.#waitForEvent(POLL_MS);
    }
  }

  /** Waits until something happens or the time runs out. */
  async #waitForEvent(waitMs: number): Promise<void> {
    const done = new AbortController();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => resolve(undefined);
    this.#wakers.add(wake);
    const timer = this.#options.clock.sleep(waitMs, done.signal).catch(() => undefined);
    await Promise.race([promise, timer]);
    this.#wakers.delete(wake);
    done.abort(new Error('woken'));
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }

  #nowMs(): number {
    return roundTo(this.#options.sinceRunMs(this.#options.clock.monotonicMs()), 2);
  }

  #note(event: Omit<CallEvent, 'atMs'>): void {
    this.#push({ atMs: this.#nowMs(), ...event });
  }

  #push(event: CallEvent): void {
    // The kit's own events are few, so a flood of messages must not displace them.
    const isBounded = event.from === 'sandbox' && event.kind !== 'close';
    if (this.#events.length < EVENTS_MAX || !isBounded) this.#events.push(event);
  }
}
