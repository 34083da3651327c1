import { formatValue, CHAT_RESPONSE_MS_TARGET } from '../../../src/contract/index.ts';
import type { ChatRequirementId } from './requirements.ts';
import {
  checkAccepted,
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  isErrorResponse,
  checkNoServerError,
  requirePlainAccepted,
  checkRefused,
  checkWrongKey,
} from '../../engine/checks/responses.ts';
import {
  unjudgedAs,
  checkEach,
  explainNoValidResponse,
  type Check,
  type Finding,
} from '../../engine/checks/check.ts';
import { chatRefusalHints, replyHints } from './hints.ts';
import {
  checkChatIds,
  checkLeaks,
  checkSessionIdEcho,
  checkSessionIdPresence,
} from './session-checks.ts';
import {
  GENERATED,
  isChatStep,
  malformedChatSteps,
  validChatSteps,
  type ValidChatStep,
} from './steps.ts';
import { chatProperties } from './generated/properties.ts';
import { readGenerated } from '../../engine/checks/generated.ts';
import { isObjectFrom, checkShape, type ValueHint } from '../../engine/checks/shape.ts';
import {
  checkHttps,
  checkTypicalValue,
  checkMedianTime,
  checkMaxTime,
} from '../../engine/checks/targets.ts';
import { isConclusive, showsOverlap } from '../../engine/transcript/repetitions.ts';
import { requireSurvival } from '../../engine/checks/crashes.ts';
import { checkArguments, checkToolsRun, checkToolsUsed } from './tool-checks.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

const isReply = isObjectFrom('chat');
const noReply = explainNoValidResponse('chat');
const noReplyHasField = unjudgedAs('not_applicable', 'No reply has this field.');
const noToolCalls = unjudgedAs(
  'not_observed',
  'No reply has tool calls. Use --prompt to send a message that makes the agent call a tool.',
);
const noErrorResponse = unjudgedAs('not_observed', 'No chat request got an error response.');
const noResponseWith = (status: number): Check['unjudged'] =>
  unjudgedAs('not_observed', `No chat request got a ${status} response.`);

const isValidStep = (step: string): step is ValidChatStep => Object.hasOwn(validChatSteps, step);

/** Returns the requirement that the valid request of a step must meet. */
const requirementOf = (step: string): ChatRequirementId | undefined => {
  if (step === GENERATED) return undefined;
  // CHAT-001 also covers steps of recordings that these probes didn't make.
  return isValidStep(step) ? validChatSteps[step] : 'CHAT-001';
};

const generated = readGenerated('chat', chatProperties);

/** Requires the valid requests of a requirement to succeed. */
const succeeds = (id: ChatRequirementId, isEvidence = isConclusive): Check =>
  generated.include(
    id,
    checkAccepted('chat', (step) => requirementOf(step) === id, noReply, isEvidence),
  );

/** The steps that add one part to the minimal request; all other steps vary the full one. */
const variesMinimal = isChatStep(
  'only user_id',
  'only session_id',
  'known metadata',
  'only other metadata',
);

/** Requires the valid requests of a requirement to succeed, if the request that they vary succeeds. */
const succeedsLikeBaseline = (id: ChatRequirementId, isEvidence = isConclusive): Check =>
  requirePlainAccepted(
    (baseline, exchange) => isChatStep(variesMinimal(exchange) ? 'minimal' : 'full')(baseline),
    isReply,
    succeeds(id, isEvidence),
  );

/** Requires a 400 response to the malformed requests of a requirement. */
const refuses = (id: ChatRequirementId): Check => {
  const steps = Object.entries(malformedChatSteps).filter(([, requirement]) => requirement === id);
  return checkRefused(
    'chat',
    steps.map(([step]) => step),
    400,
    noReply,
    chatRefusalHints,
  );
};

/** The fields at some places of a reply match the schema, if present. */
const field = (places: readonly string[], hint?: ValueHint): Check =>
  checkShape({
    message: 'ChatResponse',
    filter: isReply,
    places,
    unjudged: noReplyHasField,
    ...(hint ? { hint } : {}),
  });

/** A field that is required wherever the object around it is present. */
const requiredField = (place: string, hint?: ValueHint): Check => ({
  ...field([place], hint),
  unjudged: (transcript) =>
    transcript.exchanges.some(isReply)
      ? { verdict: 'blocked', reason: 'The field that contains it is missing.' }
      : noReply(transcript),
});

const CALL = '/choices/*/message/tool_calls/*';
const toolField = (places: readonly string[], hint?: ValueHint): Check => ({
  ...field(places, hint),
  unjudged: noToolCalls,
});

const isError = (exchange: Exchange): boolean =>
  exchange.endpoint === 'chat' && isErrorResponse(exchange);
const isErrorWith =
  (status: number) =>
  (exchange: Exchange): boolean =>
    isError(exchange) && exchange.response?.status === status;

/** The checks for `POST /v1/chat/completions`, by requirement. */
export const chatChecks = {
  'CHAT-001': succeeds('CHAT-001'),
  'CHAT-002': succeeds('CHAT-002'),
  'CHAT-003': succeedsLikeBaseline('CHAT-003'),
  'CHAT-004': succeedsLikeBaseline('CHAT-004'),
  'CHAT-005': succeedsLikeBaseline('CHAT-005'),
  'CHAT-006': succeedsLikeBaseline('CHAT-006'),
  'CHAT-007': succeedsLikeBaseline('CHAT-007'),
  'CHAT-008': succeedsLikeBaseline('CHAT-008'),
  'CHAT-009': succeedsLikeBaseline('CHAT-009'),
  'CHAT-010': succeedsLikeBaseline('CHAT-010'),
  'CHAT-011': succeedsLikeBaseline('CHAT-011'),
  'CHAT-012': succeedsLikeBaseline('CHAT-012'),
  'CHAT-013': requireSurvival('chat', succeedsLikeBaseline('CHAT-013')),
  'CHAT-014': succeedsLikeBaseline('CHAT-014', showsOverlap),
  'CHAT-015': succeedsLikeBaseline('CHAT-015'),
  'CHAT-016': checkNoServerError((exchange) => exchange.endpoint === 'chat', noReply),
  'CHAT-020': requiredField('/choices'),
  'CHAT-021': requiredField('/choices/*'),
  'CHAT-022': requiredField('/choices/*/message'),
  'CHAT-023': requiredField('/choices/*/message/role'),
  'CHAT-024': requiredField('/choices/*/message/content', replyHints.content),
  'CHAT-025': field(['/choices/*/index']),
  'CHAT-026': checkTypicalValue(isReply, '/choices/*/index', 0, noReplyHasField),
  'CHAT-027': field(['/choices/*/finish_reason']),
  'CHAT-028': checkTypicalValue(isReply, '/choices/*/finish_reason', 'stop', noReplyHasField),
  'CHAT-029': field(['/session_id']),
  'CHAT-030': checkSessionIdEcho(noReplyHasField),
  'CHAT-031': checkSessionIdPresence(noReply),
  'CHAT-032': field(['/chat_id']),
  'CHAT-033': field(['/metadata']),
  'CHAT-034': field(['/metadata/agent_confidence'], replyHints.confidence),
  'CHAT-035': field(['/metadata/response_time_ms'], replyHints.milliseconds),
  'CHAT-036': field(['/metadata/tools_used', '/metadata/tools_used/*']),
  'CHAT-037': field(['/evaluation_metadata']),
  'CHAT-038': checkEvaluationMetadataTypes(),
  'CHAT-040': toolField(['/choices/*/message/tool_calls', CALL], replyHints.toolCalls),
  'CHAT-041': toolField([`${CALL}/id`]),
  'CHAT-042': toolField([`${CALL}/type`]),
  'CHAT-043': toolField([`${CALL}/function`]),
  'CHAT-044': toolField([`${CALL}/function/name`]),
  'CHAT-045': checkArguments(toolField([`${CALL}/function/arguments`], replyHints.arguments)),
  'CHAT-046': toolField([`${CALL}/function/result`], replyHints.result),
  'CHAT-047': checkToolsUsed(isReply, noToolCalls),
  'CHAT-048': checkToolsRun(isReply, noToolCalls),
  'CHAT-050': checkLeaks(noReply),
  'CHAT-051': checkChatIds(noReplyHasField),
  'CHAT-060': refuses('CHAT-060'),
  'CHAT-061': refuses('CHAT-061'),
  'CHAT-062': refuses('CHAT-062'),
  'CHAT-063': refuses('CHAT-063'),
  'CHAT-064': refuses('CHAT-064'),
  'CHAT-065': refuses('CHAT-065'),
  'CHAT-066': refuses('CHAT-066'),
  'CHAT-070': checkErrorShape(isError, noErrorResponse),
  'CHAT-071': checkErrorStrings(isError, noErrorResponse),
  'CHAT-072': checkErrorCode('bad_request', isErrorWith(400), noResponseWith(400)),
  'CHAT-073': checkErrorCode('rate_limit_exceeded', isErrorWith(429), noResponseWith(429)),
  'CHAT-074': checkErrorCode('server_error', isErrorWith(500), noResponseWith(500)),
  'CHAT-080': checkMedianTime('chat', CHAT_RESPONSE_MS_TARGET, noReply),
  'CHAT-081': checkMaxTime('chat', CHAT_RESPONSE_MS_TARGET, noReply),
  'CHAT-082': checkHttps(),
  'CHAT-083': checkWrongKey('chat'),
} satisfies Record<ChatRequirementId, Check>;

/** The types of the keys of `evaluation_metadata` that the specification shows (spec 2.8). */
const metadataTypes: Readonly<Record<string, string>> = {
  order_found: 'boolean',
  tone: 'string',
  resolution_step: 'integer',
  customer_acknowledged: 'boolean',
  tool_called: 'string',
  tool_success: 'boolean',
  response_included_status: 'boolean',
  customer_informed: 'boolean',
};

function checkEvaluationMetadataTypes(): Check {
  const knownEntriesOf = (exchange: Exchange): [string, unknown][] => {
    const metadata = isObject(exchange.json) ? exchange.json['evaluation_metadata'] : undefined;
    return isObject(metadata) ? Object.entries(metadata).filter(([key]) => metadataTypes[key]) : [];
  };
  const hasType = (value: unknown, type: string | undefined): boolean =>
    type === 'integer' ? Number.isInteger(value) : typeof value === type;
  return checkEach(
    (exchange) => isReply(exchange) && knownEntriesOf(exchange).length > 0,
    (exchange): Finding[] =>
      knownEntriesOf(exchange)
        .filter(([key, value]) => !hasType(value, metadataTypes[key]))
        .map(([key, value]) => ({
          exchange: exchange.id,
          pointer: `/evaluation_metadata/${key}`,
          expected: `typically ${metadataTypes[key] ?? ''}`,
          received: formatValue(value),
        })),
    noReplyHasField,
  );
}
