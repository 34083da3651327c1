import { limitSignal } from '../../platform/abort.ts';
import { readBoundedBody } from '../../platform/bounded-body.ts';
import { readRetryAfterMs, type Clock } from '../../platform/clock.ts';
import { isTemporaryStatus, retry, type Failure } from '../../platform/retry.ts';
import type { Speaker } from '../opus/index.ts';
import { SpeechError, type SpeechStyle } from './spoken-line.ts';

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

const CLOSED_MESSAGE = 'the speech synthesizer was closed before the line was ready';

/** A line to fetch. */
export interface FetchLine {
  endpoint: SpeechModel;
  speaker: Speaker;
  text: string;
  style: SpeechStyle;
  clock: Clock;
  signal: AbortSignal;
}

type FetchResult = { ok: true; file: Uint8Array } | Failure;

/**
 * Fetches a line from the endpoint, usually as a WAV file, with retries. @throws SpeechError
 * without any text of the response, because it may contain the API key or the line.
 */
export async function fetchLine(line: FetchLine): Promise<Uint8Array> {
  const limits = { attemptsMax: ATTEMPTS_MAX, totalMsMax: LINE_MS_MAX };
  const { result, attempts, isCanceled } = await retry({ ...line, ...limits }, () =>
    fetchOnce(line),
  );
  if (result.ok) return result.file;
  if (isCanceled) throw new SpeechError(CLOSED_MESSAGE);
  throw new SpeechError(
    attempts > 1 ? `${result.message} in ${attempts} attempts` : result.message,
  );
}

async function fetchOnce({
  endpoint,
  speaker,
  text,
  style,
  clock,
  signal,
}: FetchLine): Promise<FetchResult> {
  const { baseUrl, apiKey, model = MODEL_DEFAULT } = endpoint;
  const voice = style.voice ?? endpoint.voice ?? VOICE_DEFAULTS[speaker];
  const speed = style.speed === undefined ? {} : { speed: style.speed };
  using limit = limitSignal(clock, REQUEST_MS_MAX, signal);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/audio/speech`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, voice, input: text, response_format: 'wav', ...speed }),
      signal: limit.signal,
    });
    if (response.ok) return await readFile(response);
    await response.body?.cancel();
    return explainRefusal(response, clock);
  } catch {
    if (signal.aborted) return permanent(CLOSED_MESSAGE);
    return temporary(
      limit.isOver()
        ? `the speech endpoint did not respond within ${REQUEST_MS_MAX} ms`
        : 'the speech endpoint is unreachable; see SANDBOX_KIT_SPEECH_URL',
    );
  }
}

async function readFile(response: Response): Promise<FetchResult> {
  const file = await readBoundedBody(response, RESPONSE_BYTES_MAX);
  return file
    ? { ok: true, file }
    : permanent(`the speech endpoint sent more than ${RESPONSE_BYTES_MAX} bytes for one line`);
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
  if (isTemporaryStatus(status)) {
    const retryAfterMs = readRetryAfterMs(headers.get('retry-after'), clock.nowMs());
    return { ...temporary(`the speech endpoint returned HTTP ${status}`), retryAfterMs };
  }
  return permanent(
    `the speech endpoint rejects the request (${status}); ` +
      'see SANDBOX_KIT_SPEECH_MODEL and SANDBOX_KIT_SPEECH_VOICE',
  );
}

const temporary = (message: string): Failure => ({ ok: false, message, isTemporary: true });
const permanent = (message: string): Failure => ({ ok: false, message, isTemporary: false });
