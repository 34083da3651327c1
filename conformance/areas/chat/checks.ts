import { brief, chatResponseMsTarget } from '../../../src/contract/index.ts';
import type { chatRequirements } from './requirements.ts';
import {
  answered,
  errorPair,
  errorShape,
  errorStrings,
  isErrorAnswer,
  neverBroken,
  oncePlain,
  refused,
  wrongKeyRefused,
} from '../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  noValidResponse,
  type Check,
  type Finding,
} from '../../engine/checks/check.ts';
import { echoHint, hintAgainst } from './hints.ts';
import { leaks, sharedChatIds } from './session-checks.ts';
import { answersOf, shape, type Hint } from '../../engine/checks/shape.ts';
import { overHttps, typical, usualTime, worstTime } from '../../engine/checks/targets.ts';
import { argumentsAreJson, callsForToolsUsed, toolsAreRun } from './tool-checks.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

const unanswered = noValidResponse('chat');
const replies = answersOf('chat');
const leftOut = notJudged('not_applicable', 'No reply carries it.');
const noTools = notJudged(
  'not_observed',
  'No reply carries tool_calls. Give a message that makes the agent use a tool with --prompt.',
);
const neverSeen = (status: number): Check['unjudged'] =>
  notJudged('not_observed', `No request was answered with ${status}.`);

/** The steps that a requirement of their own is about; every other valid one is of CHAT-001. */
const ownSteps = {
  minimal: 'CHAT-002',
  'without user_id': 'CHAT-003',
  'without session_id': 'CHAT-004',
  'without metadata': 'CHAT-005',
  'only user_id': 'CHAT-006',
  'only session_id': 'CHAT-007',
  'known metadata': 'CHAT-008',
  'other metadata': 'CHAT-009',
  'only other metadata': 'CHAT-009',
  history: 'CHAT-010',
  unicode: 'CHAT-011',
  turn: 'CHAT-012',
  'long history': 'CHAT-015',
  '64-character user_id': 'CHAT-006',
  'after refusals': 'CHAT-013',
  overlap: 'CHAT-014',
} as const;

/** A request with one part alone is held against the minimal one, any other against the full one. */
const plainOf = (name: string): string => (/^(only|known)/.test(name) ? 'minimal' : 'full');

const stepOncePlain = (...names: (keyof typeof ownSteps)[]): Check =>
  oncePlain(
    (plain, one) => plain.endpoint === 'chat' && plain.step === plainOf(one.step),
    replies,
    answered('chat', (step) => names.some((name) => name === step), unanswered),
  );

const field = (place: string, hint?: Hint): Check =>
  shape({
    message: 'ChatResponse',
    answers: replies,
    at: [place],
    absent: leftOut,
    ...(hint ? { hint } : {}),
  });

/** A place that must be there once its parent is. */
const part = (place: string, hint?: Hint): Check => ({
  ...field(place, hint),
  unjudged: (transcript) =>
    transcript.exchanges.some(replies)
      ? { verdict: 'blocked', reason: 'What it is part of is missing.' }
      : unanswered(transcript),
});

const CALL = '/choices/*/message/tool_calls/*';
const toolField = (place: string, hint?: Hint): Check => ({
  ...field(place, hint),
  unjudged: noTools,
});

const refuses = (...steps: string[]): Check => refused('chat', steps, 400, unanswered);

const errors = (one: Exchange): boolean => one.endpoint === 'chat' && isErrorAnswer(one);
const withStatus =
  (status: number) =>
  (one: Exchange): boolean =>
    one.endpoint === 'chat' && isErrorAnswer(one) && one.response?.status === status;

/** The checks of `POST /v1/chat/completions`, one for each requirement. */
export const chatChecks = {
  'CHAT-001': answered('chat', (name) => !Object.hasOwn(ownSteps, name), unanswered),
  'CHAT-002': answered('chat', (name) => name === 'minimal', unanswered),
  'CHAT-003': stepOncePlain('without user_id'),
  'CHAT-004': stepOncePlain('without session_id'),
  'CHAT-005': stepOncePlain('without metadata'),
  'CHAT-006': stepOncePlain('only user_id', '64-character user_id'),
  'CHAT-007': stepOncePlain('only session_id'),
  'CHAT-008': stepOncePlain('known metadata'),
  'CHAT-009': stepOncePlain('other metadata', 'only other metadata'),
  'CHAT-010': stepOncePlain('history'),
  'CHAT-011': stepOncePlain('unicode'),
  'CHAT-012': stepOncePlain('turn'),
  'CHAT-013': stepOncePlain('after refusals'),
  'CHAT-014': stepOncePlain('overlap'),
  'CHAT-015': stepOncePlain('long history'),
  'CHAT-016': neverBroken((one) => one.endpoint === 'chat', unanswered),
  'CHAT-020': part('/choices'),
  'CHAT-021': part('/choices/*'),
  'CHAT-022': part('/choices/*/message'),
  'CHAT-023': part('/choices/*/message/role'),
  'CHAT-024': part('/choices/*/message/content', hintAgainst.content),
  'CHAT-025': field('/choices/*/index'),
  'CHAT-026': typical(replies, '/choices/*/index', 0, leftOut),
  'CHAT-027': field('/choices/*/finish_reason'),
  'CHAT-028': typical(replies, '/choices/*/finish_reason', 'stop', leftOut),
  'CHAT-029': sessionIdIsString(),
  'CHAT-030': sessionIdIsEcho(),
  'CHAT-031': sessionIdIsThere(),
  'CHAT-032': field('/chat_id'),
  'CHAT-033': field('/metadata'),
  'CHAT-034': field('/metadata/agent_confidence', hintAgainst.confidence),
  'CHAT-035': field('/metadata/response_time_ms', hintAgainst.milliseconds),
  'CHAT-036': {
    ...shape({
      message: 'ChatResponse',
      answers: replies,
      at: ['/metadata/tools_used', '/metadata/tools_used/*'],
      absent: leftOut,
    }),
  },
  'CHAT-037': field('/evaluation_metadata'),
  'CHAT-038': hintsAsSeen(),
  'CHAT-040': {
    ...shape({
      message: 'ChatResponse',
      answers: replies,
      at: ['/choices/*/message/tool_calls', CALL],
      absent: noTools,
      hint: hintAgainst.toolCalls,
    }),
  },
  'CHAT-041': toolField(`${CALL}/id`),
  'CHAT-042': toolField(`${CALL}/type`),
  'CHAT-043': toolField(`${CALL}/function`),
  'CHAT-044': toolField(`${CALL}/function/name`),
  'CHAT-045': argumentsAreJson(toolField(`${CALL}/function/arguments`, hintAgainst.arguments)),
  'CHAT-046': toolField(`${CALL}/function/result`, hintAgainst.result),
  'CHAT-047': callsForToolsUsed(replies, noTools),
  'CHAT-048': toolsAreRun(replies, noTools),
  'CHAT-050': leaks(unanswered),
  'CHAT-051': sharedChatIds(leftOut),
  'CHAT-060': refuses('messages missing'),
  'CHAT-061': refuses(
    'messages a string',
    'messages an object',
    'messages null',
    'message a string',
  ),
  'CHAT-062': refuses('role missing', 'role a number'),
  'CHAT-063': refuses('role tool', 'role unknown', 'role unknown in the last of two'),
  'CHAT-064': refuses('content missing', 'content missing in the first of two'),
  'CHAT-065': refuses('content a number', 'content an object', 'content null'),
  'CHAT-066': refuses('body not JSON', 'body empty', 'body an array'),
  'CHAT-070': errorShape(errors, notJudged('not_observed', 'No error answer was seen.')),
  'CHAT-071': errorStrings(errors, notJudged('not_observed', 'No error answer was seen.')),
  'CHAT-072': errorPair('bad_request', withStatus(400), neverSeen(400)),
  'CHAT-073': errorPair('rate_limit_exceeded', withStatus(429), neverSeen(429)),
  'CHAT-074': errorPair('server_error', withStatus(500), neverSeen(500)),
  'CHAT-080': usualTime('chat', chatResponseMsTarget, unanswered),
  'CHAT-081': worstTime('chat', chatResponseMsTarget, unanswered),
  'CHAT-082': overHttps(),
  'CHAT-083': wrongKeyRefused('chat'),
} satisfies Record<keyof typeof chatRequirements, Check>;

/** The session id that a request carried. */
function sentSession(one: Exchange): string | undefined {
  const id = isObject(one.sent) ? one.sent['session_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function replySession(one: Exchange): unknown {
  return isObject(one.json) ? one.json['session_id'] : undefined;
}

function sessionIdIsString(): Check {
  const judged = field('/session_id');
  return {
    ...judged,
    // null where no session was sent is an echo of nothing: neither asked for nor forbidden.
    evidence: (transcript) =>
      judged
        .evidence(transcript)
        .filter((one) => replySession(one) !== null || sentSession(one) !== undefined),
  };
}

function sessionIdIsEcho(): Check {
  return checkEach(
    (one) =>
      replies(one) && sentSession(one) !== undefined && typeof replySession(one) === 'string',
    (one) =>
      replySession(one) === sentSession(one)
        ? []
        : [
            {
              exchange: one.id,
              pointer: '/session_id',
              expected: brief(sentSession(one)),
              received: brief(replySession(one)),
              hint: echoHint(String(sentSession(one)), String(replySession(one))),
            },
          ],
    leftOut,
  );
}

function sessionIdIsThere(): Check {
  return checkEach(
    (one) => replies(one) && sentSession(one) !== undefined,
    (one) =>
      replySession(one) === undefined
        ? [{ exchange: one.id, pointer: '/session_id', expected: 'the echo', received: 'nothing' }]
        : [],
    unanswered,
  );
}

const hintTypes: Record<string, string> = {
  order_found: 'boolean',
  tone: 'string',
  resolution_step: 'integer',
  customer_acknowledged: 'boolean',
  tool_called: 'string',
  tool_success: 'boolean',
  response_included_status: 'boolean',
  customer_informed: 'boolean',
};

function hintsAsSeen(): Check {
  const hintsOf = (one: Exchange): [string, unknown][] => {
    const hints = isObject(one.json) ? one.json['evaluation_metadata'] : undefined;
    return isObject(hints) ? Object.entries(hints).filter(([key]) => hintTypes[key]) : [];
  };
  const fits = (value: unknown, type: string | undefined): boolean =>
    type === 'integer' ? Number.isInteger(value) : typeof value === type;
  return checkEach(
    (one) => replies(one) && hintsOf(one).length > 0,
    (one): Finding[] =>
      hintsOf(one)
        .filter(([key, value]) => !fits(value, hintTypes[key]))
        .map(([key, value]) => ({
          exchange: one.id,
          pointer: `/evaluation_metadata/${key}`,
          expected: `typically ${hintTypes[key] ?? ''}`,
          received: brief(value),
        })),
    leftOut,
  );
}
