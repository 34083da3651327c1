import type { Clock } from '../../../platform/clock.ts';
import type { ReplyObject } from '../../model/completion.ts';
import type { ModelEndpoint, Prompt } from '../../model/endpoint.ts';
import { openModel, type ModelTask } from '../../model/language-model.ts';
import { SessionError } from '../session-error.ts';
import type { Move } from './simulated-user.ts';
import { moveSchema } from './user-prompt.ts';

/** A language model that plays users. */
export interface UserModel {
  /** @throws SessionError `simulator_error` if it gives no move, or the signal's reason. */
  move(prompt: Prompt, signal: AbortSignal): Promise<Move>;
}

/** Time limit for all requests for one line, including waits. */
const TOTAL_MS_MAX = 120_000;

/** A model may respond with nonsense once. */
const RESPONSES_MAX = 2;

/** Creates a user model for an OpenAI-compatible endpoint. Sends nothing before the first move. */
export function openUserModel(options: ModelEndpoint & { clock: Clock }): UserModel {
  const model = openModel(options, task);
  return {
    async move(prompt, signal) {
      const reply = await model.ask(prompt, signal);
      signal.throwIfAborted();
      if (!reply.ok) throw new SessionError('simulator_error', reply.message);
      const move = reply.answer;
      if (move.does === 'end') return move;
      return { ...move, line: model.hideKey(move.line), reason: model.hideKey(move.reason) };
    },
  };
}

const LINE_CHARS_MAX = 10_000;
const REASON_CHARS_MAX = 200;

function readMove({ object }: ReplyObject): Move | string {
  const { reason, line, end } = object;
  if (end !== 'no' && end !== 'goal_achieved' && end !== 'user_stop') {
    return 'its end is not one of no, goal_achieved, user_stop';
  }
  if (typeof line !== 'string') return 'it has no line';
  const text = line.trim();
  if (text === '') return end === 'no' ? 'its line is empty' : { does: 'end', reason: end };
  if (text.length > LINE_CHARS_MAX) return `its line is longer than ${LINE_CHARS_MAX} characters`;
  const why =
    typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : 'gives no reason';
  const short = why.replaceAll(/\s+/g, ' ').slice(0, REASON_CHARS_MAX).toWellFormed();
  return { does: 'say', line: text, reason: short, ...(end !== 'no' && { thenEnds: end }) };
}

const task: ModelTask<Move> = {
  names: {
    endpoint: 'The model that plays the user',
    response: 'The response of the model that plays the user',
    task: 'The session',
    purpose: 'a turn',
    keyVariable: 'SANDBOX_KIT_USER_API_KEY',
  },
  responseSchema: moveSchema,
  totalMsMax: TOTAL_MS_MAX,
  responsesMax: RESPONSES_MAX,
  read: readMove,
};
