/** The tool calls of a reply (spec 2.7, 2.8). */
import {
  describeMisspelled,
  findMisspelled,
  formatValue,
  listAt,
  resolvePointer,
} from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { type Check, checkEach, type Finding, unjudgedAs } from '../../engine/checks/check.ts';
import { combineEdits, drop, type Edit, set } from '../../engine/mutants/combinators.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { fieldsOf, missing } from '../fields.ts';
import { CONTENT, isReply, optionalField, replies } from './replies.ts';
import { sentSessionId } from './sessions.ts';

/** The pointer to the tool calls of a reply. */
export const CALLS = '/choices/0/message/tool_calls';
const FUNCTION = `${CALLS}/0/function`;

const validCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'look_up', arguments: '{"order":"A-1"}', result: { found: true } },
};

/** Adds a valid tool call, and drops `tools_used`, which would have to name it. */
const addToolCall = combineEdits(
  set(CALLS, () => [structuredClone(validCall)]),
  drop('/metadata/tools_used'),
);

/** Changes a valid tool call in every reply. */
const withCall = (description: string, ...edits: Edit[]): DistortionEntry =>
  replies(description, addToolCall, ...edits);

const TOOLS_REASON =
  'Evals on tool use read the calls and their results from the reply; missing or malformed calls get a wrong score.';
const probes = ['chat/prompts'];
const unjudged = unjudgedAs(
  'not_observed',
  'No reply has tool calls. Use --prompt to send a message that makes the agent call a tool.',
);

const callField = fieldsOf({
  endpoint: 'chat',
  message: 'ChatResponse',
  noun: 'tool call',
  reason: TOOLS_REASON,
  observability: 'provoked',
  probes,
  unjudged,
  editFirst: addToolCall,
});

const oddCall = {
  id: '',
  type: 'function',
  function: { name: 'look_up', arguments: '{}', result: {} },
  took_ms: 12,
};

export const toolCalls: Subject = {
  requirements: {
    'CHAT-036': optionalField('/metadata/tools_used', {
      withItems: true,
      rule: '`metadata.tools_used` is an array of tool names, if present.',
      statements: ['2.8.17'],
      reason: TOOLS_REASON,
      hint: (received) =>
        isObject(received) && Object.keys(received).length === 0
          ? 'Send [] if no tool ran: some encoders write an empty table as {}.'
          : undefined,
      wrong: {
        'tools-used-a-string': ['Sends `tools_used` as a string.', 'look_up'],
        'tools-used-objects': ['Sends `tools_used` as an array of objects.', [{ name: 'look_up' }]],
      },
    }),
    'CHAT-040': callField('/choices/*/message/tool_calls', {
      withItems: true,
      rule: '`choices[].message.tool_calls` is an array of objects, if present.',
      statements: ['2.8.8'],
      probes,
      hint: (received) =>
        received === false
          ? 'Omit `tool_calls` when the agent called no tool.'
          : 'Send an array of objects: {"id", "type": "function", "function": {...}}.',
      wrong: {
        'tool-calls-null': ['Sends `tool_calls` as null.', null],
        'tool-calls-an-object': ['Sends `tool_calls` as an object.', {}],
      },
      mutants: {
        'tool-call-a-string': withCall(
          'Sends a tool call as a string.',
          set(`${CALLS}/0`, 'look_up'),
        ),
      },
      legal: {
        'tool-calls-empty': replies(
          'Sends an empty `tool_calls`.',
          set(CALLS, []),
          drop('/metadata/tools_used'),
        ),
      },
    }),
    'CHAT-041': callField('/choices/*/message/tool_calls/*/id', {
      rule: 'Each tool call has an `id` string.',
      statements: ['2.8.20'],
      wrong: {
        'call-id-missing': ['Omits the `id` of a tool call.', missing],
        'call-id-a-number': ['Sends the `id` of a tool call as a number.', 1],
      },
    }),
    'CHAT-042': callField('/choices/*/message/tool_calls/*/type', {
      rule: 'The `type` of each tool call is `function`.',
      statements: ['2.8.21'],
      wrong: {
        'call-type-missing': ['Omits the `type` of a tool call.', missing],
        'call-type-tool': ['Sends a tool call with the type "tool".', 'tool'],
      },
    }),
    'CHAT-043': callField('/choices/*/message/tool_calls/*/function', {
      rule: 'Each tool call has a `function` object.',
      statements: ['2.8.22'],
      wrong: {
        'call-function-missing': ['Omits the `function` of a tool call.', missing],
        'call-function-a-string': ['Sends the `function` of a tool call as a string.', 'look_up'],
      },
    }),
    'CHAT-044': callField('/choices/*/message/tool_calls/*/function/name', {
      rule: 'Each tool call has a `function.name` string.',
      statements: ['2.8.23'],
      wrong: { 'call-name-missing': ['Omits the `name` of a function.', missing] },
    }),
    'CHAT-045': callField('/choices/*/message/tool_calls/*/function/arguments', {
      rule: 'The `function.arguments` of each tool call is a string that contains JSON.',
      statements: ['2.8.24'],
      hint: (received) =>
        typeof received === 'object' && received !== null
          ? 'Encode the arguments as a JSON string.'
          : undefined,
      wrapCheck: checkArguments,
      wrong: {
        'call-arguments-an-object': ['Sends `arguments` as an object.', { order: 'A-1' }],
        'call-arguments-not-json': ['Sends `arguments` that are not JSON.', "order='A-1'"],
        'call-arguments-encoded-twice': [
          'Encodes `arguments` twice.',
          JSON.stringify(validCall.function.arguments),
        ],
        'call-arguments-missing': ['Omits `arguments`.', missing],
      },
    }),
    'CHAT-046': callField('/choices/*/message/tool_calls/*/function/result', {
      rule: 'Each tool call has a `function.result` object.',
      statements: ['2.8.25', '2.8.26'],
      hint: hintForResult,
      wrong: {
        'call-result-missing': [
          'Omits the `result` of a tool call.',
          missing,
          set(CONTENT, 'It is on its way.'),
        ],
        'call-result-a-string': [
          'Sends the `result` of a tool call as a string.',
          '{"found":true}',
        ],
      },
    }),
    'CHAT-047': {
      rule: 'Each tool in `metadata.tools_used` has a tool call in the reply.',
      statements: ['2.8.26'],
      reason:
        'Evals score the complete sequence of tool calls; a name without a call shows that some are missing.',
      observability: 'provoked',
      probes,
      check: checkToolsUsed(),
      mutants: {
        'call-left-out': withCall(
          'Names a tool in `tools_used` and omits its tool call.',
          set('/metadata/tools_used', ['look_up', 'refund']),
        ),
      },
      legal: {
        'tools-unlisted': replies(
          'Calls tools that `tools_used` does not name.',
          set(CALLS, [oddCall]),
          set('/metadata/tools_used', []),
        ),
      },
    },
    'CHAT-048': {
      rule: 'A reply never waits for the service to run a tool.',
      statements: ['2.7.14'],
      reason: 'The service has no tools; a reply that asks it to run one ends the conversation.',
      observability: 'provoked',
      probes,
      check: checkToolsRun(),
      mutants: {
        'waits-for-tools': {
          ...withCall(
            'Waits for the service to run a tool, with empty `content`.',
            drop(`${FUNCTION}/result`),
            set(CONTENT, ''),
            set('/choices/0/finish_reason', 'tool_calls'),
          ),
          alsoKills: ['CHAT-046'],
        },
        'waits-for-tools-in-silence': {
          ...withCall(
            'Waits for the service to run a tool, with `content` as null.',
            drop(`${FUNCTION}/result`),
            set(CONTENT, null),
          ),
          alsoKills: ['CHAT-024', 'CHAT-046'],
        },
      },
    },
    'CHAT-049': {
      level: 'may',
      rule: 'The `id` of each tool call is unique.',
      statements: ['2.8.20'],
      reason:
        "An id that two tool calls share identifies neither. The specification doesn't forbid it, so it is only reported.",
      observability: 'provoked',
      check: checkOwnIds(),
    },
  },
  legal: {
    'tools-everywhere': replies(
      'Calls a tool for every reply and sends empty `content`.',
      set(CALLS, [oddCall, oddCall]),
      set(CONTENT, ''),
      set('/choices/0/finish_reason', 'tool_calls'),
      set('/metadata/tools_used', ['look_up']),
    ),
  },
};

/** Returns what to do about a result that is not an object. */
function hintForResult(received: unknown): string {
  if (received === undefined) {
    return 'Add the result of the tool to `function`, next to `arguments`, in the reply that uses it.';
  }
  if (typeof received === 'string' && isObject(parseJson(received))) {
    return 'Send the result itself, not its JSON text: only `arguments` is encoded.';
  }
  return Array.isArray(received) && received.length === 0
    ? 'Send {} for an empty result: some encoders write an empty map as [].'
    : 'Wrap the result in an object.';
}

/** A tool call in a reply, well-formed or not. */
export interface ToolCall {
  /** JSON pointer into the reply. */
  pointer: string;
  id: unknown;
  called: Record<string, unknown> | undefined;
}

/** A message of a reply. */
interface ReplyMessage {
  message: Record<string, unknown>;
  calls: ToolCall[];
}

function messagesOf({ json }: Exchange): ReplyMessage[] {
  return listAt(json, '/choices').flatMap((choice, index) => {
    const message = resolvePointer(choice, '/message');
    if (!isObject(message)) return [];
    const calls = listAt(message, '/tool_calls').flatMap((call, at): ToolCall[] => {
      if (!isObject(call)) return [];
      const called = call['function'];
      const pointer = `/choices/${index}/message/tool_calls/${at}`;
      return [{ pointer, id: call['id'], called: isObject(called) ? called : undefined }];
    });
    return [{ message, calls }];
  });
}

/** Returns the tool calls of a reply. */
export const callsOf = computeOnce((exchange: Exchange): readonly ToolCall[] =>
  messagesOf(exchange).flatMap(({ calls }) => calls),
);

/** Extends a check for the type of `function.arguments`: the string must contain JSON, encoded once. */
function checkArguments(typeCheck: Check): Check {
  return {
    ...typeCheck,
    judge: (evidence, transcript) => [
      ...typeCheck.judge(evidence, transcript),
      ...evidence.flatMap((exchange) =>
        callsOf(exchange).flatMap(({ pointer, called }): Finding[] => {
          const text = called?.['arguments'];
          if (typeof text !== 'string') return [];
          const value = parseJson(text);
          const isEncodedTwice = typeof value === 'string' && isObject(parseJson(value));
          if (value !== undefined && !isEncodedTwice) return [];
          return [
            {
              exchange: exchange.id,
              pointer: `${pointer}/function/arguments`,
              expected: 'a string that contains JSON',
              received: formatValue(text),
              ...(isEncodedTwice && {
                expected: 'a string that contains a JSON object',
                hint: 'Encode the arguments once: they are a JSON string inside a JSON string.',
              }),
            },
          ];
        }),
      ),
    ],
  };
}

/** Reports the first id of each reply that another tool call has, too: in the reply or in an earlier session. */
function checkOwnIds(): Check {
  const idsOf = (exchange: Exchange): string[] =>
    callsOf(exchange).flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id] : []));
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter((exchange) => isReply(exchange) && idsOf(exchange).length > 0),
    judge(evidence) {
      const firstOf = new Map<string, Exchange>();
      return evidence.flatMap((exchange): Finding[] => {
        const ids = idsOf(exchange);
        const isTaken = (id: string, index: number): boolean => {
          const first = firstOf.get(id);
          const isOfSession =
            first !== undefined && sentSessionId(first) === sentSessionId(exchange);
          return ids.indexOf(id) !== index || (first !== undefined && !isOfSession);
        };
        const taken = ids.find(isTaken);
        for (const id of ids) if (!firstOf.has(id)) firstOf.set(id, exchange);
        if (taken === undefined) return [];
        const first = firstOf.get(taken) ?? exchange;
        return [
          {
            exchange: exchange.id,
            pointer: CALLS,
            expected: 'a different id for each tool call',
            received: `${formatValue(taken)}${first === exchange ? ' twice' : `, as in exchange ${first.id}`}`,
          },
        ];
      });
    },
    unjudged,
  };
}

const toolsUsedIn = ({ json }: Exchange): string[] =>
  listAt(json, '/metadata/tools_used').filter((name) => typeof name === 'string');

/**
 * Each name in `metadata.tools_used` must have a tool call. Judges only the first turn of a
 * conversation: on later turns the list may include earlier ones, because the specification does
 * not say which turns it covers.
 */
function checkToolsUsed(): Check {
  return checkEach(
    (exchange) =>
      isReply(exchange) &&
      isFirstTurn(exchange) &&
      hasNamedCalls(exchange) &&
      toolsUsedIn(exchange).length > 0,
    (exchange) => {
      const names = new Set(callsOf(exchange).map(({ called }) => called?.['name']));
      const other = messagesOf(exchange)
        .map(({ message }) => findMisspelled('tool_calls', Object.keys(message), []))
        .find((found) => found !== undefined);
      return toolsUsedIn(exchange).flatMap((name, index): Finding[] =>
        names.has(name)
          ? []
          : [
              {
                exchange: exchange.id,
                pointer: `/metadata/tools_used/${index}`,
                expected: `a tool call of ${name}`,
                received:
                  other !== undefined
                    ? describeMisspelled(other, 'tool_calls')
                    : names.size === 0
                      ? 'no tool call'
                      : `tool calls of ${[...names].join(', ')}`,
                hint: 'Add every tool call with its result to choices[].message.tool_calls.',
              },
            ],
      );
    },
    ({ exchanges }) => explainNoNames(exchanges.filter(isReply)),
  );
}

/** Explains why no reply could be judged by the tools that it names. */
function explainNoNames(replies: readonly Exchange[]): ReturnType<Check['unjudged']> {
  const named = replies.filter((exchange) => toolsUsedIn(exchange).length > 0);
  if (named.length === 0) {
    const reason = replies.some((exchange) => callsOf(exchange).length > 0)
      ? 'The replies with tool calls have no `metadata.tools_used`, which is optional.'
      : 'No reply names a tool in `metadata.tools_used`. Use --prompt to send a message that makes the agent call a tool.';
    return { verdict: 'not_observed', reason };
  }
  const reason = named.some(isFirstTurn)
    ? 'The tool calls of the replies that name tools in `metadata.tools_used` have no names.'
    : 'Only replies of later turns name tools in `metadata.tools_used`, and those may be of earlier turns.';
  return { verdict: 'not_observed', reason };
}

/** Whether every tool call of a reply has a name; otherwise it is unknown which calls are missing. */
function hasNamedCalls(exchange: Exchange): boolean {
  const messages = messagesOf(exchange);
  return (
    messages.length > 0 &&
    messages.every(({ message: { tool_calls: list = [] } }) => Array.isArray(list)) &&
    callsOf(exchange).every(({ called }) => typeof called?.['name'] === 'string')
  );
}

function isFirstTurn({ sent }: Exchange): boolean {
  const messages = resolvePointer(sent, '/messages');
  return (
    Array.isArray(messages) &&
    !messages.some((message) => isObject(message) && message['role'] === 'assistant')
  );
}

/** A reply that has a tool call without a result, and no text, waits for the service to run the tool. */
function checkToolsRun(): Check {
  return checkEach(
    (exchange) => isReply(exchange) && callsOf(exchange).length > 0,
    (exchange) =>
      messagesOf(exchange).flatMap(({ message, calls }): Finding[] => {
        const waiting = calls.find(
          ({ called }) => called !== undefined && !Object.hasOwn(called, 'result'),
        );
        const hasText = (message['content'] ?? '') !== '';
        if (!waiting || hasText) return [];
        return [
          {
            exchange: exchange.id,
            pointer: waiting.pointer,
            expected: 'the result of the tool and a reply that uses it',
            received: 'a tool call without a result, and no text',
            hint: "Run the tool in the sandbox; the service can't run it.",
          },
        ];
      }),
    unjudged,
  );
}
