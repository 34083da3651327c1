import { createHash } from 'node:crypto';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Clip, Speaker } from '../opus/index.ts';
import { ClipCache } from './clip-cache.ts';
import { LineWorker } from './line-worker.ts';
import { fetchLine, type SpeechModel } from './speech-endpoint.ts';
import { findVoiceProblem } from './flite.ts';
import { SpeechError, type LineSource, type SpeechStyle } from './spoken-line.ts';
import { toPlainEnglish, toSpokenText } from './spoken-text.ts';

/** Speaks lines of text. */
export interface SpeechSynthesizer {
  /**
   * Speaks the first 2000 characters of a text as Opus packets of 20 ms; the `text` of the clip is
   * what is spoken. The same text and style always give the same packets. Rejects with the signal's
   * reason when it aborts. @throws SpeechError that says what to do: missing package, unknown voice,
   * nothing to speak, failing endpoint, or closed synthesizer.
   */
  speak(text: string, signal?: AbortSignal, style?: SpeechStyle): Promise<Clip>;
  /** Releases everything; pending lines fail. */
  close(): Promise<void>;
}

export interface SynthesizerOptions {
  /** A user and an agent have different voices. */
  speaker: Speaker;
  /** Speaks instead of the built-in synthesizer. */
  endpoint?: SpeechModel;
  /** For timeouts and waits (default: the system clock). */
  clock?: Clock;
  /** Script of the worker thread, for tests. */
  threadUrl?: URL;
  /** Size of the cache in bytes (default: 8 MiB, almost an hour of speech). */
  cacheBytesMax?: number;
}

/** Creates a synthesizer; it loads nothing and starts no thread before the first line. */
export function createSpeechSynthesizer(options: SynthesizerOptions): SpeechSynthesizer {
  return new CachingSynthesizer(options);
}

const CACHE_BYTES_DEFAULT = 8_388_608;

/** Number of lines that may be pending. */
const PENDING_LINES_MAX = 1_000;

class CachingSynthesizer implements SpeechSynthesizer {
  readonly #options: SynthesizerOptions;
  readonly #clock: Clock;
  readonly #worker: LineWorker;
  readonly #cache: ClipCache;
  readonly #pending = new Map<string, Promise<Clip>>();
  readonly #life = new AbortController();

  constructor(options: SynthesizerOptions) {
    const { clock = systemClock, threadUrl } = options;
    this.#options = options;
    this.#clock = clock;
    this.#worker = new LineWorker({ clock, threadUrl });
    this.#cache = new ClipCache(options.cacheBytesMax ?? CACHE_BYTES_DEFAULT);
  }

  async speak(text: string, signal?: AbortSignal, style: SpeechStyle = {}): Promise<Clip> {
    signal?.throwIfAborted();
    if (this.#life.signal.aborted) throw new SpeechError('the speech synthesizer is closed');
    const spokenText = toSpokenText(text);
    if (spokenText === '') {
      throw new SpeechError('the line has neither a letter nor a digit that could be spoken');
    }
    const line = { text: spokenText, style, key: keyOf(spokenText, style) };
    const clip = this.#cache.get(line.key) ?? this.#pending.get(line.key) ?? this.#start(line);
    return signal ? rejectOnAbort(clip, signal) : clip;
  }

  async close(): Promise<void> {
    this.#life.abort();
    await this.#worker.close();
  }

  /** Requests for the same line share one result; a request that is aborted does not cancel it. */
  #start(line: StyledLine): Promise<Clip> {
    if (this.#pending.size >= PENDING_LINES_MAX) {
      throw new SpeechError(`more than ${PENDING_LINES_MAX} lines are pending`);
    }
    const { key } = line;
    const clip = this.#make(line);
    this.#pending.set(key, clip);
    const done = (): void => void this.#pending.delete(key);
    clip.then((result) => {
      done();
      this.#cache.add(key, result);
    }, done);
    return clip;
  }

  async #make({ text, style, key }: StyledLine): Promise<Clip> {
    const line = await this.#worker.makeLine(await this.#createSource(text, style));
    if (!line) throw new SpeechError('the line was spoken, but it is silent');
    const id = `line-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
    const packets = line.packets.map((packet) => Buffer.from(packet));
    return { ...line, id, speaker: this.#options.speaker, text, packets };
  }

  async #createSource(text: string, style: SpeechStyle): Promise<LineSource> {
    const { speaker, endpoint } = this.#options;
    if (!endpoint) {
      const problem = findVoiceProblem(style.voice);
      if (problem !== undefined) throw new SpeechError(problem);
      const english = toPlainEnglish(text);
      if (english !== '') return { kind: 'text', text: english, speaker, style };
      throw new SpeechError(
        'the line contains no English, the only language of the built-in synthesizer: ' +
          'set SANDBOX_KIT_SPEECH_URL to a speech endpoint',
      );
    }
    const { signal } = this.#life;
    const line = { endpoint, speaker, text, style, clock: this.#clock, signal };
    return { kind: 'wav', file: await fetchLine(line) };
  }
}

/** A line to speak; lines with the same key are the same. */
interface StyledLine {
  text: string;
  style: SpeechStyle;
  key: string;
}

const keyOf = (text: string, { voice, speed }: SpeechStyle): string =>
  voice === undefined && speed === undefined ? text : JSON.stringify([text, voice, speed]);

async function rejectOnAbort(clip: Clip | Promise<Clip>, signal: AbortSignal): Promise<Clip> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([clip, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
