import { askWithRetries, type Asking } from '../model/ask.ts';
import { openEndpoint, type Asked, type Prompt } from '../model/endpoint.ts';
import type { Clock } from '../../platform/clock.ts';
import { moveSchema } from './user-prompt.ts';
import { readMove } from './read-move.ts';
import { SessionFault } from './simulated-session.ts';
import type { Move } from './simulated-user.ts';

/** Where the language model is reached that plays users in mode `llm`, and how long it may take. */
export interface UserModelOptions {
  /** Of any OpenAI-compatible API, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Left out for endpoints that need none. */
  apiKey?: string;
  model: string;
  /** For one request; 30 000 when left out. */
  timeoutMs?: number;
  /** Requests after the first that failed; 2 when left out. */
  retriesMax?: number;
}

/** A language model that plays users. */
export interface UserModel {
  /** @throws SessionFault `simulator_error` where it gives no move, or the signal's reason. */
  move(prompt: Prompt, signal: AbortSignal): Promise<Move>;
}

/** How long all requests for one line may take, waits included. */
const totalMsMax = 120_000;

/** A model may answer with nonsense once; it is asked again, and then no more. */
const answersMax = 2;

const asked: Asked = {
  who: 'The model that plays the user',
  task: 'The session',
  keyVariable: 'SANDBOX_KIT_USER_API_KEY',
};

/** A model behind an OpenAI-compatible endpoint. Nothing is sent before the first move. */
export function openUserModel({
  clock,
  ...options
}: UserModelOptions & { clock: Clock }): UserModel {
  const { model, retriesMax = 2, apiKey } = options;
  const endpoint = openEndpoint({ ...options, clock, asked });
  const asking: Asking = { endpoint, clock, retriesMax, totalMsMax, asked, forWhat: 'a turn' };
  return {
    async move(prompt, signal) {
      for (let answers = 1; ; answers += 1) {
        const reply = await askWithRetries(asking, { model, prompt, answer: moveSchema }, signal);
        signal.throwIfAborted();
        if (!reply.ok) throw new SessionFault('simulator_error', reply.why);
        const move = readMove(reply.completion);
        if (typeof move !== 'string') return withoutKey(move, apiKey);
        if (answers < answersMax) continue;
        const why = `The answer of the model that plays the user can't be used: ${move}.`;
        throw new SessionFault('simulator_error', why);
      }
    },
  };
}

/** An endpoint that repeats its key back would send it to the sandbox. */
function withoutKey(move: Move, apiKey: string | undefined): Move {
  if (!apiKey || move.does === 'end') return move;
  const hide = (text: string): string => text.replaceAll(apiKey, '[key]');
  return { ...move, line: hide(move.line), reason: hide(move.reason) };
}
