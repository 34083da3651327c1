/** The texts of the turns of the spans that the run sends (spec 2.1, 3.1). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import type { Check } from '../../../engine/checks/check.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import {
  ESCAPED_SUBJECT,
  IGNORED_SPAN,
  OTHER_SPAN_NAME,
  RESENT_SUBJECT,
  RETRY_TAG,
  SYSTEM_MESSAGE,
} from '../close/planned-conversations.ts';
import { requirePlainRight } from '../findings.ts';
import { ESCAPE_CHARACTER, isSplit } from '../spans.ts';
import type { ConversationName } from '../steps.ts';
import { contains } from '../traces/trace-requests.ts';
import { messageTexts, turnsOf } from '../transcript.ts';
import { setKey } from '../transforms.ts';
import { checkConversations, countableSteps, hasAllTurns } from './sent-conversations.ts';
import { hasTurnPerSpan } from './sent-turns.ts';
import { TURN_ID } from './turn-differences.ts';
import { editProductionTurns, onTurnsOfRequests } from './turn-edits.ts';

/** A mutant that changes the text of replies. */
const changeReplies = (description: string, change: (text: string) => string): MutantEntry =>
  editProductionTurns(description, (turn) => {
    turn['agent_response'] = change(String(turn['agent_response']));
  });

const WRONG_TEXT = 'Evals judge the text of the turn.';

/** Conversations whose spans always have the same texts. */
const withSameTexts = countableSteps.filter((step) => step !== 're-sent');

/** Conversations whose agent replies with a text and a reason why it ended. */
const withOrdinaryReply = withSameTexts.filter((step) => !['failed', 'ignored'].includes(step));

export const sentTexts: Subject = {
  requirements: {
    'SERVICE-100': {
      rule: '`user_input` of a turn is the text of `gen_ai.input.messages`.',
      statements: ['2.1.8', '2.1.9', '2.1.10'],
      reason: WRONG_TEXT,
      check: hasSentTexts('user_input', withSameTexts),
      mutants: {
        'input-raw': editProductionTurns('Shows the raw input messages as user_input.', (turn) => {
          turn['user_input'] = toRawMessages(turn['user_input']);
        }),
        'input-empty': editProductionTurns('Shows an empty user_input.', setKey('user_input', '')),
        'turns-swapped': {
          ...editProductionTurns('Swaps the texts of user and agent.', (turn) => {
            const { user_input: userInput, agent_response: agentResponse } = turn;
            Object.assign(turn, { user_input: agentResponse, agent_response: userInput });
          }),
          alsoKills: ['SERVICE-101'],
        },
      },
    },
    'SERVICE-101': {
      rule: '`agent_response` of a turn is the text of `gen_ai.output.messages`.',
      statements: ['2.1.11'],
      reason: WRONG_TEXT,
      check: hasSentTexts('agent_response', withOrdinaryReply),
      mutants: {
        'response-cut': editProductionTurns('Truncates agent_response.', (turn) => {
          turn['agent_response'] = String(turn['agent_response']).slice(0, 20);
        }),
        'response-cut-late': changeReplies(
          'Truncates agent_response to 20,000 characters.',
          (text) => text.slice(0, 20_000),
        ),
        'response-escaped': changeReplies('Escapes HTML in agent_response.', (text) =>
          text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
        ),
        'response-normalized': changeReplies('Normalizes agent_response to NFKC.', (text) =>
          text.normalize('NFKC'),
        ),
        'response-composed': changeReplies('Normalizes agent_response to NFC.', (text) =>
          text.normalize('NFC'),
        ),
        'response-without-escapes': changeReplies(
          'Removes control characters from agent_response.',
          (text) => text.replaceAll(ESCAPE_CHARACTER, ''),
        ),
        'response-of-64-kib': changeReplies(
          'Truncates agent_response to 65,535 characters.',
          (text) => text.slice(0, 65_535),
        ),
        'response-escaped-emoji': changeReplies(
          'Loses an emoji whose two halves are escaped in JSON.',
          (text) => text.replaceAll(ESCAPED_SUBJECT, 'parcel \ufffd\ufffd'),
        ),
        'response-trimmed': changeReplies('Trims agent_response.', (text) => text.trim()),
        'response-on-one-line': changeReplies('Collapses white space in agent_response.', (text) =>
          text.replaceAll(/\s+/g, ' '),
        ),
        'response-without-returns': changeReplies('Changes CRLF to LF in agent_response.', (text) =>
          text.replaceAll('\r\n', '\n'),
        ),
      },
    },
    'SERVICE-195': {
      level: 'should',
      rule: 'A message with an empty text is an empty string in its turn.',
      statements: ['2.1.11', '2.5.13'],
      reason: 'Programs that read the turns may not expect null.',
      observability: 'provoked',
      check: requirePlainRight(
        [hasSentTexts('agent_response', withOrdinaryReply)],
        hasSentTexts('agent_response', ['failed']),
      ),
      mutants: {
        'empty-text-null': editProductionTurns(
          'Returns null for an empty agent_response.',
          (turn) => {
            if (turn['agent_response'] === '') turn['agent_response'] = null;
          },
        ),
      },
    },
    'SERVICE-196': {
      rule: 'An output message without `finish_reason` is part of its turn.',
      statements: ['2.1.12'],
      reason: 'Most instrumentations omit it, and evals would judge turns without a reply.',
      observability: 'provoked',
      check: requirePlainRight(
        [hasSentTexts('agent_response', withOrdinaryReply)],
        hasSentTexts('agent_response', ['ignored']),
      ),
      mutants: {
        'finish-reason-required': {
          description: 'Loses output messages without finish_reason.',
          transform: onTurnsOfRequests(contains(IGNORED_SPAN), (turns) =>
            turns.map((turn) => ({ ...turn, agent_response: '' })),
          ),
        },
      },
    },
    'SERVICE-235': {
      rule: 'An output message with a `finish_reason` other than `stop`, such as `length`, is part of its turn.',
      statements: ['2.1.12'],
      reason: 'Evals would judge turns without a reply although the agent has spoken.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight(
        [hasSentTexts('agent_response', withOrdinaryReply)],
        hasSentTexts('agent_response', ['attribute and header']),
      ),
      mutants: {
        'finish-reason-stop-alone': {
          description: 'Loses output messages with a finish_reason other than stop.',
          transform: onTurnsOfRequests(contains(OTHER_SPAN_NAME), (turns) =>
            turns.map((turn) => ({ ...turn, agent_response: '' })),
          ),
        },
      },
    },
    'SERVICE-236': {
      rule: '`user_input` of a turn contains the text of the user, even if a system message comes before it.',
      statements: ['2.1.8', '2.1.9'],
      reason: 'Many clients send the instructions with each turn, and evals would judge only them.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight([hasSentTexts('user_input', withSameTexts)], showsUserText('split')),
      mutants: {
        'input-of-first-message': {
          description: 'Shows only the first message as user_input.',
          transform: onTurnsOfRequests(isSplit, (turns) =>
            turns.map((turn) => ({ ...turn, user_input: SYSTEM_MESSAGE })),
          ),
        },
      },
      legal: {
        'input-of-all-messages': {
          description: 'Shows a system message together with the text of the user.',
          transform: onTurnsOfRequests(isSplit, (turns) =>
            turns.map((turn) => ({
              ...turn,
              user_input: `${SYSTEM_MESSAGE}\n${String(turn['user_input'])}`,
            })),
          ),
        },
      },
    },
    'SERVICE-223': {
      level: 'should',
      rule: 'A span that is sent again with another text does not change its turn.',
      statements: ['3.1.2', '3.1.3'],
      reason: 'Results that were read before would no longer match the turns.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight(
        [hasTurnPerSpan('json', 're-sent'), hasSentTexts('user_input', withSameTexts)],
        hasSentTexts('user_input', ['re-sent'], 'Ignore a span whose id is already stored.'),
      ),
      mutants: {
        'resent-overwrites': {
          description: 'Replaces the text of a turn when its span is sent again.',
          transform: onTurnsOfRequests(contains(RETRY_TAG), (turns) =>
            turns.map((turn) => ({
              ...turn,
              user_input: String(turn['user_input']).replace('parcel', RESENT_SUBJECT),
            })),
          ),
        },
      },
    },
  },
};

const TEXT_HINT =
  'Store and return texts as they are sent: do not trim, escape, normalize, or truncate them.';

const PARTS_HINT = 'Join the texts of all parts of a message, not only of one of them.';

/** Requires the texts of the span's messages in the conversations of some steps. */
function hasSentTexts(
  key: 'user_input' | 'agent_response',
  steps: readonly ConversationName[],
  hint?: string,
): Check {
  const attribute = key === 'user_input' ? 'gen_ai.input.messages' : 'gen_ai.output.messages';
  return checkConversations(steps, hasAllTurns, ({ id, session, spans }) => {
    const texts = turnsOf(session).map((turn) => resolvePointer(turn, `/${key}`));
    return spans.flatMap((span) => {
      const parts = messageTexts(span, attribute);
      if (parts.length === 0 || texts.some((text) => hasParts(text, parts))) return [];
      const lost = findLostPart(parts, texts);
      const { expected, received } = lost ?? describeWrongText(parts, texts);
      return [
        {
          expected: `${key} with ${expected} in ${formatValue(id)}`,
          received,
          hint: hint ?? (lost ? PARTS_HINT : TEXT_HINT),
        },
      ];
    });
  });
}

/** Requires the text of the user in the turns of a conversation, perhaps with other messages. */
function showsUserText(step: ConversationName): Check {
  return checkConversations([step], hasAllTurns, ({ id, session, spans }) => {
    const inputs = turnsOf(session).map((turn) => resolvePointer(turn, '/user_input'));
    return spans.flatMap((span) => {
      const [text = ''] = messageTexts(span, 'gen_ai.input.messages');
      if (inputs.some((input) => String(input).includes(text))) return [];
      const expected = `user_input with ${formatValue(text)} in ${formatValue(id)}`;
      return [{ expected, received: formatValue(inputs) }];
    });
  });
}

/**
 * Returns whether a turn has the text of a message. How a service joins the texts of several parts is
 * not specified.
 */
export function hasParts(text: unknown, parts: readonly string[]): boolean {
  if (typeof text !== 'string' || parts.length === 0) return false;
  return parts.length === 1 ? text === parts[0] : parts.every((part) => text.includes(part));
}

/** Enough characters to recognize where a part of a text begins. */
const START_LENGTH = 12;
/** How much is shown before and after the first difference. */
const SHOWN_BEFORE = 8;
const SHOWN_LENGTH = 32;

/** Finds a part of a message that a turn lacks as a whole, although it has another part. */
function findLostPart(
  parts: readonly string[],
  texts: readonly unknown[],
): { expected: string; received: string } | undefined {
  if (parts.length < 2) return undefined;
  const text = texts
    .filter((each) => typeof each === 'string')
    .find((each) => each !== '' && parts.some((part) => each.includes(part)));
  if (text === undefined) return undefined;
  const lost = parts.findIndex((part) => !text.includes(part.trim().slice(0, START_LENGTH)));
  const part = parts[lost];
  if (part === undefined) return undefined;
  const expected = `part ${lost + 1} of ${parts.length} of its message, ${shorten(part)},`;
  return { expected, received: shorten(text) };
}

/** Describes a text that no turn has, or that a turn has in another form. */
function describeWrongText(
  parts: readonly string[],
  texts: readonly unknown[],
): { expected: string; received: string } {
  const [turnId] = TURN_ID.exec(parts.join('')) ?? [];
  const similar = texts.find(
    (text) => typeof text === 'string' && turnId !== undefined && text.includes(turnId),
  );
  if (typeof similar !== 'string') {
    return { expected: formatValue(parts.join('')), received: formatValue(texts) };
  }
  // Between the parts, a service may add what it likes.
  const part = parts.find((each) => !similar.includes(each)) ?? parts.join('');
  const rest = similar.slice(Math.max(0, similar.indexOf(part.slice(0, START_LENGTH))));
  if (part.startsWith(rest)) {
    return { expected: `all ${part.length} characters`, received: `${rest.length} characters` };
  }
  let at = 0;
  while (part[at] === rest[at]) at++;
  const start = Math.max(0, at - SHOWN_BEFORE);
  return { expected: shorten(part.slice(start)), received: shorten(rest.slice(start)) };
}

/** Quotes the start of a text. The cut may separate the halves of a surrogate pair. */
const shorten = (text: string): string => formatValue(text.slice(0, SHOWN_LENGTH).toWellFormed());

function toRawMessages(text: unknown): string {
  return JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]);
}
