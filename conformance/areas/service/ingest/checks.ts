import type { RefusalHint, RefusalHints } from '../../../engine/checks/refusal-hints.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  checkEach,
  unjudgedAs,
  explainNoValidResponse,
  outcomeFinding,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { requirePlainAccepted, checkRefused } from '../../../engine/checks/responses.ts';
import { isAccepted, isRateLimited, type Exchange } from '../../../engine/transcript/reading.ts';
import { requireIntrusiveRun } from '../findings.ts';
import { isStep, type TracesStep } from '../steps.ts';
import type { ingestRequirements } from './requirements.ts';

const statusOf = ({ response }: Exchange): number => response?.status ?? 0;
const noTraces = explainNoValidResponse('traces');

const contentTypeHint: RefusalHint = {
  accepted:
    'Check Content-Type first: only application/json and application/x-protobuf are supported.',
};

const refusalHints: RefusalHints = {
  'no id': {
    accepted: 'Check that every span has gen_ai.conversation.id before you store any of them.',
  },
  'over 10 MB': { accepted: 'Count the bytes as they arrive and stop reading after 10 MB.' },
  'text/plain': contentTypeHint,
  'application/octet-stream': contentTypeHint,
  'application/xml': contentTypeHint,
};

/** Trace requests that have a separate requirement. */
const steps = {
  protobuf: ['protobuf'],
  gzip: ['gzip', 'gzip protobuf'],
  header: ['header'],
  ignored: ['ignored', 'ignored alone'],
  resent: ['re-sent again'],
  otherSpans: ['tools', 'failed', 'wrapper'],
  large: ['under 10 MB'],
  twoConversations: ['two ids'],
  charset: ['charset'],
  unusualIds: ['case', 'other case', 'reserved', 'slash'],
} as const satisfies Record<string, readonly TracesStep[]>;

const isValidTraces = (exchange: Exchange): boolean =>
  exchange.endpoint === 'traces' && exchange.intent === 'valid';

/** Requires a 2xx status for the valid trace requests that match. */
function accepts(
  matches: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'] = noTraces,
): Check {
  return checkEach(
    (exchange) => isValidTraces(exchange) && matches(exchange) && !isRateLimited(exchange),
    (exchange) => (isAccepted(exchange) ? [] : [outcomeFinding(exchange, 'a 2xx response')]),
    unjudged,
  );
}

/** Requires every trace request without a separate requirement to be accepted. */
const acceptsPlain = (): Check =>
  accepts((exchange) => !isStep(exchange, 'traces', ...Object.values(steps).flat()));

/** Judges some steps only if a plain request was accepted; otherwise that request is the cause. */
function acceptsLikePlain(
  special: readonly TracesStep[],
  plain: readonly TracesStep[] = ['json', 'old'],
): Check {
  return requirePlainAccepted(
    (exchange) => isStep(exchange, 'traces', ...plain),
    isAccepted,
    accepts((exchange) => isStep(exchange, 'traces', ...special)),
  );
}

/** Judges gzip only if the same format was accepted uncompressed. */
const acceptsGzip = (): Check =>
  requirePlainAccepted(
    (exchange, { step }) => isStep(exchange, 'traces', step === 'gzip' ? 'json' : 'protobuf'),
    isAccepted,
    accepts((exchange) => isStep(exchange, 'traces', ...steps.gzip)),
  );

function bodyFinding({ id, response }: Exchange, pointer: string, expected: string): Finding {
  const received = JSON.stringify((response?.body ?? '').slice(0, 60));
  return { exchange: id, pointer, expected, received };
}

/** Requires an empty body or an empty JSON object. */
function hasEmptyResponse(): Check {
  const isEmpty = ({ response, json }: Exchange): boolean =>
    response?.body === '' || (isObject(json) && Object.keys(json).length === 0);
  const expected = 'an empty ExportTraceServiceResponse: {} or no bytes';
  return checkEach(
    (exchange) => isValidTraces(exchange) && isAccepted(exchange),
    (exchange) => (isEmpty(exchange) ? [] : [bodyFinding(exchange, '', expected)]),
    noTraces,
  );
}

const SPECIFIED_ENDPOINTS = ['traces', 'end', 'production', 'simulations'];

/** Requires a complete response without a 5xx status to every request with an intent. */
function isNeverServerError(intent: Exchange['intent'], reason: string): Check {
  return checkEach(
    (exchange) =>
      SPECIFIED_ENDPOINTS.includes(exchange.endpoint) &&
      exchange.intent === intent &&
      !isRateLimited(exchange),
    (exchange) =>
      exchange.failure || statusOf(exchange) >= 500
        ? [outcomeFinding(exchange, 'a complete response that is not a server error')]
        : [],
    unjudgedAs('blocked', reason),
  );
}

function hasMessageFor400(): Check {
  const hasMessage = ({ json }: Exchange): boolean =>
    isObject(json) && json['message'] !== undefined && json['message'] !== null;
  return checkEach(
    (exchange) => isStep(exchange, 'traces', 'no id') && statusOf(exchange) === 400,
    (exchange) =>
      hasMessage(exchange) ? [] : [bodyFinding(exchange, '/message', 'a JSON object with message')],
    unjudgedAs('not_observed', 'No trace request was refused because it lacks a conversation id.'),
  );
}

/** The checks of `POST /v1/traces`. */
export const ingestChecks = {
  'SERVICE-001': acceptsPlain(),
  'SERVICE-002': acceptsLikePlain(steps.protobuf),
  'SERVICE-003': acceptsGzip(),
  'SERVICE-004': acceptsLikePlain(steps.header),
  'SERVICE-005': checkEach(
    (exchange) => isValidTraces(exchange) && isAccepted(exchange),
    (exchange) => (statusOf(exchange) === 200 ? [] : [outcomeFinding(exchange, '200')]),
    noTraces,
  ),
  'SERVICE-006': hasEmptyResponse(),
  'SERVICE-007': acceptsLikePlain(steps.ignored),
  'SERVICE-008': acceptsLikePlain(steps.resent, ['re-sent']),
  'SERVICE-009': acceptsLikePlain(steps.otherSpans),
  'SERVICE-010': isNeverServerError('valid', 'No valid request was answered.'),
  'SERVICE-011': isNeverServerError('open', 'No malformed or unusual request was answered.'),
  'SERVICE-012': acceptsLikePlain(steps.charset, ['control']),
  'SERVICE-020': checkRefused('traces', ['no id'], 400, noTraces, refusalHints),
  'SERVICE-021': hasMessageFor400(),
  'SERVICE-022': checkRefused(
    'traces',
    ['text/plain', 'application/octet-stream', 'application/xml'],
    415,
    noTraces,
    refusalHints,
  ),
  'SERVICE-023': checkRefused(
    'traces',
    ['over 10 MB'],
    413,
    requireIntrusiveRun(noTraces),
    refusalHints,
  ),
  'SERVICE-024': accepts(
    (exchange) => isStep(exchange, 'traces', ...steps.large),
    requireIntrusiveRun(noTraces),
  ),
} satisfies Record<keyof typeof ingestRequirements, Check>;
