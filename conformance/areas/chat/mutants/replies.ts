import type { ChatRequirementId } from '../requirements.ts';
import {
  combineEdits,
  drop,
  editChat,
  set,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';

const MESSAGE = '/choices/0/message';

const reply = (
  name: string,
  description: string,
  kills: ChatRequirementId,
  ...edits: Edit[]
): Mutant => ({
  id: `chat/${name}`,
  areas: ['chat'],
  description,
  kills: [kills],
  transform: editChat(...edits),
});

/** Replies without a required part. */
const parts: Mutant[] = [
  reply('choices-missing', 'Omits `choices`.', 'CHAT-020', drop('/choices')),
  reply('choices-empty', 'Sends an empty `choices`.', 'CHAT-020', set('/choices', [])),
  reply('choices-an-object', 'Sends `choices` as an object.', 'CHAT-020', set('/choices', {})),
  reply('choices-null', 'Sends `choices` as null.', 'CHAT-020', set('/choices', null)),
  reply('choice-a-string', 'Sends a choice as a string.', 'CHAT-021', set('/choices/0', 'Hello.')),
  reply(
    'second-choice-null',
    'Sends null as the second choice.',
    'CHAT-021',
    set('/choices/1', null),
  ),
  reply('message-missing', 'Omits `message`.', 'CHAT-022', drop(MESSAGE)),
  reply('message-a-string', 'Sends `message` as a string.', 'CHAT-022', set(MESSAGE, 'Hello.')),
  reply('role-missing', 'Omits `role`.', 'CHAT-023', drop(`${MESSAGE}/role`)),
  reply('role-agent', 'Sends the role "agent".', 'CHAT-023', set(`${MESSAGE}/role`, 'agent')),
  reply('content-missing', 'Omits `content`.', 'CHAT-024', drop(`${MESSAGE}/content`)),
  reply('content-null', 'Sends `content` as null.', 'CHAT-024', set(`${MESSAGE}/content`, null)),
  reply(
    'content-parts',
    'Sends `content` as an array of parts.',
    'CHAT-024',
    set(`${MESSAGE}/content`, [{ type: 'text', text: 'Hello.' }]),
  ),
];

/** Replies with a field of the wrong type. */
const fields: Mutant[] = [
  reply('index-a-string', 'Sends `index` as a string.', 'CHAT-025', set('/choices/0/index', '0')),
  reply(
    'finish-reason-null',
    'Sends `finish_reason` as null.',
    'CHAT-027',
    set('/choices/0/finish_reason', null),
  ),
  reply('chat-id-a-number', 'Sends `chat_id` as a number.', 'CHAT-032', set('/chat_id', 17)),
  reply('chat-id-null', 'Sends `chat_id` as null.', 'CHAT-032', set('/chat_id', null)),
  reply('metadata-null', 'Sends `metadata` as null.', 'CHAT-033', set('/metadata', null)),
  reply('metadata-an-array', 'Sends `metadata` as an array.', 'CHAT-033', set('/metadata', [])),
  reply(
    'confidence-percentage',
    'Sends `agent_confidence` as a percentage.',
    'CHAT-034',
    set('/metadata/agent_confidence', 95),
  ),
  reply(
    'confidence-a-string',
    'Sends `agent_confidence` as a word.',
    'CHAT-034',
    set('/metadata/agent_confidence', 'high'),
  ),
  reply(
    'response-time-fraction',
    'Sends `response_time_ms` with a fraction.',
    'CHAT-035',
    set('/metadata/response_time_ms', 12.5),
  ),
  reply(
    'response-time-null',
    'Sends `response_time_ms` as null.',
    'CHAT-035',
    set('/metadata/response_time_ms', null),
  ),
  reply(
    'tools-used-a-string',
    'Sends `tools_used` as a string.',
    'CHAT-036',
    set('/metadata/tools_used', 'look_up'),
  ),
  reply(
    'tools-used-objects',
    'Sends `tools_used` as an array of objects.',
    'CHAT-036',
    set('/metadata/tools_used', [{ name: 'look_up' }]),
  ),
  reply(
    'evaluation-metadata-an-array',
    'Sends `evaluation_metadata` as an array.',
    'CHAT-037',
    set('/evaluation_metadata', ['order_found']),
  ),
];

const CALLS = `${MESSAGE}/tool_calls`;
const CALL = `${CALLS}/0`;

/** Adds a valid tool call, and drops `tools_used`, which would have to name it. */
const addToolCall: Edit = combineEdits(
  (body, request) =>
    set(CALLS, [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'look_up', arguments: '{"order":"A-1"}', result: { found: true } },
      },
    ])(body, request),
  drop('/metadata/tools_used'),
);

const call = (name: string, description: string, kills: ChatRequirementId, edit: Edit): Mutant =>
  reply(name, description, kills, addToolCall, edit);

/** Replies with a malformed or incomplete tool call. */
const tools: Mutant[] = [
  call('tool-calls-null', 'Sends `tool_calls` as null.', 'CHAT-040', set(CALLS, null)),
  call('tool-calls-an-object', 'Sends `tool_calls` as an object.', 'CHAT-040', set(CALLS, {})),
  call('tool-call-a-string', 'Sends a tool call as a string.', 'CHAT-040', set(CALL, 'look_up')),
  call('call-id-missing', 'Omits the `id` of a tool call.', 'CHAT-041', drop(`${CALL}/id`)),
  call(
    'call-id-a-number',
    'Sends the `id` of a tool call as a number.',
    'CHAT-041',
    set(`${CALL}/id`, 1),
  ),
  call('call-type-missing', 'Omits the `type` of a tool call.', 'CHAT-042', drop(`${CALL}/type`)),
  call(
    'call-type-tool',
    'Sends a tool call with the type "tool".',
    'CHAT-042',
    set(`${CALL}/type`, 'tool'),
  ),
  call(
    'call-function-missing',
    'Omits the `function` of a tool call.',
    'CHAT-043',
    drop(`${CALL}/function`),
  ),
  call(
    'call-function-a-string',
    'Sends the `function` of a tool call as a string.',
    'CHAT-043',
    set(`${CALL}/function`, 'look_up'),
  ),
  call(
    'call-name-missing',
    'Omits the `name` of a function.',
    'CHAT-044',
    drop(`${CALL}/function/name`),
  ),
  call(
    'call-arguments-an-object',
    'Sends `arguments` as an object.',
    'CHAT-045',
    set(`${CALL}/function/arguments`, { order: 'A-1' }),
  ),
  call(
    'call-arguments-not-json',
    'Sends `arguments` that are not JSON.',
    'CHAT-045',
    set(`${CALL}/function/arguments`, "order='A-1'"),
  ),
  call(
    'call-arguments-missing',
    'Omits `arguments`.',
    'CHAT-045',
    drop(`${CALL}/function/arguments`),
  ),
  call(
    'call-result-missing',
    'Omits the `result` of a tool call.',
    'CHAT-046',
    combineEdits(drop(`${CALL}/function/result`), set(`${MESSAGE}/content`, 'It is on its way.')),
  ),
  call(
    'call-result-a-string',
    'Sends the `result` of a tool call as a string.',
    'CHAT-046',
    set(`${CALL}/function/result`, '{"found":true}'),
  ),
  call(
    'call-left-out',
    'Names a tool in `tools_used` and omits its tool call.',
    'CHAT-047',
    set('/metadata/tools_used', ['look_up', 'refund']),
  ),
  {
    ...call(
      'waits-for-tools',
      'Waits for the service to run a tool, with empty `content`.',
      'CHAT-048',
      combineEdits(
        drop(`${CALL}/function/result`),
        set(`${MESSAGE}/content`, ''),
        set('/choices/0/finish_reason', 'tool_calls'),
      ),
    ),
    kills: ['CHAT-046', 'CHAT-048'],
  },
  {
    ...call(
      'waits-for-tools-in-silence',
      'Waits for the service to run a tool, with `content` as null.',
      'CHAT-048',
      combineEdits(drop(`${CALL}/function/result`), set(`${MESSAGE}/content`, null)),
    ),
    kills: ['CHAT-024', 'CHAT-046', 'CHAT-048'],
  },
];

/** Mutants whose replies have the wrong shape. */
export const chatReplyMutants: readonly Mutant[] = [...parts, ...fields, ...tools];
