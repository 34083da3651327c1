import type OpenAI from 'openai';
import { httpDateMs, type Clock } from '../../shared/clock.ts';
import { verdictSchema, type Prompt } from './judge-prompt.ts';

/** The largest answer that is read; a verdict has a few hundred bytes. */
const answerBytesMax = 1024 * 1024;

/** What is asked of which model. */
export interface Question {
  model: string;
  prompt: Prompt;
}

/** What came back: a body that should be a chat completion, or why there is none. */
export type Reply =
  | { ok: true; completion: unknown }
  | { ok: false; why: string; again: boolean; retryAfterMs?: number | undefined };

/** An OpenAI-compatible endpoint. */
export interface Endpoint {
  /** One request, or up to three where the endpoint does not know an option. Never rejects. */
  ask(question: Question, leftMs: number, signal: AbortSignal): Promise<Reply>;
}

/** How to reach an endpoint. */
export interface EndpointOptions {
  baseUrl: string;
  apiKey?: string;
  timeoutMs?: number;
  clock: Clock;
}

/** What not every endpoint and model knows; left out once the endpoint did well without. */
interface Form {
  schema: boolean;
  temperature: boolean;
}

/** What tells why a request was refused. */
interface Refusal {
  status: unknown;
  message: string;
}

type Library = typeof import('openai');

/** An endpoint; the library is loaded with the first question, not when the service starts. */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const { baseUrl, apiKey, timeoutMs = 30_000, clock } = options;
  let opened: Promise<{ client: OpenAI; library: Library }> | undefined;
  const open = async (): Promise<{ client: OpenAI; library: Library }> => {
    const library = await import('openai');
    const client = new library.OpenAI({
      baseURL: baseUrl,
      apiKey: apiKey ?? 'none',
      fetch: boundedFetch,
      // Retries and time are ours, on our clock. What is null would be read from the environment.
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
  let form: Form = { schema: true, temperature: true };
  return {
    async ask(question, leftMs, signal) {
      const { client, library } = await (opened ??= open());
      const limitMs = Math.min(timeoutMs, leftMs);
      using deadline = clock.deadline(limitMs);
      const until = AbortSignal.any([signal, deadline.signal]);
      for (let tried = form; ;) {
        try {
          const completion: unknown = await client.chat.completions.create(
            requestOf(question, tried),
            { signal: until },
          );
          form = tried;
          return { ok: true, completion };
        } catch (fault) {
          const simpler = fault instanceof library.APIError ? simplerForm(tried, fault) : undefined;
          if (simpler && !until.aborted) tried = simpler;
          else if (signal.aborted) return final('The scoring was called off.');
          else if (deadline.signal.aborted)
            return again(`The judge gave no answer within ${limitMs} ms.`);
          else return replyOf(fault, question.model, library, clock);
        }
      }
    },
  };
}

function requestOf(
  { model, prompt }: Question,
  { schema, temperature }: Form,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: [
      { role: 'system', content: prompt.rules },
      { role: 'user', content: prompt.transcript },
    ],
    ...(temperature && { temperature: 0 }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: verdictSchema } }),
  };
}

/**
 * A refusal that may come from an option that the endpoint does not know: the request without it.
 * Models that reason refuse a temperature and say so; servers refuse the schema in many words.
 */
function simplerForm(form: Form, { status, message }: Refusal): Form | undefined {
  if (status !== 400 && status !== 422) return undefined;
  if (form.temperature && /temperature/i.test(message)) return { ...form, temperature: false };
  return form.schema ? { ...form, schema: false } : undefined;
}

/** Nothing that the endpoint says is repeated: it may hold the key, or the conversation. */
function replyOf(fault: unknown, model: string, library: Library, clock: Clock): Reply {
  if (fault instanceof library.APIConnectionError) return again('The judge cannot be reached.');
  const status: unknown = fault instanceof library.APIError ? fault.status : undefined;
  if (typeof status !== 'number' || !(fault instanceof library.APIError)) {
    return final('The judge answered with something that is no chat completion.');
  }
  if (status === 401 || status === 403) {
    return final(`The judge refuses the key (${status}); see SANDBOX_KIT_JUDGE_API_KEY.`);
  }
  if (status === 404) {
    return final(`The judge knows no model ${model}, or is not at this address (404).`);
  }
  if (status !== 408 && status !== 429 && status < 500) {
    return final(`The judge refuses the request (${status}).`);
  }
  const why =
    status === 429 ? 'The judge is asked too often (429).' : `The judge fails (${status}).`;
  return { ok: false, why, again: true, retryAfterMs: retryAfterMs(fault.headers, clock) };
}

const again = (why: string): Reply => ({ ok: false, why, again: true });
const final = (why: string): Reply => ({ ok: false, why, again: false });

/** Retry-After as seconds or as a date; undefined when there is none that can be read. */
function retryAfterMs(headers: unknown, clock: Clock): number | undefined {
  const given = headers instanceof Headers ? headers.get('retry-after')?.trim() : undefined;
  if (!given) return undefined;
  if (/^\d{1,9}(\.\d{1,9})?$/.test(given)) return Number(given) * 1000;
  const atMs = httpDateMs(given);
  return atMs === undefined ? undefined : Math.max(0, atMs - clock.nowMs());
}

/** `fetch` that breaks off an answer that has no end. */
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  let left = answerBytesMax;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      left -= chunk.byteLength;
      if (left < 0) out.error(new Error(`more than ${answerBytesMax} bytes`));
      else out.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(bound) ?? null, { status, statusText, headers });
};
