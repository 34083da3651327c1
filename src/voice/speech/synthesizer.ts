import { createHash } from 'node:crypto';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Clip, Speaker } from '../opus/index.ts';
import { ClipCache } from './clip-cache.ts';
import { LineWorker } from './line-worker.ts';
import { fetchLine, type SpeechEndpoint } from './speech-endpoint.ts';
import { SpeechError, type LineSource } from './spoken-line.ts';
import { toPlainEnglish, toSpokenText } from './spoken-text.ts';

/** Speaks lines. */
export interface SpeechSynthesizer {
  /**
   * A line as packets of Opus of 20 ms; the same line, the same packets. Its `text` is what is
   * spoken: the first 2000 characters, on one line. Rejects with the signal's reason where it is
   * called off.
   * @throws SpeechError that says what to do: no package, nothing to be spoken, an endpoint that
   * fails, a voice that is closed.
   */
  speak(text: string, signal?: AbortSignal): Promise<Clip>;
  /** Lines that are waited for fail; nothing of the voice is left. */
  close(): Promise<void>;
}

/** Whose voice it is, and where it comes from. */
export interface SynthesizerOptions {
  /** A user and an agent have voices of their own. */
  kind: Speaker;
  /** Who speaks in place of the synthesizer in the process. */
  endpoint?: SpeechEndpoint;
  /** For deadlines and waits; the machine's unless given. */
  clock?: Clock;
  /** What the thread that makes lines runs; our own entry unless given. */
  threadUrl?: URL;
  /** Lines that were spoken are kept, in bytes; 8 MiB, which is most of an hour, unless given. */
  keptBytesMax?: number;
}

/** A voice; nothing is loaded and no thread started before its first line. */
export function createSpeechSynthesizer(options: SynthesizerOptions): SpeechSynthesizer {
  return new CachingSynthesizer(options);
}

const CACHE_BYTES_DEFAULT = 8_388_608;

/** Lines that may be waited for at a time. */
const PENDING_LINES_MAX = 1_000;

class CachingSynthesizer implements SpeechSynthesizer {
  readonly #options: SynthesizerOptions;
  readonly #clock: Clock;
  readonly #maker: LineWorker;
  readonly #kept: ClipCache;
  readonly #underWay = new Map<string, Promise<Clip>>();
  readonly #life = new AbortController();

  constructor(options: SynthesizerOptions) {
    const { clock = systemClock, threadUrl } = options;
    this.#options = options;
    this.#clock = clock;
    this.#maker = new LineWorker({ clock, threadUrl });
    this.#kept = new ClipCache(options.keptBytesMax ?? CACHE_BYTES_DEFAULT);
  }

  async speak(text: string, signal?: AbortSignal): Promise<Clip> {
    signal?.throwIfAborted();
    if (this.#life.signal.aborted) throw new SpeechError('the voice is closed');
    const words = toSpokenText(text);
    if (words === '') {
      throw new SpeechError('the line has neither a letter nor a digit that could be spoken');
    }
    const clip = this.#kept.get(words) ?? this.#underWay.get(words) ?? this.#begin(words);
    return signal ? orCalledOff(clip, signal) : clip;
  }

  async close(): Promise<void> {
    this.#life.abort();
    await this.#maker.close();
  }

  /** Whoever else wants the same line waits for this one, and nobody who leaves ends it. */
  #begin(words: string): Promise<Clip> {
    if (this.#underWay.size >= PENDING_LINES_MAX) {
      throw new SpeechError(`more than ${PENDING_LINES_MAX} lines wait to be spoken`);
    }
    const clip = this.#make(words);
    this.#underWay.set(words, clip);
    const done = (): void => void this.#underWay.delete(words);
    clip.then((made) => {
      done();
      this.#kept.add(words, made);
    }, done);
    return clip;
  }

  async #make(words: string): Promise<Clip> {
    const line = await this.#maker.makeLine(await this.#sourceOf(words));
    if (!line) throw new SpeechError('the line was spoken, and nothing is to be heard of it');
    const id = `line-${createHash('sha256').update(words).digest('hex').slice(0, 12)}`;
    const packets = line.packets.map((packet) => Buffer.from(packet));
    return { ...line, id, speaker: this.#options.kind, text: words, packets };
  }

  async #sourceOf(words: string): Promise<LineSource> {
    const { kind: speaker, endpoint } = this.#options;
    if (!endpoint) {
      const text = toPlainEnglish(words);
      if (text !== '') return { kind: 'text', text, speaker };
      throw new SpeechError(
        'the line has no English in it, and the kit speaks no other language by itself: ' +
          'name a speech endpoint in SANDBOX_KIT_SPEECH_URL',
      );
    }
    const { signal } = this.#life;
    const line = { endpoint, speaker, text: words, clock: this.#clock, signal };
    return { kind: 'wav', file: await fetchLine(line) };
  }
}

async function orCalledOff(clip: Clip | Promise<Clip>, signal: AbortSignal): Promise<Clip> {
  const { promise: calledOff, reject } = Promise.withResolvers<never>();
  const callOff = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', callOff);
  try {
    return await Promise.race([clip, calledOff]);
  } finally {
    signal.removeEventListener('abort', callOff);
  }
}
