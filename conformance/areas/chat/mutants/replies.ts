import type { RequirementId } from '../../index.ts';
import { all, drop, onChat, set, type Edit } from '../../../engine/mutants/combinators.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';

const MESSAGE = '/choices/0/message';

const reply = (
  name: string,
  description: string,
  kills: RequirementId,
  ...edits: Edit[]
): Mutant => ({
  id: `chat/${name}`,
  areas: ['chat'],
  description,
  kills: [kills],
  transform: onChat(...edits),
});

/** The reply without what it is made of. */
const parts: Mutant[] = [
  reply('choices-missing', 'Leaves choices out.', 'CHAT-020', drop('/choices')),
  reply('choices-empty', 'Gives no choice.', 'CHAT-020', set('/choices', [])),
  reply('choices-an-object', 'Gives its choice outside an array.', 'CHAT-020', set('/choices', {})),
  reply('choices-null', 'Makes choices null.', 'CHAT-020', set('/choices', null)),
  reply('choice-a-string', 'Gives a choice as text.', 'CHAT-021', set('/choices/0', 'Hello.')),
  reply(
    'second-choice-null',
    'Gives null as a second choice.',
    'CHAT-021',
    set('/choices/1', null),
  ),
  reply('message-missing', 'Gives a choice without message.', 'CHAT-022', drop(MESSAGE)),
  reply('message-a-string', 'Gives the message as text.', 'CHAT-022', set(MESSAGE, 'Hello.')),
  reply('role-missing', 'Leaves the role out.', 'CHAT-023', drop(`${MESSAGE}/role`)),
  reply('role-agent', 'Calls itself agent.', 'CHAT-023', set(`${MESSAGE}/role`, 'agent')),
  reply('content-missing', 'Leaves content out.', 'CHAT-024', drop(`${MESSAGE}/content`)),
  reply('content-null', 'Makes content null.', 'CHAT-024', set(`${MESSAGE}/content`, null)),
  reply(
    'content-parts',
    'Gives content as an array of parts.',
    'CHAT-024',
    set(`${MESSAGE}/content`, [{ type: 'text', text: 'Hello.' }]),
  ),
];

/** Fields of another type. */
const fields: Mutant[] = [
  reply('index-a-string', 'Gives index as text.', 'CHAT-025', set('/choices/0/index', '0')),
  reply(
    'finish-reason-null',
    'Makes finish_reason null.',
    'CHAT-027',
    set('/choices/0/finish_reason', null),
  ),
  reply('chat-id-a-number', 'Gives chat_id as a number.', 'CHAT-032', set('/chat_id', 17)),
  reply('chat-id-null', 'Makes chat_id null.', 'CHAT-032', set('/chat_id', null)),
  reply('metadata-null', 'Makes metadata null.', 'CHAT-033', set('/metadata', null)),
  reply('metadata-an-array', 'Gives metadata as an array.', 'CHAT-033', set('/metadata', [])),
  reply(
    'confidence-percentage',
    'Gives its confidence as a percentage.',
    'CHAT-034',
    set('/metadata/agent_confidence', 95),
  ),
  reply(
    'confidence-a-string',
    'Gives its confidence as a word.',
    'CHAT-034',
    set('/metadata/agent_confidence', 'high'),
  ),
  reply(
    'response-time-fraction',
    'Gives response_time_ms with a fraction.',
    'CHAT-035',
    set('/metadata/response_time_ms', 12.5),
  ),
  reply(
    'response-time-null',
    'Makes response_time_ms null.',
    'CHAT-035',
    set('/metadata/response_time_ms', null),
  ),
  reply(
    'tools-used-a-string',
    'Gives tools_used as text.',
    'CHAT-036',
    set('/metadata/tools_used', 'look_up'),
  ),
  reply(
    'tools-used-objects',
    'Lists objects in tools_used.',
    'CHAT-036',
    set('/metadata/tools_used', [{ name: 'look_up' }]),
  ),
  reply(
    'evaluation-metadata-an-array',
    'Gives evaluation_metadata as an array.',
    'CHAT-037',
    set('/evaluation_metadata', ['order_found']),
  ),
];

const CALLS = `${MESSAGE}/tool_calls`;
const CALL = `${CALLS}/0`;

/** A tool call as it must be; tools_used would be a second place that tells of it. */
const called: Edit = all(
  (body, asked) =>
    set(CALLS, [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'look_up', arguments: '{"order":"A-1"}', result: { found: true } },
      },
    ])(body, asked),
  drop('/metadata/tools_used'),
);

const call = (name: string, description: string, kills: RequirementId, edit: Edit): Mutant =>
  reply(name, description, kills, called, edit);

/** Tool calls that are not as the service reads them. */
const tools: Mutant[] = [
  call('tool-calls-null', 'Makes tool_calls null.', 'CHAT-040', set(CALLS, null)),
  call('tool-calls-an-object', 'Gives tool_calls as an object.', 'CHAT-040', set(CALLS, {})),
  call('tool-call-a-string', 'Gives a call as text.', 'CHAT-040', set(CALL, 'look_up')),
  call('call-id-missing', 'Leaves the id of a call out.', 'CHAT-041', drop(`${CALL}/id`)),
  call('call-id-a-number', 'Numbers its calls.', 'CHAT-041', set(`${CALL}/id`, 1)),
  call('call-type-missing', 'Leaves the type of a call out.', 'CHAT-042', drop(`${CALL}/type`)),
  call('call-type-tool', 'Gives a call another type.', 'CHAT-042', set(`${CALL}/type`, 'tool')),
  call('call-function-missing', 'Gives a call no function.', 'CHAT-043', drop(`${CALL}/function`)),
  call(
    'call-function-a-string',
    'Gives the function as its name.',
    'CHAT-043',
    set(`${CALL}/function`, 'look_up'),
  ),
  call(
    'call-name-missing',
    'Does not name the function.',
    'CHAT-044',
    drop(`${CALL}/function/name`),
  ),
  call(
    'call-arguments-an-object',
    'Gives arguments as an object.',
    'CHAT-045',
    set(`${CALL}/function/arguments`, { order: 'A-1' }),
  ),
  call(
    'call-arguments-not-json',
    'Gives arguments that are not JSON.',
    'CHAT-045',
    set(`${CALL}/function/arguments`, "order='A-1'"),
  ),
  call(
    'call-arguments-missing',
    'Leaves arguments out.',
    'CHAT-045',
    drop(`${CALL}/function/arguments`),
  ),
  call(
    'call-result-missing',
    'Leaves the result of a call out.',
    'CHAT-046',
    all(drop(`${CALL}/function/result`), set(`${MESSAGE}/content`, 'It is on its way.')),
  ),
  call(
    'call-result-a-string',
    'Gives the result as text.',
    'CHAT-046',
    set(`${CALL}/function/result`, '{"found":true}'),
  ),
  call(
    'call-left-out',
    'Names a tool in tools_used whose call it leaves out.',
    'CHAT-047',
    set('/metadata/tools_used', ['look_up', 'refund']),
  ),
  {
    ...call(
      'waits-for-tools',
      'Has the service run its tools.',
      'CHAT-048',
      all(
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
      'Has the service run its tools, with null for content.',
      'CHAT-048',
      all(drop(`${CALL}/function/result`), set(`${MESSAGE}/content`, null)),
    ),
    kills: ['CHAT-024', 'CHAT-046', 'CHAT-048'],
  },
];

/** Mutants whose replies have the wrong shape. */
export const chatReplyMutants: readonly Mutant[] = [...parts, ...fields, ...tools];
