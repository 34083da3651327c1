import { readRetryAfterMs, type Clock } from '../../platform/clock.ts';
import type { Speaker } from '../opus/index.ts';
import { SpeechError } from './spoken-line.ts';

/**
 * An OpenAI-compatible endpoint that turns the text of users into speech:
 * `POST {baseUrl}/audio/speech`.
 */
export interface SpeechModel {
  /** Base URL, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** Default: `tts-1`. */
  model?: string | undefined;
  /** Default: `nova` for a user, `onyx` for an agent. */
  voice?: string | undefined;
  apiKey?: string | undefined;
}

const MODEL_DEFAULT = 'tts-1';
const VOICE_DEFAULTS: Record<Speaker, string> = { user: 'nova', agent: 'onyx' };

/** Timeout of one request, and of all attempts for a line including the waits. */
const REQUEST_MS_MAX = 30_000;
const LINE_MS_MAX = 60_000;

/** Five minutes of audio at 48 kHz. */
const RESPONSE_BYTES_MAX = 33_554_432;

const ATTEMPTS_MAX = 3;
const FIRST_WAIT_MS = 500;

/** A line to fetch. */
export interface FetchLine {
  endpoint: SpeechModel;
  speaker: Speaker;
  text: string;
  clock: Clock;
  signal: AbortSignal;
}

type FetchResult =
  | { ok: true; file: Uint8Array }
  | { ok: false; why: string; isTemporary: boolean; afterMs?: number | undefined };

/**
 * Fetches a line from the endpoint, usually as a WAV file, with retries. @throws SpeechError
 * without any text of the response, because it may contain the API key or the line.
 */
export async function fetchLine(line: FetchLine): Promise<Uint8Array> {
  const { clock, signal } = line;
  const endsAtMs = clock.monotonicMs() + LINE_MS_MAX;
  for (let tries = 1; ; tries += 1) {
    const result = await fetchOnce(line);
    if (result.ok) return result.file;
    const waitMs = Math.max(0, result.afterMs ?? FIRST_WAIT_MS * 2 ** (tries - 1));
    const isLast = tries >= ATTEMPTS_MAX || clock.monotonicMs() + waitMs >= endsAtMs;
    if (!result.isTemporary || isLast || signal.aborted) {
      throw new SpeechError(tries > 1 ? `${result.why} in ${tries} attempts` : result.why);
    }
    // If the signal aborts, the next request fails.
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }
}

async function fetchOnce({
  endpoint,
  speaker,
  text,
  clock,
  signal,
}: FetchLine): Promise<FetchResult> {
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
    return explainRefusal(response, clock);
  } catch {
    if (signal.aborted)
      return permanent('the speech synthesizer was closed before the line was ready');
    return temporary(
      deadline.signal.aborted
        ? `the speech endpoint did not respond within ${REQUEST_MS_MAX} ms`
        : 'the speech endpoint is unreachable; see SANDBOX_KIT_SPEECH_URL',
    );
  }
}

async function readBounded({ body }: Response): Promise<FetchResult> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    parts.push(part);
    bytes += part.length;
    // Returning from the loop cancels the response.
    if (bytes > RESPONSE_BYTES_MAX) {
      return permanent(
        `the speech endpoint sent more than ${RESPONSE_BYTES_MAX} bytes for one line`,
      );
    }
  }
  return { ok: true, file: Buffer.concat(parts) };
}

function explainRefusal({ status, headers }: Response, clock: Clock): FetchResult {
  if (status === 401 || status === 403) {
    return permanent(
      `the speech endpoint rejects the key (${status}); see SANDBOX_KIT_SPEECH_API_KEY`,
    );
  }
  if (status === 404) {
    return permanent(
      'the speech endpoint has no /audio/speech or does not know the model (404); ' +
        'see SANDBOX_KIT_SPEECH_URL and SANDBOX_KIT_SPEECH_MODEL',
    );
  }
  if (status === 429 || status === 408 || status >= 500) {
    const afterMs = readRetryAfterMs(headers.get('retry-after'), clock.nowMs());
    return { ...temporary(`the speech endpoint returned HTTP ${status}`), afterMs };
  }
  return permanent(
    `the speech endpoint rejects the request (${status}); ` +
      'see SANDBOX_KIT_SPEECH_MODEL and SANDBOX_KIT_SPEECH_VOICE',
  );
}

const temporary = (why: string) => ({ ok: false, why, isTemporary: true }) as const;
const permanent = (why: string) => ({ ok: false, why, isTemporary: false }) as const;
