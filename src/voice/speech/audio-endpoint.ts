import { limitSignal } from '../../platform/abort.ts';
import { readBoundedBody } from '../../platform/bounded-body.ts';
import { readRetryAfterMs, type Clock } from '../../platform/clock.ts';
import { isTemporaryStatus, retry, type Failure } from '../../platform/retry.ts';

/** An OpenAI-compatible audio endpoint: its name in messages, and its limits. */
export interface AudioEndpoint {
  /** Such as `the speech endpoint`. */
  name: string;
  path: '/audio/speech' | '/audio/transcriptions';
  /** The environment variables that messages refer to. */
  variables: { url: string; key: string; model: string };
  /** The variables of a request that was refused with another 4xx. */
  refusedVariables: string;
  /** Timeout of one request, and of all attempts including the waits. */
  requestMsMax: number;
  totalMsMax: number;
  responseBytesMax: number;
  /** What one response contains, such as `one line`. */
  content: string;
  canceledMessage: string;
}

/** A request to such an endpoint. */
export interface AudioRequest {
  baseUrl: string;
  apiKey: string | undefined;
  headers?: Record<string, string>;
  body: string | FormData;
  clock: Clock;
  signal: AbortSignal;
}

/** The response body, or the reason the request failed. */
export type AudioResponse =
  | { ok: true; body: Buffer }
  | {
      ok: false;
      /** Without any text of the response, because it may contain the API key or what was said. */
      message: string;
      /** Whether a later request may succeed. */
      isTemporary: boolean;
    };

const ATTEMPTS_MAX = 3;

/** Sends a request, and tries again after temporary failures. Never rejects. */
export async function requestAudio(
  endpoint: AudioEndpoint,
  request: AudioRequest,
): Promise<AudioResponse> {
  const { clock, signal } = request;
  const { totalMsMax, canceledMessage } = endpoint;
  const limits = { clock, signal, attemptsMax: ATTEMPTS_MAX, totalMsMax };
  const { result, attempts, isCanceled } = await retry(limits, () =>
    requestOnce(endpoint, request),
  );
  if (result.ok) return result;
  if (isCanceled) return { ok: false, message: canceledMessage, isTemporary: true };
  const { message, isTemporary } = result;
  return {
    ok: false,
    message: attempts > 1 ? `${message} in ${attempts} attempts` : message,
    // A canceled request says nothing about the next one.
    isTemporary: isTemporary || signal.aborted,
  };
}

async function requestOnce(
  endpoint: AudioEndpoint,
  { baseUrl, apiKey, headers = {}, body, clock, signal }: AudioRequest,
): Promise<{ ok: true; body: Buffer } | Failure> {
  const { name, path, variables, requestMsMax, canceledMessage } = endpoint;
  using limit = limitSignal(clock, requestMsMax, signal);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: {
        ...headers,
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal: limit.signal,
    });
    if (response.ok) return await readBody(endpoint, response);
    await response.body?.cancel();
    return explainRefusal(endpoint, response, clock);
  } catch {
    if (signal.aborted) return permanent(canceledMessage);
    return temporary(
      limit.isOver()
        ? `${name} did not respond within ${requestMsMax} ms`
        : `${name} is unreachable; see ${variables.url}`,
    );
  }
}

async function readBody(
  { name, responseBytesMax, content }: AudioEndpoint,
  response: Response,
): Promise<{ ok: true; body: Buffer } | Failure> {
  const body = await readBoundedBody(response, responseBytesMax);
  return body
    ? { ok: true, body }
    : permanent(`${name} sent more than ${responseBytesMax} bytes for ${content}`);
}

function explainRefusal(
  { name, path, variables, refusedVariables }: AudioEndpoint,
  { status, headers }: Response,
  clock: Clock,
): Failure {
  if (status === 401 || status === 403) {
    return permanent(`${name} rejects the key (${status}); see ${variables.key}`);
  }
  if (status === 404) {
    return permanent(
      `${name} has no ${path} or does not know the model (404); ` +
        `see ${variables.url} and ${variables.model}`,
    );
  }
  if (isTemporaryStatus(status)) {
    const retryAfterMs = readRetryAfterMs(headers.get('retry-after'), clock.nowMs());
    return { ...temporary(`${name} returned HTTP ${status}`), retryAfterMs };
  }
  return permanent(`${name} rejects the request (${status}); see ${refusedVariables}`);
}

const temporary = (message: string): Failure => ({ ok: false, message, isTemporary: true });
const permanent = (message: string): Failure => ({ ok: false, message, isTemporary: false });
