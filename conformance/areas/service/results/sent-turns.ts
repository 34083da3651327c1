/** The turns that become of the spans that the run sends, and their texts (spec 2.1, 3.1, 4.1). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import type { Check } from '../../../engine/checks/check.ts';
import type { ProxyRequest, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type MutantEntry, type Subject } from '../../../engine/requirement.ts';
import { CLOSED_TWICE, CLOSED_TWICE_SUBJECT } from '../close/evidence.ts';
import {
  ESCAPED_SUBJECT,
  hasAlikeTurns,
  hasReversedTurns,
  hasTurnsOfOneTrace,
  IGNORED_SPAN,
  OTHER_SPAN_NAME,
  RESENT_SUBJECT,
  RETRY_TAG,
  TOOL_SPAN,
} from '../close/planned-conversations.ts';
import { requirePlainRight } from '../findings.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { ESCAPE_CHARACTER, isSplit } from '../spans.ts';
import type { ConversationName } from '../steps.ts';
import { contains } from '../traces/trace-requests.ts';
import { messageTexts, turnsOf } from '../transcript.ts';
import { conversationIdIn, onSessions, setKey, spanIdsIn } from '../transforms.ts';
import { checkConversations, countableSteps, hasAllTurns, hasTurns } from './sent-conversations.ts';

type TurnEdit = (turn: ResultsObject, index: number, turns: ResultsObject[]) => void;

export const editTurns = (
  endpoint: ResultsEndpoint,
  description: string,
  edit: TurnEdit,
): MutantEntry => ({
  description,
  transform: onSessions(endpoint, (session) => objectsAt(session, 'traces').forEach(edit)),
});

const editProductionTurns = (description: string, edit: TurnEdit): MutantEntry =>
  editTurns('production', description, edit);

/** A mutant that edits the lists of turns. */
const editTurnLists = (
  description: string,
  edit: (turns: ResultsObject[]) => ResultsObject[],
): MutantEntry => ({
  description,
  transform: onSessions('production', (session) => {
    if (Array.isArray(session['traces'])) session['traces'] = edit(objectsAt(session, 'traces'));
  }),
});

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

const requirements = withDefaults(
  { reason: 'Evals judge the turns, so a missing or extra turn changes the outcome.' },
  {
    'SERVICE-099': {
      rule: 'Chat spans with the same conversation id become turns of one session, even when they arrive in different requests.',
      section: '2.1',
      statements: ['1.8', '2.1.1', '2.1.2', '2.1.5'],
      check: hasTurnPerSpan('json'),
      mutants: {
        'turns-of-one-request': {
          description: 'Keeps only the turns of the first request.',
          transform: onTurnsOfRequests(hasReversedTurns, (turns) => turns.slice(0, 2)),
        },
      },
    },
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
    'SERVICE-102': {
      rule: 'A span that is sent twice becomes one turn.',
      statements: ['3.1.2', '3.1.3'],
      observability: 'provoked',
      check: onceTurnsAreListed(hasTurnPerSpan('re-sent')),
      mutants: {
        'resent-twice': {
          description: 'Adds a second turn for a span that is sent again.',
          transform: onTurnsOfRequests(repeatsSpan, addTurn),
        },
        'resent-changed-twice': {
          description: 'Adds a second turn for a span that is sent again with another text.',
          transform: onTurnsOfRequests(contains(RETRY_TAG), addTurn),
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
    'SERVICE-178': {
      rule: 'Spans of one conversation that arrive at the same moment all become turns, and a span that arrives twice becomes one.',
      section: '3.1',
      statements: ['1.8', '3.1.2', '3.1.3'],
      reason: 'Several processes of one agent export at the same time, and each one retries.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight([hasTurnPerSpan('json', 're-sent')], hasTurnPerSpan(CLOSED_TWICE)),
      mutants: {
        'same-moment-lost': {
          description: 'Loses a turn of spans that arrive at the same moment.',
          transform: onTurnsOfRequests(contains(CLOSED_TWICE_SUBJECT), (turns) => turns.slice(1)),
        },
        'same-moment-doubled': {
          description: 'Adds a turn for a span that arrives twice at the same moment.',
          transform: onTurnsOfRequests(contains(CLOSED_TWICE_SUBJECT), addTurn),
        },
      },
    },
    'SERVICE-190': {
      rule: '`X-Conversation-Id` names the conversation of every span in its request, as JSON and as protobuf.',
      section: '4.1',
      statements: ['2.1.3', '4.1.6'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('header')),
      mutants: {
        'header-of-first-span': {
          description: 'Applies X-Conversation-Id only to the first span of a request.',
          transform: keepFirstHeaderTurn,
        },
      },
    },
    'SERVICE-103': {
      rule: 'A span without `gen_ai.operation.name` does not become a turn, but the spans after it do.',
      statements: ['2.1.4', '2.1.r2'],
      observability: 'provoked',
      check: onceTurnsAreListed(hasTurnPerSpan('ignored')),
      mutants: {
        'nameless-turn': {
          description: 'Adds a turn for a span without an operation name.',
          transform: onTurnsOfRequests(contains(IGNORED_SPAN), addTurn),
        },
        'nameless-ends-batch': {
          description: 'Ignores the spans after one without an operation name.',
          transform: onTurnsOfRequests(contains(IGNORED_SPAN), (turns) => turns.slice(0, 1)),
        },
      },
    },
    'SERVICE-224': {
      rule: 'A chat span becomes a turn, regardless of its `name`.',
      section: '2.1',
      statements: ['2.1.4', '2.1.5'],
      reason: 'Instrumentations name spans after the model, so their turns would be lost.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('attribute and header')),
      mutants: {
        'chat-by-span-name': {
          description: 'Ignores chat spans whose name is not chat.',
          transform: onTurnsOfRequests(contains(OTHER_SPAN_NAME), (turns) => turns.slice(0, 1)),
        },
      },
    },
    'SERVICE-164': {
      rule: 'Chat spans of one trace become separate turns.',
      statements: ['1.8', '2.1.5', '2.1.r1'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('one trace')),
      mutants: {
        'turn-per-trace': {
          description: 'Keeps only the first chat span of a trace.',
          transform: onTurnsOfRequests(hasTurnsOfOneTrace, (turns) => turns.slice(0, 1)),
        },
      },
    },
    'SERVICE-222': {
      rule: 'Chat spans with different ids become separate turns, even if their texts, their times, or the beginnings of their ids are the same.',
      section: '3.1',
      statements: ['2.1.5', '3.1.2'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('alike')),
      mutants: {
        'turn-per-text': {
          description: 'Keeps only one of the turns with the same text.',
          transform: onTurnsOfRequests(hasAlikeTurns, keepOnePerText),
        },
        'turn-per-id-prefix': {
          description: 'Loses a span whose ids begin like those of another one.',
          transform: onTurnsOfRequests(hasAlikeTurns, (turns) => turns.slice(0, -1)),
        },
      },
    },
    'SERVICE-197': {
      rule: 'A chat span with a parent becomes a turn, even if the parent is never sent.',
      statements: ['2.1.5'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('old')),
      mutants: {
        'roots-alone': {
          description: 'Ignores chat spans that have a parent.',
          transform: onTurnsOfRequests(contains('parentSpanId'), (turns) => turns.slice(0, 1)),
        },
      },
    },
    'SERVICE-198': {
      rule: 'Every chat span of a request with 120 spans becomes a turn.',
      statements: ['2.1.5', '2.1.r3c', '4.1.7'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('gzip')),
      mutants: {
        'hundred-spans': editTurnLists('Keeps only the first 100 turns.', (turns) =>
          turns.slice(0, 100),
        ),
      },
    },
    'SERVICE-217': {
      rule: 'A chat span with an error status becomes a turn.',
      statements: ['2.1.5', '2.1.16'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('failed')),
      mutants: {
        'failed-turn-lost': {
          description: 'Omits turns whose span has an error status.',
          transform: onTurnsOfRequests(contains('"code":2'), () => []),
        },
      },
    },
    'SERVICE-165': {
      rule: '`POST /v1/traces` reads the spans of every resource and of every scope in a request.',
      statements: ['2.1.r3c'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: onceTurnsAreListed(hasTurnPerSpan('split', 'protobuf')),
      mutants: {
        'first-resource-alone': {
          description: 'Reads only the first resource of a request.',
          transform: onTurnsOfRequests(isSplit, (turns) => turns.slice(0, 2)),
        },
        'first-scope-alone': {
          description: 'Reads only the first scope of a resource.',
          transform: onTurnsOfRequests(isSplit, (turns) =>
            turns.filter((_turn, index) => index !== 1),
          ),
        },
      },
    },
    'SERVICE-104': {
      rule: 'An `execute_tool` span does not become a turn.',
      statements: ['2.1.6'],
      observability: 'provoked',
      check: onceTurnsAreListed(hasTurnPerSpan('tools')),
      mutants: {
        'tool-turn': {
          description: 'Adds a turn for a tool call.',
          transform: onTurnsOfRequests(contains(TOOL_SPAN), addTurn),
        },
      },
    },
  },
);

export const sentTurns: Subject = { requirements };

/** Requires one turn per chat span. */
export function hasTurnPerSpan(...steps: ConversationName[]): Check {
  return checkConversations(steps, hasTurns, ({ id, session, spans }) => {
    const { length } = turnsOf(session);
    if (length === spans.length) return [];
    return [{ expected: `${spans.length} turns in ${formatValue(id)}`, received: String(length) }];
  });
}

/** Judges turns in a special case only if the plain conversation has all its turns; else that is the cause. */
export function onceTurnsAreListed(check: Check): Check {
  return requirePlainRight([hasTurnPerSpan('json')], check);
}

const TEXT_HINT =
  'Store and return texts as they are sent: do not trim, escape, normalize, or truncate them.';

/** Requires the texts of the span's messages in the conversations of some steps. */
function hasSentTexts(
  key: 'user_input' | 'agent_response',
  steps: readonly ConversationName[],
  hint?: string,
): Check {
  const attribute = key === 'user_input' ? 'gen_ai.input.messages' : 'gen_ai.output.messages';
  const check = checkConversations(steps, hasAllTurns, ({ id, session, spans }) => {
    const texts = turnsOf(session).map((turn) => resolvePointer(turn, `/${key}`));
    return spans.flatMap((span) => {
      const parts = messageTexts(span, attribute);
      if (parts.length === 0 || texts.some((text) => hasParts(text, parts))) return [];
      const { expected, received } = describeWrongText(parts, texts);
      return [{ expected: `${key} with ${expected} in ${formatValue(id)}`, received }];
    });
  });
  return {
    ...check,
    judge: (evidence, transcript) =>
      check.judge(evidence, transcript).map((finding) => ({ ...finding, hint: hint ?? TEXT_HINT })),
  };
}

/**
 * Returns whether a turn has the text of a message. How a service joins the texts of several parts is
 * not specified.
 */
export function hasParts(text: unknown, parts: readonly string[]): boolean {
  if (typeof text !== 'string' || parts.length === 0) return false;
  return parts.length === 1 ? text === parts[0] : parts.every((part) => text.includes(part));
}

/** The part of a text that no other turn has: the id of the conversation, and the number of the turn. */
const TURN_ID = /sk-[a-z0-9]{8}-[a-z0-9]{8}[^\s?]*\/\d+/;

/** Enough characters to recognize where a part of a text begins. */
const START_LENGTH = 12;
/** How much is shown before and after the first difference. */
const SHOWN_BEFORE = 8;
const SHOWN_LENGTH = 32;

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
  // The cut may separate the halves of a surrogate pair.
  const shown = (text: string): string =>
    formatValue(text.slice(start, start + SHOWN_LENGTH).toWellFormed());
  return { expected: shown(part), received: shown(rest) };
}

/** Shows only the first turn of conversations that were named by `X-Conversation-Id`. */
function keepFirstHeaderTurn(): Transform {
  const ids = new Set<string>();
  const editNamed = onSessions('production', (session) => {
    if (!ids.has(String(session['source_session_id']))) return;
    if (Array.isArray(session['traces'])) {
      session['traces'] = objectsAt(session, 'traces').slice(0, 1);
    }
  })();
  return async (request, forward, clock) => {
    const id = request.headers['x-conversation-id'];
    if (id !== undefined) ids.add(id);
    return editNamed(request, forward, clock);
  };
}

/** Returns whether a JSON trace request has the same span twice, or a span of an earlier request. */
function repeatsSpan({ body }: ProxyRequest, knownIds: ReadonlySet<string>): boolean {
  const ids = spanIdsIn(body);
  return new Set(ids).size < ids.length || ids.some((id) => knownIds.has(id));
}

/** Edits the turns of conversations with a trace request that matches. */
export function onTurnsOfRequests(
  matches: (request: ProxyRequest, knownIds: ReadonlySet<string>) => boolean,
  edit: (turns: ResultsObject[]) => ResultsObject[],
): TransformFactory {
  return (): Transform => {
    const knownIds = new Set<string>();
    const ids = new Set<string>();
    const editMatching = onSessions('production', (session) => {
      if (!ids.has(String(session['source_session_id']))) return;
      if (Array.isArray(session['traces'])) session['traces'] = edit(objectsAt(session, 'traces'));
    })();
    return async (request, forward, clock) => {
      if (request.endpoint === 'traces') {
        const id = conversationIdIn(request.body);
        if (id !== undefined && matches(request, knownIds)) ids.add(id);
        for (const spanId of spanIdsIn(request.body)) knownIds.add(spanId);
      }
      return editMatching(request, forward, clock);
    };
  };
}

/** Removes the turns that repeat the user input of another one. */
function keepOnePerText(turns: ResultsObject[]): ResultsObject[] {
  const inputs = turns.map(({ user_input: input }) => input);
  return turns.filter((_turn, index) => inputs.indexOf(inputs[index]) === index);
}

function addTurn(turns: ResultsObject[]): ResultsObject[] {
  return [...turns, { session_sequence: turns.length + 1, user_input: '', agent_response: '' }];
}

function toRawMessages(text: unknown): string {
  return JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]);
}
