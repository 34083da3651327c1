import type OpenAI from 'openai';
import { httpDateMs, type Clock } from '../../platform/clock.ts';

/** The largest answer that is read; one that is wanted has a few hundred bytes. */
const answerBytesMax = 1024 * 1024;

/** What is sent: the rules apart from the text that they are about. */
export interface Prompt {
  rules: string;
  transcript: string;
}

/** A JSON Schema that the answer is to have, where the endpoint knows how. */
export interface AnswerSchema {
  name: string;
  strict: boolean;
  schema: Record<string, unknown>;
}

/** What is asked of which model. */
export interface Question {
  model: string;
  prompt: Prompt;
  answer: AnswerSchema;
}

/** How failures are told: who was asked, what for, and where its key is set. */
export interface Asked {
  /** e.g. `The judge`. */
  who: string;
  /** e.g. `The scoring`. */
  task: string;
  keyVariable: string;
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
  asked: Asked;
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
  const { baseUrl, apiKey, timeoutMs = 30_000, clock, asked } = options;
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
          else if (signal.aborted) return final(`${asked.task} was called off.`);
          else if (deadline.signal.aborted)
            return again(`${asked.who} gave no answer within ${limitMs} ms.`);
          else return replyOf(fault, question.model, library, { clock, asked });
        }
      }
    },
  };
}

function requestOf(
  { model, prompt, answer }: Question,
  { schema, temperature }: Form,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: [
      { role: 'system', content: prompt.rules },
      { role: 'user', content: prompt.transcript },
    ],
    ...(temperature && { temperature: 0 }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: answer } }),
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
function replyOf(
  fault: unknown,
  model: string,
  library: Library,
  { clock, asked: { who, keyVariable } }: { clock: Clock; asked: Asked },
): Reply {
  if (fault instanceof library.APIConnectionError) return again(`${who} cannot be reached.`);
  const status: unknown = fault instanceof library.APIError ? fault.status : undefined;
  if (typeof status !== 'number' || !(fault instanceof library.APIError)) {
    return final(`${who} answered with something that is no chat completion.`);
  }
  if (status === 401 || status === 403) {
    return final(`${who} refuses the key (${status}); see ${keyVariable}.`);
  }
  if (status === 404) {
    return final(`${who} knows no model ${model}, or is not at this address (404).`);
  }
  if (status !== 408 && status !== 429 && status < 500) {
    return final(`${who} refuses the request (${status}).`);
  }
  const why = status === 429 ? `${who} is asked too often (429).` : `${who} fails (${status}).`;
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
