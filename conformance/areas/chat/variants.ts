import {
  acceptInstead,
  changeResponse,
  delay,
  drop,
  errorResponse,
  respondInstead,
  isAccepted,
  jsonResponse,
  editChat,
  editErrors,
  replaceParts,
  set,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import {
  createVariantFactory,
  type ProxyRequest,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';
import {
  hasWrongKey,
  lacks,
  messagesTextOf,
  stringAt,
  where,
} from '../../engine/mutants/requests.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { rememberBy } from './mutants/sessions.ts';

const variant = createVariantFactory('chat');

const MESSAGE = '/choices/0/message';
const chat = to('chat');

const call = {
  id: '',
  type: 'function',
  function: { name: 'look_up', arguments: '{}', result: {} },
  took_ms: 12,
};

/** Reduces the reply to its required fields. */
const bare: TransformFactory = changeResponse(chat, (response) => {
  const body = parseJson(response.body);
  if (!isAccepted(response) || !isObject(body)) return response;
  return jsonResponse(response.status, {
    choices: [{ message: { role: 'assistant', content: 'Yes.' } }],
  });
});

const replies: Variant[] = [
  variant('bare', 'Sends only the required fields.', bare),
  variant(
    'extra-fields',
    'Sends unknown fields at every level.',
    editChat(
      set('/id', 'chatcmpl-1'),
      set('/object', 'chat.completion'),
      set('/created', 1_795_167_000),
      set('/model', 'any'),
      set('/usage', { total_tokens: 12 }),
      set('/choices/0/logprobs', null),
      set(`${MESSAGE}/refusal`, null),
      set('/metadata/cost', { usd: 0.01 }),
      set('/evaluation_metadata/anything', [1, 'two', null]),
    ),
  ),
  variant(
    'two-choices',
    'Sends two choices.',
    editChat(set('/choices/1', { index: 1, message: { role: 'assistant', content: 'Or not.' } })),
  ),
  variant('index-one', 'Numbers choices from 1.', editChat(set('/choices/0/index', 1))),
  variant(
    'finish-length',
    'Sends the finish reason "length".',
    editChat(set('/choices/0/finish_reason', 'length')),
  ),
  variant('content-empty', 'Sends empty `content`.', editChat(set(`${MESSAGE}/content`, ''))),
  variant(
    'tool-calls-empty',
    'Sends an empty `tool_calls`.',
    editChat(set(`${MESSAGE}/tool_calls`, []), drop('/metadata/tools_used')),
  ),
  variant(
    'tools-everywhere',
    'Calls a tool for every reply and sends empty `content`.',
    editChat(
      set(`${MESSAGE}/tool_calls`, [call, call]),
      set(`${MESSAGE}/content`, ''),
      set('/choices/0/finish_reason', 'tool_calls'),
      set('/metadata/tools_used', ['look_up']),
    ),
  ),
  variant(
    'tools-unlisted',
    'Calls tools that `tools_used` does not name.',
    editChat(set(`${MESSAGE}/tool_calls`, [call]), set('/metadata/tools_used', [])),
  ),
  variant(
    'hints-of-other-types',
    'Sends known keys of `evaluation_metadata` with other types.',
    editChat(set('/evaluation_metadata', { order_found: 'yes', tone: 3, resolution_step: '1/3' })),
  ),
  variant(
    'numbers-at-the-edge',
    'Sends a confidence of 1 and a response time of 0.',
    editChat(set('/metadata/agent_confidence', 1), set('/metadata/response_time_ms', 0)),
  ),
];

const sessions: Variant[] = [
  variant('session-id-left-out', 'Omits `session_id`.', editChat(drop('/session_id'))),
  variant('session-id-made-up', 'Generates a session id if the request has none.', () => {
    let made = 0;
    const transform = editChat((body, request) => {
      if (lacks('session_id')(request)) body['session_id'] = `session-${++made}`;
    })();
    return transform;
  }),
  variant(
    'chat-id-constant',
    'Sends the same `chat_id` in every reply.',
    editChat(set('/chat_id', 'chat')),
  ),
  variant(
    'memory-per-user',
    'Repeats what the same user said in any session.',
    rememberBy((request) => stringAt('user_id', request) ?? stringAt('session_id', request)),
  ),
  variant(
    'repeats',
    'Repeats the whole conversation and its session id.',
    editChat(
      set(`${MESSAGE}/content`, (request: ProxyRequest) => messagesTextOf(request)),
      set('/chat_id', (request: ProxyRequest) => stringAt('session_id', request) ?? 'none'),
    ),
  ),
];

/** The request has a field of a type that the specification neither allows nor forbids. */
const hasOddTypes: When = ({ json: sent }) =>
  isObject(sent) &&
  (typeof sent['metadata'] === 'string' ||
    typeof sent['user_id'] === 'number' ||
    (Array.isArray(sent['messages']) && sent['messages'].some(isInParts)));

const isInParts = (message: unknown): boolean =>
  isObject(message) && Array.isArray(message['content']);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Some field outside `metadata` is not in the specification. */
const hasUnknownFields: When = ({ json }) => {
  if (!isObject(json)) return false;
  const { messages } = json;
  const hasOther = (value: unknown, keys: readonly string[]): boolean =>
    isObject(value) && Object.keys(value).some((key) => !keys.includes(key));
  return (
    hasOther(json, ['messages', 'user_id', 'session_id', 'metadata']) ||
    (Array.isArray(messages) && messages.some((message) => hasOther(message, ['role', 'content'])))
  );
};

const refusesInOwnFormat = (status: number): TransformFactory =>
  respondInstead(to('chat', hasOddTypes), () =>
    jsonResponse(status, { detail: 'Input should be valid' }),
  );

const requests: Variant[] = [
  variant('status-201', 'Responds with 201.', replaceParts(chat, { status: 201 }, isAccepted)),
  variant(
    'unknown-fields-refused',
    'Refuses fields that the specification does not name.',
    respondInstead(to('chat', hasUnknownFields), () => errorResponse(400, 'bad_request')),
  ),
  variant(
    'null-character-refused',
    'Refuses U+0000 in any text.',
    respondInstead(
      to('chat', ({ body }) => body.includes('\\u0000')),
      () => errorResponse(400, 'bad_request'),
    ),
  ),
  variant(
    'large-body-refused',
    'Refuses bodies of more than 64 kB.',
    respondInstead(
      to('chat', ({ body }) => body.length > 65_536),
      () => errorResponse(400, 'bad_request'),
    ),
  ),
  variant('wrong-key-taken', 'Accepts any key.', acceptInstead(to('chat', hasWrongKey))),
  variant(
    'wrong-key-own-body',
    'Refuses a wrong key with a plain-text body.',
    respondInstead(to('chat', hasWrongKey), () => ({
      status: 401,
      headers: {},
      body: 'Unauthorized',
    })),
  ),
  variant(
    'wrong-key-403',
    'Refuses a wrong key with 403.',
    respondInstead(to('chat', hasWrongKey), () => errorResponse(403, 'bad_request')),
  ),
  variant(
    'empty-messages-refused',
    'Refuses an empty `messages`.',
    respondInstead(to('chat', where('messages', isEmptyList)), () =>
      errorResponse(400, 'bad_request'),
    ),
  ),
  variant(
    'empty-messages-taken',
    'Accepts an empty `messages`.',
    acceptInstead(to('chat', where('messages', isEmptyList))),
  ),
  variant(
    'odd-types-taken',
    'Accepts fields of unusual types.',
    acceptInstead(to('chat', hasOddTypes)),
  ),
  variant(
    'odd-types-400',
    'Refuses fields of unusual types with 400 and its own error format.',
    refusesInOwnFormat(400),
  ),
  variant('odd-types-422', 'Refuses fields of unusual types with 422.', refusesInOwnFormat(422)),
  variant(
    'error-extra-fields',
    'Adds unknown fields to its errors.',
    editErrors(chat, set('/error/param', 'messages'), set('/request_id', 'r-1')),
  ),
  variant('slow-but-in-time', 'Takes 2 s for each reply.', delay(chat, 2_000), {
    clockFactor: 20,
  }),
  variant('once-slow', 'Takes 12 s for one reply.', delayOnce, { clockFactor: 10 }),
];

function delayOnce(): ReturnType<TransformFactory> {
  let isDone = false;
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat' && !isDone) {
      isDone = true;
      await clock.sleep(12_000);
    }
    return forward(request);
  };
}

/** Legal variants of `POST /v1/chat/completions`. */
export const chatVariants: readonly Variant[] = [...replies, ...sessions, ...requests];
