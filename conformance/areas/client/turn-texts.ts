/** What evals read of a turn: what the user said, and what the agent replied (spec 2.1). */
import {
  findOtherText,
  hasReply,
  INPUT_KEY,
  OUTPUT_KEY,
  readMessagesAttribute,
  readOperation,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import type { Attribute } from '../service/spans.ts';
import { checkSpans, notObserved, type SpanFault } from './checks.ts';
import { conversationSpansOf, eventTextsOf, tracesOf } from './sent-traces.ts';
import {
  dropAttribute,
  editAttributes,
  editEachSpan,
  editSpans,
  isOperation,
  setAttribute,
} from './transforms.ts';

const NO_TURN = notObserved('The client sent no chat span and no invoke_agent span.');

const isTurn = (span: TraceSpan): boolean =>
  ['chat', 'invoke_agent'].includes(readOperation(span) ?? '');

const turnSpansOf = (exchange: Exchange): TraceSpan[] =>
  conversationSpansOf(exchange).filter(isTurn);

const modelCallsOf = (exchange: Exchange): TraceSpan[] =>
  conversationSpansOf(exchange).filter((span) => readOperation(span) === 'chat');

const hasMessages = ({ attributes }: TraceSpan): boolean =>
  INPUT_KEY in attributes || OUTPUT_KEY in attributes;

/** Returns the attribute or the event with the text of a span, if it is not in its messages. */
function findMisplacedText(
  span: TraceSpan,
  exchange: Exchange,
  transcript: Transcript,
): string | undefined {
  if (hasMessages(span)) return undefined;
  const key = findOtherText(span.attributes);
  if (key !== undefined) return key;
  const event = eventTextsOf(exchange).get(span.spanId);
  const isElsewhere = (tracesOf(transcript).get(span.traceId) ?? []).some(hasMessages);
  return event === undefined || isElsewhere ? undefined : `text in an event ${event}`;
}

export const turnTexts: Subject = {
  requirements: {
    'CLIENT-026': {
      rule: 'The text of a turn is in `gen_ai.input.messages` and `gen_ai.output.messages`.',
      statements: ['2.1.8', '2.1.10'],
      reason: 'The service reads no other attribute, so the turn has no text.',
      check: checkSpans(turnSpansOf, NO_TURN, {
        expected: 'gen_ai.input.messages and gen_ai.output.messages',
        findFault: findMisplacedText,
        hint: 'Upgrade the instrumentation, or copy the text to these attributes as JSON messages.',
      }),
      mutants: {
        'older-attributes': {
          description: 'Sends the text of a model call in gen_ai.prompt and gen_ai.completion.',
          transform: editAttributes((attributes) =>
            attributes.map(({ key, value }) => ({
              key: key
                .replace(/^gen_ai\.input\.messages$/, 'gen_ai.prompt')
                .replace(/^gen_ai\.output\.messages$/, 'gen_ai.completion'),
              value,
            })),
          ),
        },
        'text-in-events': {
          description: 'Sends the text of a model call in events of its span.',
          transform: moveTextToEvents((value) => [{ key: 'content', value }]),
        },
      },
      legal: {
        'events-without-text': {
          description: 'Sends events of a model call without any text, to protect it.',
          transform: moveTextToEvents(() => []),
        },
      },
    },
    'CLIENT-027': {
      level: 'should',
      rule: 'A model call has what the user said and what the agent replied, on its span or on the `invoke_agent` span of its trace.',
      section: '2.1',
      statements: ['2.1.8', '2.1.10'],
      reason: 'Evals score a turn without a reply, or a reply to nothing.',
      check: checkSpans(modelCallsOf, notObserved('The client sent no chat span.'), {
        expected: 'gen_ai.input.messages and gen_ai.output.messages with text',
        findFault: findMissingText,
      }),
      mutants: {
        'no-output': {
          description: 'Sends a model call without the reply.',
          transform: dropAttribute('gen_ai.output.messages'),
        },
        'empty-output': {
          description: 'Sends a model call whose reply is empty.',
          transform: setAttribute('gen_ai.output.messages', {
            stringValue: '[{"role":"assistant","parts":[{"type":"text","content":""}]}]',
          }),
        },
        'no-input': {
          description: 'Sends a model call without what the user said.',
          transform: dropAttribute('gen_ai.input.messages'),
        },
      },
      legal: {
        'no-content': {
          description: 'Sends a model call without any text, to protect it.',
          transform: editAttributes((attributes) =>
            attributes.filter(({ key }) => !key.endsWith('.messages')),
          ),
        },
        'text-on-wrapper': {
          description: 'Sends the text of a turn on its invoke_agent span.',
          transform: editSpans((spans) => {
            const wrapper = spans.find(isOperation('invoke_agent'));
            const call = spans.find(isOperation('chat'));
            if (!wrapper || !call) return;
            const texts = call.attributes.filter(({ key }) => key.endsWith('.messages'));
            wrapper.attributes.push(...texts);
            call.attributes = call.attributes.filter((attribute) => !texts.includes(attribute));
          }),
        },
        'failed-call': {
          description: 'Sends a failed model call, which has no reply.',
          transform: editSpans((spans) => {
            const call = spans.find(isOperation('chat'));
            if (!call) return;
            call.status = { code: 2 };
            call.attributes = call.attributes.filter(({ key }) => key !== 'gen_ai.output.messages');
          }),
        },
        'agent-speaks-first': {
          description: 'Sends a turn where the agent speaks first.',
          transform: setAttribute('gen_ai.input.messages', { stringValue: '[]' }),
        },
      },
    },
  },
};

/** Returns what a model call lacks that no `invoke_agent` span of its trace has. */
function findMissingText(
  span: TraceSpan,
  exchange: Exchange,
  transcript: Transcript,
): SpanFault | undefined {
  if (findMisplacedText(span, exchange, transcript) !== undefined) return undefined;
  const wrappers = (tracesOf(transcript).get(span.traceId) ?? []).filter(
    (other) => readOperation(other) === 'invoke_agent',
  );
  const has = (key: string): boolean =>
    [span, ...wrappers].some(({ attributes }) => attributes[key] !== undefined);
  if (!has(INPUT_KEY) && !has(OUTPUT_KEY)) {
    return {
      received: 'neither',
      isNote: true,
      hint: 'Turn on message capture, so that evals can read the conversation.',
    };
  }
  // An agent that speaks first has an input without messages.
  if (!has(INPUT_KEY)) {
    return { received: `no ${INPUT_KEY}`, hint: `Record ${INPUT_KEY} on the span.` };
  }
  const isReplied = [span, ...wrappers].some(({ attributes }) => hasReply(attributes[OUTPUT_KEY]));
  // CLIENT-021 reports messages that can't be read.
  const { isReadable } = readMessagesAttribute(span.attributes[OUTPUT_KEY]);
  if (span.statusCode === 2 || isReplied || !isReadable) return undefined;
  return has(OUTPUT_KEY)
    ? {
        received: `no text with the role assistant in ${OUTPUT_KEY}`,
        hint: 'Set the attribute when the response is complete, even if it is streamed.',
      }
    : { received: `no ${OUTPUT_KEY}`, hint: `Record ${OUTPUT_KEY} on the span.` };
}

/** Replaces the messages of each span by events, as older GenAI conventions have them. */
function moveTextToEvents(describe: (value: Attribute['value']) => Attribute[]): TransformFactory {
  return editEachSpan((span) => {
    const texts = span.attributes.filter(({ key }) => key.endsWith('.messages'));
    span.attributes = span.attributes.filter((attribute) => !texts.includes(attribute));
    span.events = texts.map(({ key, value }) => ({
      timeUnixNano: span.endTimeUnixNano,
      name: key === INPUT_KEY ? 'gen_ai.user.message' : 'gen_ai.choice',
      attributes: describe(value),
    }));
  });
}
