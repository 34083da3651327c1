/** What the service reads from the span of a model call: messages, tokens, and models (spec 2.1). */
import { describeType, isObject, parseJson } from '../../../src/platform/json.ts';
import type { Check } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import { checkAttributes, toFinding } from './checks.ts';
import { doubleKeysOf } from './sent-traces.ts';
import { setAttribute } from './transforms.ts';

const TOKEN_KEYS = ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'] as const;
const TOKEN_COUNT = 'an integer of 0 or more (intValue)';

export const modelCalls: Subject = {
  requirements: {
    'CLIENT-021': {
      rule: '`gen_ai.input.messages` and `gen_ai.output.messages` are strings that contain a JSON array of messages with `role` and `parts`.',
      statements: ['2.1.8', '2.1.9', '2.1.10', '2.1.11'],
      reason: 'The turn has no text, so no eval can score it.',
      check: checkAttributes(
        ['gen_ai.input.messages', 'gen_ai.output.messages'],
        'a string that contains a JSON array of messages',
        findMessagesFault,
        'Example: [{"role":"user","parts":[{"type":"text","content":"Hello"}]}].',
      ),
      mutants: {
        'messages-as-values': {
          description: 'Sends messages as structured values instead of a string.',
          transform: setAttribute('gen_ai.input.messages', {
            arrayValue: { values: [{ stringValue: 'Where is my parcel?' }] },
          }),
        },
        'messages-without-parts': {
          description: 'Sends messages with content instead of parts.',
          transform: setAttribute('gen_ai.output.messages', {
            stringValue: '[{"role":"assistant","content":"It is on its way."}]',
          }),
        },
        'messages-cut': {
          description: 'Sends messages that an attribute limit cut off.',
          transform: setAttribute('gen_ai.input.messages', {
            stringValue: '[{"role":"user","parts":[{"ty',
          }),
        },
      },
      legal: {
        'tool-call-parts': {
          description: 'Sends messages with parts that are not text.',
          transform: setAttribute('gen_ai.output.messages', {
            stringValue: '[{"role":"assistant","parts":[{"type":"tool_call","name":"find"}]}]',
          }),
        },
      },
    },
    'CLIENT-022': {
      rule: '`gen_ai.usage.input_tokens` and `gen_ai.usage.output_tokens` are integers of 0 or more.',
      statements: ['2.1.14'],
      reason: 'The token counts of the turn are lost.',
      check: checkTokens(),
      mutants: {
        'tokens-as-text': {
          description: 'Sends token counts as strings.',
          transform: setAttribute('gen_ai.usage.input_tokens', { stringValue: '12' }),
        },
        'tokens-as-double': {
          description: 'Sends token counts as doubles.',
          transform: setAttribute('gen_ai.usage.input_tokens', { doubleValue: 12 }),
        },
      },
    },
    'CLIENT-023': {
      rule: '`gen_ai.request.model` and `gen_ai.response.model` are strings.',
      statements: ['2.1.13'],
      reason: 'The model of the turn is lost.',
      check: checkAttributes(
        ['gen_ai.request.model', 'gen_ai.response.model'],
        'a string',
        (model) => (typeof model === 'string' ? undefined : describeType(model)),
      ),
      mutants: {
        'model-as-number': {
          description: 'Sends the model as a number.',
          transform: setAttribute('gen_ai.request.model', { intValue: '4' }),
        },
      },
    },
  },
};

function checkTokens(): Check {
  const check = checkAttributes(TOKEN_KEYS, TOKEN_COUNT, (tokens) =>
    typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0
      ? undefined
      : describeType(tokens),
  );
  return {
    ...check,
    judge(evidence, transcript) {
      const findings = check.judge(evidence, transcript);
      const reported = new Set(findings.map(({ exchange }) => exchange));
      const doubles = evidence.flatMap((exchange) => {
        if (reported.has(exchange.id)) return [];
        const doubleKeys = doubleKeysOf(exchange);
        const keys = TOKEN_KEYS.filter((key) => doubleKeys.has(key));
        if (keys.length === 0) return [];
        const received = `${keys.join(' and ')} as doubleValue`;
        return [toFinding(exchange, { expected: TOKEN_COUNT, received })];
      });
      return [...findings, ...doubles];
    },
  };
}

/**
 * Returns the fault of a `gen_ai.*.messages` attribute, without its content; undefined if it is a
 * JSON array of messages (spec 2.1). The specification defines only parts of the type `text`.
 */
function findMessagesFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return `${describeType(value)} instead of a string`;
  const messages = parseJson(value);
  if (messages === undefined) return 'a string that is not JSON';
  if (!Array.isArray(messages))
    return `a string with ${describeType(messages)} instead of an array`;
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return `a list in which message ${index} ${fault}`;
  }
  return undefined;
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return `is ${describeType(message)}`;
  const { role, parts } = message;
  if (typeof role !== 'string') return 'has no role';
  if (!Array.isArray(parts)) {
    return 'content' in message ? 'has content, but no parts' : 'has no array of parts';
  }
  for (const [index, part] of parts.entries()) {
    if (!isObject(part) || typeof part['type'] !== 'string') return `has no type in part ${index}`;
    const isText = part['type'] === 'text';
    if (!isText || typeof part['content'] === 'string') continue;
    const { content } = part;
    if (content === undefined) return `has no content in part ${index}`;
    const isCodes = Array.isArray(content) && content.every((code) => typeof code === 'number');
    const found = isCodes ? 'a list of numbers, such as character codes,' : describeType(content);
    return `has ${found} instead of a string as content of part ${index}`;
  }
  return undefined;
}
