import type { Clock } from '../../platform/clock.ts';
import { askWithRetries, type AskOptions } from '../model/ask.ts';
import { openEndpoint, type EndpointNames, type Prompt } from '../model/endpoint.ts';
import { readMove } from './read-move.ts';
import { SessionFault } from './simulated-session.ts';
import type { Move } from './simulated-user.ts';
import { moveSchema } from './user-prompt.ts';

/** How to reach the language model that plays users in mode `llm`. */
export interface UserModelOptions {
  /** Base URL of an OpenAI-compatible API, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Absent for endpoints without authentication. */
  apiKey?: string;
  model: string;
  /** Timeout of one request. Default: 30,000. */
  timeoutMs?: number;
  /** Retries after a failed request. Default: 2. */
  retriesMax?: number;
}

/** A language model that plays users. */
export interface UserModel {
  /** @throws SessionFault `simulator_error` if it gives no move, or the signal's reason. */
  move(prompt: Prompt, signal: AbortSignal): Promise<Move>;
}

/** Time limit for all requests for one line, including waits. */
const TOTAL_MS_MAX = 120_000;

/** A model may respond with nonsense once. */
const RESPONSES_MAX = 2;

const names: EndpointNames = {
  endpoint: 'The model that plays the user',
  task: 'The session',
  keyVariable: 'SANDBOX_KIT_USER_API_KEY',
};

/** Creates a user model for an OpenAI-compatible endpoint. Sends nothing before the first move. */
export function openUserModel({
  clock,
  ...options
}: UserModelOptions & { clock: Clock }): UserModel {
  const { model, retriesMax = 2, apiKey } = options;
  const endpoint = openEndpoint({ ...options, clock, names });
  const asking: AskOptions = {
    endpoint,
    clock,
    retriesMax,
    totalMsMax: TOTAL_MS_MAX,
    names,
    purpose: 'a turn',
  };
  return {
    async move(prompt, signal) {
      for (let responses = 1; ; responses += 1) {
        const question = { model, prompt, responseSchema: moveSchema };
        const reply = await askWithRetries(asking, question, signal);
        signal.throwIfAborted();
        if (!reply.ok) throw new SessionFault('simulator_error', reply.message);
        const move = readMove(reply.completion);
        if (typeof move !== 'string') return hideKey(move, apiKey);
        if (responses < RESPONSES_MAX) continue;
        const message = `The response of the model that plays the user can't be used: ${move}.`;
        throw new SessionFault('simulator_error', message);
      }
    },
  };
}

/** Hides the API key, because an endpoint that echoes it would send it to the sandbox. */
function hideKey(move: Move, apiKey: string | undefined): Move {
  if (!apiKey || move.does === 'end') return move;
  const hide = (text: string): string => text.replaceAll(apiKey, '[key]');
  return { ...move, line: hide(move.line), reason: hide(move.reason) };
}
