import type { Clock } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { readCompletion, type ReplyObject } from './completion.ts';
import {
  openEndpoint,
  type EndpointNames,
  type EndpointReply,
  type ModelEndpoint,
  type Prompt,
  type Question,
  type ResponseSchema,
} from './endpoint.ts';

/** What a model is asked for. */
export interface ModelTask<Answer> {
  names: ModelNames;
  responseSchema: ResponseSchema;
  /** Time limit for all requests for one response, including waits. */
  totalMsMax: number;
  /** Responses that are read until one can be used. */
  responsesMax: number;
  /**
   * Reads a response. Returns a short description of the problem, without text of the response, if it
   * can't be used.
   */
  read: (response: ReplyObject) => Answer | string;
}

/** Names for failure messages. */
export interface ModelNames extends EndpointNames {
  /** E.g. `The judge's response`. */
  response: string;
  /** What the time limit belongs to, e.g. `an eval`. */
  purpose: string;
}

/** A language model that answers in JSON. */
export interface LanguageModel<Answer> {
  /** Asks the configured model or another, and retries temporary failures while there is time. Never rejects. */
  ask(prompt: Prompt, signal: AbortSignal, model?: string): Promise<ModelAnswer<Answer>>;
  /** Hides the API key, because an endpoint that echoes it would publish it. */
  hideKey(text: string): string;
}

/** An answer, or the reason why the model gave none. */
export type ModelAnswer<Answer> = { ok: true; answer: Answer } | { ok: false; message: string };

/** Longest Retry-After that is followed. */
const RETRY_AFTER_MS_MAX = 20_000;

/** Opens a model behind an OpenAI-compatible endpoint. Sends nothing before the first question. */
export function openModel<Answer extends object>(
  options: ModelEndpoint & { clock: Clock },
  { names, responseSchema, totalMsMax, responsesMax, read }: ModelTask<Answer>,
): LanguageModel<Answer> {
  const { clock, apiKey, retriesMax = 2 } = options;
  const endpoint = openEndpoint({ ...options, names });
  const limits = { attemptsMax: retriesMax + 1, totalMsMax, waitMsMax: RETRY_AFTER_MS_MAX, clock };

  async function askWithRetries(question: Question, signal: AbortSignal): Promise<EndpointReply> {
    const attempt = (leftMs: number): Promise<EndpointReply> =>
      endpoint.ask(question, leftMs, signal);
    const tried = await retry({ ...limits, signal }, attempt);
    const { result, attempts, excessiveWaitMs, isCanceled } = tried;
    if (result.ok || !result.isTemporary) return result;
    if (isCanceled) return { ...result, message: `${names.task} was canceled while it waited.` };
    const waitS = excessiveWaitMs && Math.ceil(excessiveWaitMs / 1000);
    const parts = [
      result.message,
      attempts > 1 && `Gave up after ${attempts} attempts.`,
      waitS && `It asks to wait ${waitS} s, longer than ${names.purpose} may take.`,
    ];
    return { ...result, message: parts.filter(Boolean).join(' ') };
  }

  return {
    async ask(prompt, signal, model = options.model) {
      for (let responses = 1; ; responses += 1) {
        const reply = await askWithRetries({ model, prompt, responseSchema }, signal);
        if (!reply.ok) return reply;
        const response = readCompletion(reply.completion);
        const answer = typeof response === 'string' ? response : read(response);
        if (typeof answer !== 'string') return { ok: true, answer };
        if (responses >= responsesMax) {
          return { ok: false, message: `${names.response} can't be used: ${answer}.` };
        }
      }
    },
    hideKey: (text) => (apiKey ? text.replaceAll(apiKey, '[key]') : text),
  };
}
