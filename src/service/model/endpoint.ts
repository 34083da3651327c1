import type OpenAI from 'openai';
import type * as OpenAIModule from 'openai';
import { readRetryAfterMs, type Clock } from '../../platform/clock.ts';

/** Largest response that is read. A useful one has a few hundred bytes. */
const RESPONSE_BYTES_MAX = 1024 * 1024;

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
export type EndpointReply =
  | { ok: true; completion: unknown }
  | { ok: false; message: string; isRetryable: boolean; retryAfterMs?: number | undefined };

/** An OpenAI-compatible endpoint. */
export interface Endpoint {
  /** Sends one request, or up to three if the endpoint does not support an option. Never rejects. */
  ask(question: Question, leftMs: number, signal: AbortSignal): Promise<EndpointReply>;
}

/** How to reach an endpoint. */
export interface EndpointOptions {
  baseUrl: string;
  apiKey?: string;
  timeoutMs?: number;
  clock: Clock;
  names: EndpointNames;
}

/** Options that not every endpoint supports. An option is dropped once a request succeeded without it. */
interface RequestForm {
  schema: boolean;
  temperature: boolean;
}

/** The parts of an API error that say why a request was refused. */
interface RefusalDetails {
  status: unknown;
  message: string;
}

type Library = typeof OpenAIModule;

/** Opens an endpoint. The library is loaded with the first question, not when the service starts. */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const { baseUrl, apiKey, timeoutMs = 30_000, clock, names } = options;
  let opened: Promise<{ client: OpenAI; library: Library }> | undefined;
  const open = async (): Promise<{ client: OpenAI; library: Library }> => {
    const library = await import('openai');
    const client = new library.OpenAI({
      baseURL: baseUrl,
      apiKey: apiKey ?? 'none',
      fetch: boundedFetch,
      // Retries and timeouts use our clock. Null keeps the library from reading the environment.
      maxRetries: 0,
      timeout: 2 * timeoutMs,
      logLevel: 'off',
      organization: null,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
    });
    return { client, library };
  };
  let form: RequestForm = { schema: true, temperature: true };
  return {
    async ask(question, leftMs, signal) {
      const { client, library } = await (opened ??= open());
      const limitMs = Math.min(timeoutMs, leftMs);
      using deadline = clock.deadline(limitMs);
      const until = AbortSignal.any([signal, deadline.signal]);
      for (let tried = form; ;) {
        try {
          const completion: unknown = await client.chat.completions.create(
            buildRequest(question, tried),
            { signal: until },
          );
          form = tried;
          return { ok: true, completion };
        } catch (error) {
          const simpler = error instanceof library.APIError ? simplify(tried, error) : undefined;
          if (simpler && !until.aborted) tried = simpler;
          else if (signal.aborted) return fail(`${names.task} was canceled.`);
          else if (deadline.signal.aborted)
            return failRetryably(`${names.endpoint} did not respond within ${limitMs} ms.`);
          else return describeError(error, question.model, library, { clock, names });
        }
      }
    },
  };
}

function buildRequest(
  { model, prompt, responseSchema }: Question,
  { schema, temperature }: RequestForm,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
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
function simplify(form: RequestForm, { status, message }: RefusalDetails): RequestForm | undefined {
  if (status !== 400 && status !== 422) return undefined;
  if (form.temperature && /temperature/i.test(message)) return { ...form, temperature: false };
  return form.schema ? { ...form, schema: false } : undefined;
}

/** Describes a failure without quoting the endpoint: its text may contain the key or the conversation. */
function describeError(
  error: unknown,
  model: string,
  library: Library,
  { clock, names: { endpoint, keyVariable } }: { clock: Clock; names: EndpointNames },
): EndpointReply {
  if (error instanceof library.APIConnectionError)
    return failRetryably(`${endpoint} can't be reached.`);
  const status: unknown = error instanceof library.APIError ? error.status : undefined;
  if (typeof status !== 'number' || !(error instanceof library.APIError)) {
    return fail(`${endpoint} did not return a chat completion.`);
  }
  if (status === 401 || status === 403) {
    return fail(`${endpoint} refuses the key (${status}). Check ${keyVariable}.`);
  }
  if (status === 404) {
    return fail(`${endpoint} returned 404: unknown model ${model}, or wrong base URL.`);
  }
  if (status !== 408 && status !== 429 && status < 500) {
    return fail(`${endpoint} refuses the request (${status}).`);
  }
  const message =
    status === 429 ? `${endpoint} is rate limited (429).` : `${endpoint} failed (${status}).`;
  const headers: unknown = error.headers;
  const retryAfter = headers instanceof Headers ? headers.get('retry-after') : undefined;
  return {
    ok: false,
    message,
    isRetryable: true,
    retryAfterMs: readRetryAfterMs(retryAfter, clock.nowMs()),
  };
}

const failRetryably = (message: string): EndpointReply => ({
  ok: false,
  message,
  isRetryable: true,
});
const fail = (message: string): EndpointReply => ({ ok: false, message, isRetryable: false });

/** `fetch` with a limit for the size of the response. */
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  let left = RESPONSE_BYTES_MAX;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      left -= chunk.byteLength;
      if (left < 0) out.error(new Error(`The response has more than ${RESPONSE_BYTES_MAX} bytes.`));
      else out.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(bound) ?? null, { status, statusText, headers });
};
