import {
  acceptsInstead,
  changes,
  delays,
  drop,
  failure,
  instead,
  isAccepted,
  json,
  jsonOf,
  onChat,
  onErrors,
  replaces,
  set,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import {
  variantsOf,
  type ProxyRequest,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';
import { lacks, saidIn, textAt, where } from '../../engine/mutants/requests.ts';
import { isObject } from '../../../src/platform/json.ts';

const variant = variantsOf('chat');

const MESSAGE = '/choices/0/message';
const chat = to('chat');

const call = {
  id: '',
  type: 'function',
  function: { name: 'look_up', arguments: '{}', result: {} },
  took_ms: 12,
};

/** The reply cut down to what is marked as required. */
const bare: TransformFactory = changes(chat, (answer) => {
  const body = jsonOf(answer);
  if (!isAccepted(answer) || !isObject(body)) return answer;
  return json(answer.status, { choices: [{ message: { role: 'assistant', content: 'Yes.' } }] });
});

const replies: Variant[] = [
  variant('bare', 'Sends the required fields and nothing else.', bare),
  variant(
    'extra-fields',
    'Sends fields that nobody knows, everywhere.',
    onChat(
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
    'Gives two choices.',
    onChat(set('/choices/1', { index: 1, message: { role: 'assistant', content: 'Or not.' } })),
  ),
  variant('index-one', 'Counts choices from 1.', onChat(set('/choices/0/index', 1))),
  variant('finish-length', 'Stops for length.', onChat(set('/choices/0/finish_reason', 'length'))),
  variant('content-empty', 'Says nothing.', onChat(set(`${MESSAGE}/content`, ''))),
  variant(
    'tool-calls-empty',
    'Lists no tool calls.',
    onChat(set(`${MESSAGE}/tool_calls`, []), drop('/metadata/tools_used')),
  ),
  variant(
    'tools-everywhere',
    'Calls a tool for every reply, and says nothing beside it.',
    onChat(
      set(`${MESSAGE}/tool_calls`, [call, call]),
      set(`${MESSAGE}/content`, ''),
      set('/choices/0/finish_reason', 'tool_calls'),
      set('/metadata/tools_used', ['look_up']),
    ),
  ),
  variant(
    'tools-unlisted',
    'Calls tools that tools_used does not name.',
    onChat(set(`${MESSAGE}/tool_calls`, [call]), set('/metadata/tools_used', [])),
  ),
  variant(
    'hints-of-other-types',
    'Gives the known hints other types.',
    onChat(set('/evaluation_metadata', { order_found: 'yes', tone: 3, resolution_step: '1/3' })),
  ),
  variant(
    'numbers-at-the-edge',
    'Is certain, and took no time.',
    onChat(set('/metadata/agent_confidence', 1), set('/metadata/response_time_ms', 0)),
  ),
];

const sessions: Variant[] = [
  variant('session-id-left-out', 'Never echoes the session id.', onChat(drop('/session_id'))),
  variant('session-id-made-up', 'Makes up a session id when none came.', () => {
    let made = 0;
    const transform = onChat((body, asked) => {
      if (lacks('session_id')(asked)) body['session_id'] = `session-${++made}`;
    })();
    return transform;
  }),
  variant(
    'session-id-null',
    'Says null when no session id came.',
    onChat((body, asked) => {
      if (lacks('session_id')(asked)) body['session_id'] = null;
    }),
  ),
  variant('chat-id-constant', 'Has one chat id for all.', onChat(set('/chat_id', 'chat'))),
  variant(
    'repeats',
    'Repeats all that its own conversation said, the session id too.',
    onChat(
      set(`${MESSAGE}/content`, (asked: ProxyRequest) => saidIn(asked)),
      set('/chat_id', (asked: ProxyRequest) => textAt('session_id', asked) ?? 'none'),
    ),
  ),
];

const isWrongKey = ({ headers }: ProxyRequest): boolean =>
  headers['authorization'] === 'Bearer sandbox-kit-wrong-key';

/** Types about which the specification says nothing but what they usually are. */
const hasOddTypes: When = ({ json: sent }) =>
  isObject(sent) &&
  (typeof sent['metadata'] === 'string' ||
    typeof sent['user_id'] === 'number' ||
    (Array.isArray(sent['messages']) && sent['messages'].some(isInParts)));

const isInParts = (message: unknown): boolean =>
  isObject(message) && Array.isArray(message['content']);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const own = (status: number): TransformFactory =>
  instead(to('chat', hasOddTypes), () => json(status, { detail: 'Input should be valid' }));

const requests: Variant[] = [
  variant('status-201', 'Answers 201.', replaces(chat, { status: 201 }, isAccepted)),
  variant('wrong-key-taken', 'Takes any key.', acceptsInstead(to('chat', isWrongKey))),
  variant(
    'wrong-key-own-body',
    'Refuses a wrong key in words of its own.',
    instead(to('chat', isWrongKey), () => ({ status: 401, headers: {}, body: 'Unauthorized' })),
  ),
  variant(
    'wrong-key-403',
    'Refuses a wrong key with 403.',
    instead(to('chat', isWrongKey), () => failure(403, 'bad_request')),
  ),
  variant(
    'empty-messages-refused',
    'Refuses an empty list of messages.',
    instead(to('chat', where('messages', isEmptyList)), () => failure(400, 'bad_request')),
  ),
  variant(
    'empty-messages-taken',
    'Takes an empty list of messages.',
    acceptsInstead(to('chat', where('messages', isEmptyList))),
  ),
  variant('odd-types-taken', 'Takes parts of odd types.', acceptsInstead(to('chat', hasOddTypes))),
  variant('odd-types-400', 'Refuses parts of odd types in words of its own.', own(400)),
  variant('odd-types-422', 'Refuses parts of odd types with 422.', own(422)),
  variant(
    'error-extra-fields',
    'Adds fields to its errors.',
    onErrors(chat, set('/error/param', 'messages'), set('/request_id', 'r-1')),
  ),
  variant('slow-but-in-time', 'Takes 2 s for a reply.', delays(chat, 2_000), { clockFactor: 20 }),
  variant('once-slow', 'Takes 12 s for one reply.', onceSlow, { clockFactor: 40 }),
];

function onceSlow(): ReturnType<TransformFactory> {
  let isDone = false;
  return async (asked, forward, clock) => {
    if (asked.endpoint === 'chat' && !isDone) {
      isDone = true;
      await clock.sleep(12_000);
    }
    return forward(asked);
  };
}

/** Legal variants of `POST /v1/chat/completions`. */
export const chatVariants: readonly Variant[] = [...replies, ...sessions, ...requests];
