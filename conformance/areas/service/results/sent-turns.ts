/** Which of the spans that the run sends become turns (spec 2.1, 3.1, 4.1). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import type { Check } from '../../../engine/checks/check.ts';
import type { ProxyRequest, Transform } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import { CLOSED_TWICE, CLOSED_TWICE_SUBJECT } from '../close/evidence.ts';
import {
  hasAlikeTurns,
  hasManySpans,
  hasReversedTurns,
  hasTurnsOfOneTrace,
  IGNORED_SPAN,
  OTHER_SPAN_NAME,
  RETRY_TAG,
  TOOL_SPAN,
} from '../close/planned-conversations.ts';
import { requireAll, requirePlainRight } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import { isSplit } from '../spans.ts';
import type { ConversationName } from '../steps.ts';
import { acceptsLike, contains } from '../traces/trace-requests.ts';
import { messageTexts, turnsOf } from '../transcript.ts';
import { onSessions, spanIdsIn } from '../transforms.ts';
import { explainDifferences } from './lost-turns.ts';
import { checkConversations, hasTurns } from './sent-conversations.ts';
import { compareTurns, describeDifferences } from './turn-differences.ts';
import { editTurnLists, editTurnsOf, onTurnsOfRequests } from './turn-edits.ts';

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
    'SERVICE-233': {
      rule: 'Every chat span of a request with 600 other spans becomes a turn.',
      statements: ['2.1.5', '2.1.r2', '4.1.7'],
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight(
        [hasTurnPerSpan('json', 'ignored')],
        requireAll(
          hasTurnPerSpan('many spans'),
          acceptsLike(['many spans'], () => ['ignored']),
        ),
      ),
      mutants: {
        'spans-after-512': {
          description: 'Ignores the spans of a request after the first 512.',
          transform: onTurnsOfRequests(hasManySpans, (turns) => turns.slice(0, 1)),
        },
      },
    },
    'SERVICE-234': {
      rule: 'A chat span inside an `invoke_agent` span without messages becomes a turn.',
      statements: ['2.1.5', '2.1.7'],
      observability: 'provoked',
      probes: ['service/conversations'],
      // A service that ignores every chat span with a parent fails another requirement.
      check: requirePlainRight([hasTurnPerSpan('json', 'old')], showsWrappedTurns()),
      mutants: {
        'wrapped-turn-lost': {
          description: 'Ignores chat spans inside an invoke_agent span.',
          transform: onTurnsOfRequests(contains('invoke_agent'), (turns) =>
            turns.filter(({ user_input: input }) => !String(input).includes('/2?')),
          ),
        },
      },
      legal: {
        'wrapper-as-turn': {
          description: 'Shows a turn without texts for an invoke_agent span without messages.',
          transform: onTurnsOfRequests(contains('invoke_agent'), addTurn),
        },
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
  return checkConversations(steps, hasTurns, ({ id, session, spans }, transcript) => {
    const { length } = turnsOf(session);
    if (length === spans.length) return [];
    const differences = compareTurns(session, id, transcript);
    const details = describeDifferences(differences);
    const hint = explainDifferences(differences, transcript)?.cure;
    return [
      {
        expected: `${spans.length} turns in ${formatValue(id)}`,
        received: details === '' ? String(length) : `${length}: ${details}`,
        ...(hint !== undefined && { hint: `${hint}.` }),
      },
    ];
  });
}

/** Requires the texts of chat spans that have a parent. A service may show further turns for the parents. */
function showsWrappedTurns(): Check {
  return checkConversations(['wrapper'], hasTurns, ({ id, session, spans }) => {
    const hasText = (key: 'user_input' | 'agent_response', [text = '']: string[]): boolean =>
      turnsOf(session).some((turn) => String(resolvePointer(turn, `/${key}`)).includes(text));
    const lost = spans.find(
      (span) =>
        span.parentSpanId !== '' &&
        !(
          hasText('user_input', messageTexts(span, 'gen_ai.input.messages')) &&
          hasText('agent_response', messageTexts(span, 'gen_ai.output.messages'))
        ),
    );
    if (!lost) return [];
    const [text = ''] = messageTexts(lost, 'gen_ai.input.messages');
    const expected = `a turn with ${formatValue(text)} in ${formatValue(id)}`;
    return [{ expected, received: `${turnsOf(session).length} other turns` }];
  });
}

/** Judges turns in a special case only if the plain conversation has all its turns; else that is the cause. */
export function onceTurnsAreListed(check: Check): Check {
  return requirePlainRight([hasTurnPerSpan('json')], check);
}

/** Shows only the first turn of conversations that were named by `X-Conversation-Id`. */
function keepFirstHeaderTurn(): Transform {
  const ids = new Set<string>();
  const editNamed = onSessions('production', (session) => {
    if (!ids.has(String(session['source_session_id']))) return;
    editTurnsOf(session, (turns) => turns.slice(0, 1));
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

/** Removes the turns that repeat the user input of another one. */
function keepOnePerText(turns: ResultsObject[]): ResultsObject[] {
  const inputs = turns.map(({ user_input: input }) => input);
  return turns.filter((_turn, index) => inputs.indexOf(inputs[index]) === index);
}

/** Adds a turn without texts. */
export function addTurn(turns: ResultsObject[]): ResultsObject[] {
  return [...turns, { session_sequence: turns.length + 1, user_input: '', agent_response: '' }];
}
