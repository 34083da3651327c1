import { limitSignal } from '../../platform/abort.ts';
import { readRetryAfterMs, type Clock } from '../../platform/clock.ts';
import { readBoundedBody } from '../../platform/bounded-body.ts';
import { isObject } from '../../platform/json.ts';
import { isTemporaryStatus, type Failure } from '../../platform/retry.ts';

/** Largest response that is read. A useful one has a few hundred bytes. */
const RESPONSE_BYTES_MAX = 1024 * 1024;

/** An OpenAI-compatible endpoint of a language model. */
export interface ModelEndpoint {
  /** Base URL, such as `https://api.example.com/v1`. */
  baseUrl: string;
  model: string;
  /** Absent for endpoints without authentication. */
  apiKey?: string | undefined;
  /** Timeout of one request in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
  /** Maximum number of retries of a failed request (default: 2). */
  retriesMax?: number | undefined;
}

/** A prompt. The rules are separate from the text that they apply to. */
export interface Prompt {
  rules: string;
  transcript: string;
}

/** JSON Schema of the response, for endpoints that support it. */
export interface ResponseSchema {
  name: string;
  strict: boolean;
  schema: Record<string, unknown>;
}

/** A question to a model. */
export interface Question {
  model: string;
  prompt: Prompt;
  responseSchema: ResponseSchema;
}

/** Names for failure messages. */
export interface EndpointNames {
  /** E.g. `The judge`. */
  endpoint: string;
  /** E.g. `The scoring`. */
  task: string;
  /** Environment variable with the key. */
  keyVariable: string;
}

/** A body that should be a chat completion, or the reason why there is none. */
export type EndpointReply = { ok: true; completion: unknown } | Failure;

/** An OpenAI-compatible endpoint. */
export interface Endpoint {
  /** Sends one request, or up to three if the endpoint does not support an option. Never rejects. */
  ask(question: Question, leftMs: number, signal: AbortSignal): Promise<EndpointReply>;
}

/** How to reach an endpoint. */
export interface EndpointOptions {
  baseUrl: string;
  apiKey?: string | undefined;
  timeoutMs?: number | undefined;
  clock: Clock;
  names: EndpointNames;
}

/** Options that not every endpoint supports. An option is dropped once a request succeeded without it. */
interface RequestForm {
  schema: boolean;
  temperature: boolean;
}

/** A response to a request: a success with its body, or a refusal. */
interface EndpointResponse {
  isOk: boolean;
  status: number;
  retryAfter: string | null;
  /** Parsed if its content type is JSON, or else the text. */
  body: unknown;
}

/** Opens an endpoint. */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const { timeoutMs = 30_000, clock, names } = options;
  let form: RequestForm = { schema: true, temperature: true };
  return {
    async ask(question, leftMs, signal) {
      const limitMs = Math.min(timeoutMs, leftMs);
      using limit = limitSignal(clock, limitMs, signal);
      for (let tried = form; ;) {
        const response = await post(options, buildRequest(question, tried), limit.signal);
        if (typeof response === 'object' && response.isOk) {
          form = tried;
          return { ok: true, completion: response.body };
        }
        if (signal.aborted) return fail(`${names.task} was canceled.`);
        if (limit.isOver())
          return failForNow(`${names.endpoint} did not respond within ${limitMs} ms.`);
        if (response === 'unreachable') return failForNow(`${names.endpoint} can't be reached.`);
        if (response === 'unreadable')
          return fail(`${names.endpoint} did not return a chat completion.`);
        const simpler = simplify(tried, response);
        if (!simpler) return describeRefusal(response, question.model, options);
        tried = simpler;
      }
    },
  };
}

/** Sends a request. Never rejects. */
async function post(
  { baseUrl, apiKey = 'none' }: EndpointOptions,
  body: object,
  signal: AbortSignal,
): Promise<EndpointResponse | 'unreachable' | 'unreadable'> {
  let response: Response;
  try {
    response = await fetch(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'user-agent': 'sandbox-kit',
      },
      body: JSON.stringify(body),
      signal,
    });
  } catch {
    return 'unreachable';
  }
  const { ok: isOk, status, headers } = response;
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
  const read = async (): Promise<unknown> => {
    const bytes = await readBoundedBody(response, RESPONSE_BYTES_MAX);
    if (!bytes) throw new Error(`The response has more than ${RESPONSE_BYTES_MAX} bytes.`);
    const text = bytes.toString('utf8');
    return isJson ? (JSON.parse(text) as unknown) : text;
  };
  const reply = { isOk, status, retryAfter: headers.get('retry-after') };
  try {
    return { ...reply, body: await read() };
  } catch {
    // The status of a refusal decides, not its body.
    return isOk ? 'unreadable' : { ...reply, body: undefined };
  }
}

function buildRequest(
  { model, prompt, responseSchema }: Question,
  { schema, temperature }: RequestForm,
): object {
  return {
    model,
    messages: [
      { role: 'system', content: prompt.rules },
      { role: 'user', content: prompt.transcript },
    ],
    ...(temperature && { temperature: 0 }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: responseSchema } }),
  };
}

/**
 * Returns a simpler form to try if the refusal may be caused by an unsupported option. Reasoning models
 * refuse a temperature and say so; servers refuse the schema with many different messages.
 */
function simplify(form: RequestForm, { status, body }: EndpointResponse): RequestForm | undefined {
  if (status !== 400 && status !== 422) return undefined;
  if (form.temperature && /temperature/i.test(readReason(body))) {
    return { ...form, temperature: false };
  }
  return form.schema ? { ...form, schema: false } : undefined;
}

/**
 * Returns the reason in a refusal. The rest of the body is not searched: it may repeat the request,
 * which has a temperature.
 */
function readReason(body: unknown): string {
  if (typeof body === 'string') return body;
  const error = isObject(body) ? body['error'] : undefined;
  const reason = isObject(error) ? (error['message'] ?? error) : error;
  return typeof reason === 'string' ? reason : JSON.stringify(reason ?? '');
}

/** Describes a refusal without quoting the endpoint: its text may contain the key or the conversation. */
function describeRefusal(
  { status, retryAfter }: EndpointResponse,
  model: string,
  { clock, names: { endpoint, keyVariable } }: EndpointOptions,
): EndpointReply {
  if (status === 401 || status === 403) {
    return fail(`${endpoint} refuses the key (${status}). Check ${keyVariable}.`);
  }
  if (status === 404) {
    return fail(`${endpoint} returned 404: unknown model ${model}, or wrong base URL.`);
  }
  if (!isTemporaryStatus(status)) {
    return fail(`${endpoint} refuses the request (${status}).`);
  }
  const message =
    status === 429 ? `${endpoint} is rate limited (429).` : `${endpoint} failed (${status}).`;
  return {
    ok: false,
    message,
    isTemporary: true,
    retryAfterMs: readRetryAfterMs(retryAfter, clock.nowMs()),
  };
}

const failForNow = (message: string): Failure => ({ ok: false, message, isTemporary: true });
const fail = (message: string): Failure => ({ ok: false, message, isTemporary: false });
