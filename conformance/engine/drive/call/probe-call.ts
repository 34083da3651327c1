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

/** What a line is made of. */
export interface ProbeCallOptions {
  clock: Clock;
  /** Milliseconds since the run began, of a time of the clock. */
  sinceRunMs: (atMs: number) => number;
  answerForm: AnswerForm;
  /** Makes the kit's end of the media that an offer asks for. */
  mediaEnd: (offer: string, onPacket: () => void) => Promise<MediaConnection>;
  /** Ends every call: the run was interrupted. */
  signal: AbortSignal;
}

const EVENTS_MAX = 2_000;
/** Of one message of the kit, and of all that the sandbox says in a call. */
const TEXT_LENGTH_MAX = 65_536;
const TEXTS_LENGTH_MAX = 4 * 1024 * 1024;
const TEXT_START_LENGTH = 1_000;
const TOO_LARGE_CODE = 1009;
const CLOSE_MS_MAX = 2_000;
const LOOK_EVERY_MS = 50;
const NO_CLOSE_CODE = 1006;
/** What `start_call` is answered with, well or not. */
const ANSWERS: readonly unknown[] = ['call_ready', 'error'];

/** One call, as a script drives it and as it is recorded. */
export class ProbeCall implements Call, SocketListener {
  readonly #parts: ProbeCallOptions;
  readonly #events: CallEvent[] = [];
  readonly #waiting: CallMessage[] = [];
  readonly #wakes = new Set<() => void>();
  #socket: WebSocket | undefined;
  #media: MediaConnection | undefined;
  #closeCode: number | undefined;
  #tooLarge: string | undefined;
  #textsLeft = TEXTS_LENGTH_MAX;
  #isAnswered = false;
  #hungUp = false;
  #ending: Promise<void> | undefined;
  /** Candidates that came before there was an end to give them to. */
  readonly #early: string[] = [];

  constructor(parts: ProbeCallOptions) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => this.#wake());
  }

  /** Begins with a WebSocket that has opened. */
  begin(socket: WebSocket): void {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#closeCode === undefined && !this.#hungUp && !this.#parts.signal.aborted;
  }

  /** Whether the sandbox cut the WebSocket off. */
  get isCut(): boolean {
    return this.#closeCode === NO_CLOSE_CODE && !this.#hungUp;
  }

  /** What was larger than the kit takes, in words. */
  get tooLarge(): string | undefined {
    return this.#tooLarge;
  }

  /** Whether what the kit said was not answered, whatever came besides: not even by an end. */
  get isUnanswered(): boolean {
    const said = this.#events.some(({ from, kind }) => from === 'kit' && kind === 'message');
    const ended = this.#events.find(({ kind }) => kind === 'close')?.from === 'sandbox';
    return said && !ended && !this.#isAnswered;
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    const text = data.toString('utf8');
    // A message is kept whole, since half of one is none; a flood of large ones is not.
    const isWhole = text.length <= this.#textsLeft;
    if (isWhole) this.#textsLeft -= text.length;
    this.#note({
      from: 'sandbox',
      kind: 'message',
      text: isWhole ? text : text.slice(0, TEXT_START_LENGTH),
      ...(!isWhole && { bytes: data.length }),
      ...(isBinary && { isBinary }),
    });
    const message = parseMessage(text);
    this.#isAnswered ||= ANSWERS.includes(message?.['type']);
    if (!message || this.#waiting.length >= EVENTS_MAX) return;
    const candidate = message['type'] === 'ice_candidate' ? readCandidate(message) : undefined;
    if (candidate === undefined) this.#waiting.push(message);
    else if (this.#media) this.#media.addCandidate(candidate);
    else this.#early.push(candidate);
    this.#wake();
  }

  onTooLarge(says: string): void {
    this.#tooLarge = says;
    this.#closeCode = TOO_LARGE_CODE;
    this.#note({ from: 'kit', kind: 'close', code: TOO_LARGE_CODE, detail: says });
    this.#wake();
  }

  onClose(code: number, detail: string): void {
    if (this.#tooLarge !== undefined) return;
    this.#closeCode = code;
    this.#note({ from: 'sandbox', kind: 'close', code, detail });
    this.#wake();
  }

  send(message: object | string | Uint8Array): void {
    if (!this.isOpen) return;
    const isBytes = message instanceof Uint8Array;
    const content = typeof message === 'string' || isBytes ? message : JSON.stringify(message);
    const text = (isBytes ? `${message.length} bytes` : String(content)).slice(0, TEXT_LENGTH_MAX);
    this.#note({ from: 'kit', kind: 'message', text, ...(isBytes && { isBinary: true }) });
    this.#socket?.send(content);
  }

  async waitForMessage(types: readonly string[], waitMs: number): Promise<CallMessage | undefined> {
    const isOne = ({ type }: CallMessage): boolean =>
      types.includes('*') || (typeof type === 'string' && types.includes(type));
    await this.#until(() => this.#waiting.some(isOne), waitMs);
    const at = this.#waiting.findIndex(isOne);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  async waitUntilClosed(waitMs: number): Promise<boolean> {
    await this.#until(() => false, waitMs);
    return this.#closeCode !== undefined;
  }

  async pause(ms: number): Promise<void> {
    await this.#until(() => false, ms);
  }

  async connect(ready: CallMessage, change = (answer: string) => answer): Promise<Connection> {
    const offer = readOffer(ready);
    if (offer === undefined || this.#media || !this.isOpen) return 'none';
    let sdp: string;
    try {
      this.#media = await this.#parts.mediaEnd(offer, () => this.#wake());
      for (const candidate of this.#early) this.#media.addCandidate(candidate);
      sdp = change(await this.#media.answer(offer));
    } catch (error) {
      this.#note({ from: 'kit', kind: 'unusable', detail: messageOf(error) });
      return 'none';
    }
    this.send(createAnswerMessage(ready, sdp, this.#parts.answerForm));
    this.#note({ from: 'kit', kind: 'answered' });
    const over = new AbortController();
    const whyNot = await Promise.race([
      this.#media.connect(over.signal),
      this.#until(() => false, Infinity).then(() => 'the WebSocket was closed'),
    ]);
    over.abort(new Error('the WebSocket was closed'));
    if (whyNot === undefined) this.#note({ from: 'kit', kind: 'connected' });
    else this.#note({ from: 'kit', kind: 'unconnected', detail: whyNot });
    if (whyNot === undefined) return 'flows';
    return this.#media.view().hasPath ? 'broken' : 'none';
  }

  async speak(clip: Clip): Promise<void> {
    const saying = this.#media?.say(clip);
    const gone = this.#until(() => false, Infinity).then(() => undefined);
    const said = await Promise.race([saying, gone]);
    if (!said) return;
    const [atMs, untilMs] = [said.startMs, said.endMs].map(this.#parts.sinceRunMs).map(rounded);
    this.#push({
      atMs: atMs ?? 0,
      from: 'kit',
      kind: 'speech',
      detail: clip.id,
      untilMs: untilMs ?? 0,
    });
  }

  async waitUntilHeard(waitMs: number): Promise<boolean> {
    const fromMs = this.#nowMs();
    const isHeard = (): boolean => (this.#media?.sounds.at(-1)?.untilMs ?? -Infinity) > fromMs;
    await this.#until(isHeard, waitMs);
    return isHeard();
  }

  async waitUntilSilent(waitMs: number): Promise<boolean> {
    const isSilent = (): boolean => !this.#media?.isLoud;
    await this.#until(isSilent, waitMs);
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
    this.#hungUp = true;
    this.#media?.hush();
    const { clock, signal } = this.#parts;
    const hungUpMs = clock.monotonicMs();
    if (this.#closeCode === undefined) await this.#closing(CLOSE_MS_MAX);
    if (this.#closeCode === undefined) {
      socket?.terminate();
      await this.#closing(CLOSE_MS_MAX);
    }
    if (this.#tooLarge !== undefined) socket?.terminate();
    const leftMs = hungUpMs + listenMs - clock.monotonicMs();
    if (this.#media && leftMs > 0) await clock.sleep(leftMs, signal).catch(() => undefined);
    if (this.#media) this.#note({ from: 'kit', kind: 'released' });
    await this.#media?.close();
  }

  /** What there is to record; to be asked when the call is over. */
  view(): RecordedCall {
    const sounds = (this.#media?.sounds ?? []).map(({ atMs, untilMs }): CallEvent => ({
      atMs: rounded(atMs),
      from: 'sandbox',
      kind: 'sound',
      untilMs: rounded(untilMs),
    }));
    const events = [...this.#events, ...sounds].sort((one, other) => one.atMs - other.atMs);
    return { events, ...(this.#media && { media: this.#media.view() }) };
  }

  audio(): CallAudio | undefined {
    return this.#media?.audio();
  }

  /** Waits until it is so, the time passes, or the WebSocket is over. */
  async #until(isMet: () => boolean, waitMs: number): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.monotonicMs() + waitMs;
    while (this.isOpen && !isMet()) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      await this.#woken(Math.min(leftMs, LOOK_EVERY_MS));
    }
  }

  async #closing(waitMs: number): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.monotonicMs() + waitMs;
    while (this.#closeCode === undefined && clock.monotonicMs() < endMs) {
      await this.#woken(LOOK_EVERY_MS);
    }
  }

  /** Resolves when something happens, or the time passes. */
  async #woken(waitMs: number): Promise<void> {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => resolve(undefined);
    this.#wakes.add(wake);
    const timer = this.#parts.clock.sleep(waitMs, over.signal).catch(() => undefined);
    await Promise.race([promise, timer]);
    this.#wakes.delete(wake);
    over.abort(new Error('woken'));
  }

  #wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  #nowMs(): number {
    return rounded(this.#parts.sinceRunMs(this.#parts.clock.monotonicMs()));
  }

  #note(event: Omit<CallEvent, 'atMs'>): void {
    this.#push({ atMs: this.#nowMs(), ...event });
  }

  #push(event: CallEvent): void {
    // What the kit itself does is little, and never hidden by a flood.
    const isBounded = event.from === 'sandbox' && event.kind !== 'close';
    if (this.#events.length < EVENTS_MAX || !isBounded) this.#events.push(event);
  }
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
const messageOf = (error: unknown): string => errorMessage(error);
