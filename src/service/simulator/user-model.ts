import type { Clock } from '../../platform/clock.ts';
import { isObject, parseObject } from '../../platform/json.ts';
import { askWithRetries, type AskOptions } from '../model/ask.ts';
import {
  openEndpoint,
  type EndpointNames,
  type ModelEndpoint,
  type Prompt,
} from '../model/endpoint.ts';
import { SessionError } from './simulated-session.ts';
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

const names: EndpointNames = {
  endpoint: 'The model that plays the user',
  task: 'The session',
  keyVariable: 'SANDBOX_KIT_USER_API_KEY',
};

/** Creates a user model for an OpenAI-compatible endpoint. Sends nothing before the first move. */
export function openUserModel({ clock, ...options }: ModelEndpoint & { clock: Clock }): UserModel {
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
        if (!reply.ok) throw new SessionError('simulator_error', reply.message);
        const move = readMove(reply.completion);
        if (typeof move !== 'string') return hideKey(move, apiKey);
        if (responses < RESPONSES_MAX) continue;
        const message = `The response of the model that plays the user can't be used: ${move}.`;
        throw new SessionError('simulator_error', message);
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

const LINE_CHARS_MAX = 10_000;
const REASON_CHARS_MAX = 200;

/**
 * Reads the move from a chat completion. Returns a short description of the problem, without text of the
 * response, if there is no usable move.
 */
function readMove(completion: unknown): Move | string {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) return 'it is not a chat completion with a message';
  const { refusal, content } = message;
  if (typeof refusal === 'string' && refusal !== '') return 'the model refuses';
  if (choice['finish_reason'] === 'content_filter') return 'a content filter stopped it';
  if (choice['finish_reason'] === 'length') return 'it was cut off';
  if (typeof content !== 'string' || content.trim() === '') return 'it is empty';
  const text = content.replace(/^\s*<think>[^]*?<\/think>/, '');
  const response = parseObject(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return response ? toMove(response) : 'it is not one JSON object';
}

function toMove({ reason, line, end }: Record<string, unknown>): Move | string {
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
