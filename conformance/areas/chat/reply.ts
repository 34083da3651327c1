/** The reply to a chat request: its choices and its other fields (spec 2.8). */
import { formatValue } from '../../../src/contract/index.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { checkTypicalValue } from '../../engine/checks/typical-value.ts';
import {
  changeResponse,
  drop,
  isSuccess,
  jsonResponse,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import { hasKeys } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { fieldNames } from '../field-names.ts';
import { missing } from '../fields.ts';
import {
  CONTENT,
  isReply,
  noReply,
  noReplyHasField,
  optionalField,
  replies,
  requiredField,
} from './replies.ts';

export const reply: Subject = {
  requirements: {
    'CHAT-020': requiredField('/choices', {
      rule: '`choices` is an array with at least one entry.',
      statements: ['2.8.1', '2.8.2'],
      reason: "The service reads the agent's reply from it; without an entry there is no reply.",
      wrong: {
        'choices-missing': ['Omits `choices`.', missing],
        'choices-empty': ['Sends an empty `choices`.', []],
        'choices-an-object': ['Sends `choices` as an object.', {}],
        'choices-null': ['Sends `choices` as null.', null],
      },
      mutants: {
        'reply-in-data': {
          description: 'Wraps the reply in `data`.',
          transform: changeResponse(to('chat', hasKeys('messages')), (response) =>
            isSuccess(response) ? { ...response, body: `{"data":${response.body}}` } : response,
          ),
        },
      },
      legal: {
        'two-choices': replies(
          'Sends two choices.',
          set('/choices/1', { index: 1, message: { role: 'assistant', content: 'Or not.' } }),
        ),
      },
    }),
    'CHAT-021': requiredField('/choices/*', {
      rule: 'Each entry of `choices` is an object.',
      statements: ['2.8.2'],
      wrong: { 'choice-a-string': ['Sends a choice as a string.', 'Hello.'] },
      mutants: {
        'second-choice-null': replies('Sends null as the second choice.', set('/choices/1', null)),
      },
    }),
    'CHAT-022': requiredField('/choices/*/message', {
      rule: 'Each entry of `choices` has a `message` object.',
      statements: ['2.8.5'],
      reason: "The service reads the agent's reply from it; without a message there is no reply.",
      wrong: {
        'message-missing': ['Omits `message`.', missing],
        'message-a-string': ['Sends `message` as a string.', 'Hello.'],
      },
    }),
    'CHAT-023': requiredField('/choices/*/message/role', {
      rule: '`choices[].message.role` is `assistant`.',
      statements: ['2.8.6'],
      reason:
        'The service copies the message into the history of the next turn; another role corrupts the conversation.',
      wrong: {
        'role-missing': ['Omits `role`.', missing],
        'role-agent': ['Sends the role "agent".', 'agent'],
      },
    }),
    'CHAT-024': requiredField('/choices/*/message/content', {
      rule: '`choices[].message.content` is a string, even when the reply contains tool calls.',
      statements: ['2.8.7'],
      reason:
        'The simulated user responds to this text; `null` or an array of parts leaves nothing to respond to.',
      hint: hintForContent,
      wrong: {
        'content-missing': ['Omits `content`.', missing],
        'content-null': ['Sends `content` as null.', null],
        'content-parts': [
          'Sends `content` as an array of parts.',
          [{ type: 'text', text: 'Hello.' }],
        ],
      },
      legal: {
        'content-empty': replies('Sends empty `content`.', set(CONTENT, '')),
      },
    }),
    'CHAT-025': optionalField('/choices/*/index', {
      rule: '`choices[].index` is an integer, if present.',
      statements: ['2.8.3'],
      wrong: { 'index-a-string': ['Sends `index` as a string.', '0'] },
    }),
    'CHAT-026': {
      level: 'may',
      rule: '`choices[].index` of the first choice is typically 0.',
      statements: ['2.8.4'],
      reason:
        "The specification calls 0 typical and doesn't require it, so other values are only reported.",
      check: checkTypicalValue(isReply, '/choices/*/index', 0, noReplyHasField),
      legal: { 'index-one': replies('Numbers choices from 1.', set('/choices/0/index', 1)) },
    },
    'CHAT-027': optionalField('/choices/*/finish_reason', {
      rule: '`choices[].finish_reason` is a string, if present.',
      statements: ['2.8.9'],
      wrong: { 'finish-reason-null': ['Sends `finish_reason` as null.', null] },
    }),
    'CHAT-028': {
      level: 'may',
      rule: '`choices[].finish_reason` is typically `stop`.',
      statements: ['2.8.10'],
      reason:
        "The specification calls `stop` typical and doesn't require it, so other values are only reported.",
      check: checkTypicalValue(isReply, '/choices/*/finish_reason', 'stop', noReplyHasField),
      legal: {
        'finish-length': replies(
          'Sends the finish reason "length".',
          set('/choices/0/finish_reason', 'length'),
        ),
      },
    },
    'CHAT-032': optionalField('/chat_id', {
      rule: '`chat_id` is a string, if present.',
      statements: ['2.8.13'],
      wrong: {
        'chat-id-a-number': ['Sends `chat_id` as a number.', 17],
        'chat-id-null': ['Sends `chat_id` as null.', null],
      },
    }),
    'CHAT-033': optionalField('/metadata', {
      rule: '`metadata` of the reply is an object, if present.',
      statements: ['2.8.14'],
      wrong: {
        'metadata-null': ['Sends `metadata` as null.', null],
        'metadata-an-array': ['Sends `metadata` as an array.', []],
      },
    }),
    'CHAT-034': optionalField('/metadata/agent_confidence', {
      rule: '`metadata.agent_confidence` is a number from 0 to 1, if present.',
      statements: ['2.8.15'],
      reason: 'A percentage, such as 95 for 0.95, would count as complete certainty.',
      hint: (received) =>
        typeof received === 'number' && received > 1
          ? 'Send a fraction from 0 to 1, not a percentage.'
          : undefined,
      wrong: {
        'confidence-percentage': ['Sends `agent_confidence` as a percentage.', 95],
        'confidence-a-string': ['Sends `agent_confidence` as a word.', 'high'],
      },
    }),
    'CHAT-035': optionalField('/metadata/response_time_ms', {
      rule: '`metadata.response_time_ms` is an integer, if present.',
      statements: ['2.8.16'],
      hint: (received) =>
        typeof received === 'number' ? 'Round it to whole milliseconds.' : undefined,
      wrong: {
        'response-time-fraction': ['Sends `response_time_ms` with a fraction.', 12.5],
        'response-time-null': ['Sends `response_time_ms` as null.', null],
      },
    }),
    'CHAT-037': optionalField('/evaluation_metadata', {
      rule: '`evaluation_metadata` is an object, if present.',
      statements: ['2.8.18'],
      wrong: {
        'evaluation-metadata-an-array': [
          'Sends `evaluation_metadata` as an array.',
          ['order_found'],
        ],
      },
    }),
    'CHAT-038': {
      level: 'may',
      rule: 'Known keys of `evaluation_metadata` have the types that the specification shows.',
      statements: ['2.8.19'],
      reason: 'The object is free-form, so other types are only reported.',
      check: checkEvaluationMetadataTypes(),
      legal: {
        'hints-of-other-types': replies(
          'Sends known keys of `evaluation_metadata` with other types.',
          set('/evaluation_metadata', { order_found: 'yes', tone: 3, resolution_step: '1/3' }),
        ),
      },
    },
    'CHAT-039': fieldNames({
      rule: 'The optional fields of a reply have the names of the specification, such as `finish_reason` and `chat_id`.',
      statements: ['2.8.9', '2.8.11', '2.8.13'],
      probes: ['chat/forms'],
      isResponse: isReply,
      unjudged: noReply,
      mutants: {
        'finish-reason-camel-case': replies(
          'Sends `finishReason`.',
          drop('/choices/0/finish_reason'),
          set('/choices/0/finishReason', 'stop'),
        ),
      },
    }),
  },
  legal: {
    bare: {
      description: 'Sends only the required fields.',
      transform: changeResponse(to('chat'), (response) =>
        isSuccess(response) && isObject(parseJson(response.body))
          ? jsonResponse(response.status, {
              choices: [{ message: { role: 'assistant', content: 'Yes.' } }],
            })
          : response,
      ),
    },
    'extra-fields': replies(
      'Sends unknown fields at every level.',
      set('/id', 'chatcmpl-1'),
      set('/object', 'chat.completion'),
      set('/created', 1_795_167_000),
      set('/model', 'any'),
      set('/usage', { total_tokens: 12 }),
      set('/choices/0/logprobs', null),
      set('/choices/0/message/refusal', null),
      set('/metadata/cost', { usd: 0.01 }),
      set('/evaluation_metadata/anything', [1, 'two', null]),
    ),
    'numbers-at-the-edge': replies(
      'Sends a confidence of 1 and a response time of 0.',
      set('/metadata/agent_confidence', 1),
      set('/metadata/response_time_ms', 0),
    ),
  },
};

/** Returns what to do about a content that is not a string. */
function hintForContent(received: unknown): string {
  if (!Array.isArray(received)) {
    return 'Send a string, even when the reply contains tool calls. Send "" if there is no text.';
  }
  return received.length > 0 && received.every((item) => typeof item === 'number')
    ? 'Encode the text as a string: these numbers are the codes of its characters.'
    : "Join the parts into one string; `content` of a reply can't be an array.";
}

/** Reports keys of `evaluation_metadata` whose types differ from the specification (spec 2.8). */
function checkEvaluationMetadataTypes(): Check {
  const types = new Map([
    ['order_found', 'boolean'],
    ['tone', 'string'],
    ['resolution_step', 'integer'],
    ['customer_acknowledged', 'boolean'],
    ['tool_called', 'string'],
    ['tool_success', 'boolean'],
    ['response_included_status', 'boolean'],
    ['customer_informed', 'boolean'],
  ]);
  const knownEntriesOf = ({ json }: Exchange): [string, unknown][] => {
    const metadata = isObject(json) ? json['evaluation_metadata'] : undefined;
    return isObject(metadata) ? Object.entries(metadata).filter(([key]) => types.has(key)) : [];
  };
  const hasType = (value: unknown, type: string | undefined): boolean =>
    type === 'integer' ? Number.isInteger(value) : typeof value === type;
  return checkEach(
    (exchange) => isReply(exchange) && knownEntriesOf(exchange).length > 0,
    (exchange) =>
      knownEntriesOf(exchange)
        .filter(([key, value]) => !hasType(value, types.get(key)))
        .map(([key, value]) => ({
          exchange: exchange.id,
          pointer: `/evaluation_metadata/${key}`,
          expected: `typically ${types.get(key) ?? ''}`,
          received: formatValue(value),
        })),
    noReplyHasField,
  );
}
