import type { Clock } from '../../platform/clock.ts';
import { httpDateMs } from '../../platform/clock.ts';
import type { Speaker } from '../opus/index.ts';
import { SpeechError } from './spoken-line.ts';

/** Where an OpenAI-compatible API speaks: `POST {baseUrl}/audio/speech`. */
export interface SpeechEndpoint {
  /** With the version in its path, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** `tts-1` unless given. */
  model?: string;
  /** `nova` for a user and `onyx` for an agent, unless given. */
  voice?: string;
  apiKey?: string;
}

const MODEL_DEFAULT = 'tts-1';
const VOICE_DEFAULTS: Record<Speaker, string> = { user: 'nova', agent: 'onyx' };

/** A request with its answer, and all requests of a line with the waits between. */
const REQUEST_MS_MAX = 30_000;
const LINE_MS_MAX = 60_000;

/** Five minutes of sound at 48 kHz. */
const RESPONSE_BYTES_MAX = 33_554_432;

const ATTEMPTS_MAX = 3;
const FIRST_WAIT_MS = 500;

/** One line to be fetched. */
export interface FetchLine {
  endpoint: SpeechEndpoint;
  speaker: Speaker;
  text: string;
  clock: Clock;
  signal: AbortSignal;
}

type Fetched =
  | { ok: true; file: Uint8Array }
  | { ok: false; why: string; again: boolean; afterMs?: number | undefined };

/**
 * A line as the endpoint speaks it: a WAV file, it is hoped. Asks again where it may.
 * @throws SpeechError that repeats nothing of the answer: it may hold the key, or the line.
 */
export async function fetchLine(line: FetchLine): Promise<Uint8Array> {
  const { clock, signal } = line;
  const endsAtMs = clock.monotonicMs() + LINE_MS_MAX;
  for (let tries = 1; ; tries += 1) {
    const fetched = await fetchOnce(line);
    if (fetched.ok) return fetched.file;
    const waitMs = fetched.afterMs ?? FIRST_WAIT_MS * 2 ** (tries - 1);
    const isLast = tries >= ATTEMPTS_MAX || clock.monotonicMs() + waitMs >= endsAtMs;
    if (!fetched.again || isLast || signal.aborted) {
      throw new SpeechError(tries > 1 ? `${fetched.why}, ${tries} times` : fetched.why);
    }
    // Called off: the next request says so.
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }
}

async function fetchOnce({ endpoint, speaker, text, clock, signal }: FetchLine): Promise<Fetched> {
  const { baseUrl, apiKey, model = MODEL_DEFAULT, voice = VOICE_DEFAULTS[speaker] } = endpoint;
  using deadline = clock.deadline(REQUEST_MS_MAX);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/audio/speech`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, voice, input: text, response_format: 'wav' }),
      signal: AbortSignal.any([signal, deadline.signal]),
    });
    if (response.ok) return await readBounded(response);
    await response.body?.cancel();
    return refused(response, clock);
  } catch {
    if (signal.aborted) return final('the voice was closed before it had spoken');
    return again(
      deadline.signal.aborted
        ? `the speech endpoint gave no answer within ${REQUEST_MS_MAX} ms`
        : 'the speech endpoint cannot be reached; see SANDBOX_KIT_SPEECH_URL',
    );
  }
}

async function readBounded({ body }: Response): Promise<Fetched> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    parts.push(part);
    bytes += part.length;
    // Leaving the loop breaks the answer off.
    if (bytes > RESPONSE_BYTES_MAX) {
      return final(`the speech endpoint sent more than ${RESPONSE_BYTES_MAX} bytes for one line`);
    }
  }
  return { ok: true, file: Buffer.concat(parts) };
}

function refused({ status, headers }: Response, clock: Clock): Fetched {
  if (status === 401 || status === 403) {
    return final(`the speech endpoint refuses the key (${status}); see SANDBOX_KIT_SPEECH_API_KEY`);
  }
  if (status === 404) {
    return final(
      'the speech endpoint has no /audio/speech, or not this model (404); ' +
        'see SANDBOX_KIT_SPEECH_URL and SANDBOX_KIT_SPEECH_MODEL',
    );
  }
  if (status === 429 || status === 408 || status >= 500) {
    const why = status === 429 ? 'is asked too often' : 'fails';
    const afterMs = waitAskedFor(headers.get('retry-after'), clock);
    return { ...again(`the speech endpoint ${why} (${status})`), afterMs };
  }
  return final(
    `the speech endpoint refuses the request (${status}); ` +
      'see SANDBOX_KIT_SPEECH_MODEL and SANDBOX_KIT_SPEECH_VOICE',
  );
}

/** Retry-After as seconds or as a date; undefined when there is none that can be read. */
function waitAskedFor(retryAfter: string | null, clock: Clock): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(retryAfter)) return Number(retryAfter) * 1_000;
  const atMs = httpDateMs(retryAfter);
  return atMs === undefined ? undefined : Math.max(0, atMs - clock.nowMs());
}

const again = (why: string) => ({ ok: false, why, again: true }) as const;
const final = (why: string) => ({ ok: false, why, again: false }) as const;
