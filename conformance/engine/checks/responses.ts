import {
  formatValue,
  resolvePointer,
  sandboxErrors,
  type Endpoint,
  type SandboxErrorCode,
} from '../../../src/contract/index.ts';
import { unjudgedAs, checkEach, outcomeFinding, type Check, type Finding } from './check.ts';
import { refusalHint, type RefusalHints } from './refusal-hints.ts';
import { checkShape } from './shape.ts';
import { describeType, isObject } from '../../../src/platform/json.ts';
import { describePage, findHtmlPage } from '../transcript/html-page.ts';
import { findBodyFault } from '../transcript/json-fault.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  isBroken,
  errorOf,
  describeOutcome,
  isRateLimited,
  isRefused,
} from '../transcript/reading.ts';
import { isConclusive } from '../transcript/repetitions.ts';

/**
 * Requires that valid requests of some steps are accepted with a JSON object. `isEvidence` selects
 * between the attempts of a request that was sent again.
 */
export function checkAccepted(
  endpoint: Endpoint,
  isStep: (step: string) => boolean,
  unjudged: Check['unjudged'],
  isEvidence: (exchange: Exchange, transcript: Transcript) => boolean = isConclusive,
): Check {
  return checkEach(
    (exchange, transcript) =>
      exchange.endpoint === endpoint &&
      exchange.intent === 'valid' &&
      isStep(exchange.step) &&
      !isRateLimited(exchange) &&
      isEvidence(exchange, transcript) &&
      !isRepeatedLater(exchange, transcript),
    (exchange) => {
      if (!isAccepted(exchange)) return [outcomeFinding(exchange, 'a 2xx response')];
      return isObject(exchange.json) ? [] : [notObjectFinding(exchange)];
    },
    unjudged,
  );
}

/** Returns whether a user from an earlier run was in the way: it is deleted and created again. */
function isRepeatedLater(exchange: Exchange, { exchanges }: Transcript): boolean {
  if (errorOf(exchange)?.code !== 'user_exists') return false;
  return exchanges.some(
    ({ id, request }) => id > exchange.id && request.body === exchange.request.body,
  );
}

/** Returns a finding about an accepted request whose response is not a JSON object. */
export function notObjectFinding(exchange: Exchange): Finding {
  const type = exchange.response?.headers['content-type'] ?? '';
  const hint = type.startsWith('text/event-stream')
    ? 'The request does not ask for a stream: respond with one JSON object.'
    : hintForBody(exchange);
  return {
    exchange: exchange.id,
    pointer: '',
    expected: 'a JSON object',
    received: describeBody(exchange),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Describes a body that is not a JSON object by its value, or by its start and the usual mistake. */
export function describeBody(exchange: Exchange): string {
  const { response, json } = exchange;
  if (!response || response.body === '') return 'an empty body';
  const page = findHtmlPage(exchange);
  if (page) return describePage(page);
  const fault = findBodyFault(response);
  const start = JSON.stringify(response.body.slice(0, 40));
  if (fault) return `${start} (${fault.reason})`;
  if (json === undefined) return start;
  const [type, value] = [describeType(json), formatValue(json)];
  return type === value ? value : `${type}: ${value}`;
}

/** Returns what to do about a body that is almost JSON. */
export function hintForBody({ response }: Exchange): string | undefined {
  const fault = response && findBodyFault(response);
  return fault && `${fault.cure}.`;
}

/** Requires that no valid request causes a 5xx response, a failed connection, or a timeout. */
export function checkNoServerError(
  isOf: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'],
  isValid: (exchange: Exchange) => boolean = ({ intent }) => intent === 'valid',
): Check {
  return checkEach(
    (exchange) =>
      isOf(exchange) &&
      isValid(exchange) &&
      !isRateLimited(exchange) &&
      exchange.response?.status !== 501,
    (exchange) =>
      isBroken(exchange)
        ? [outcomeFinding(exchange, 'a complete response without a server error')]
        : [],
    unjudged,
  );
}

/**
 * Judges a request only if its plain form was accepted. If the plain form was refused too, the
 * refusal is not caused by what is special about the request.
 */
export function requirePlainAccepted(
  isPlainOf: (plain: Exchange, exchange: Exchange) => boolean,
  isPlainAccepted: (plain: Exchange) => boolean,
  check: Check,
): Check {
  const findRefusedPlain = (
    exchange: Exchange,
    { exchanges }: Transcript,
  ): Exchange | undefined => {
    const plain = exchanges.filter(
      (candidate) => isPlainOf(candidate, exchange) && !isRateLimited(candidate),
    );
    return plain.some(isPlainAccepted) ? undefined : plain[0];
  };
  return {
    ...check,
    evidence: (transcript) =>
      check.evidence(transcript).filter((exchange) => !findRefusedPlain(exchange, transcript)),
    unjudged(transcript) {
      const [first] = check.evidence(transcript);
      const plain = first && findRefusedPlain(first, transcript);
      if (!plain) return check.unjudged(transcript);
      const reason = isAccepted(plain)
        ? `The plain request (exchange ${plain.id}) got no JSON object.`
        : `The plain request (exchange ${plain.id}) was not accepted: ${describeOutcome(plain)}.`;
      return { verdict: 'blocked', reason };
    },
  };
}

/** Returns the exchange that a request differs from in one edit. */
function controlOf(exchange: Exchange, { exchanges }: Transcript): Exchange | undefined {
  return exchanges.find(({ id }) => id === exchange.control);
}

function isControlAccepted(exchange: Exchange, transcript: Transcript): boolean {
  const control = controlOf(exchange, transcript);
  return control !== undefined && isAccepted(control);
}

/** Judges an edited request only if its control was accepted; otherwise the edit proves nothing. */
export function requireControlAccepted(check: Check): Check {
  return {
    ...check,
    evidence: (transcript) =>
      check.evidence(transcript).filter((exchange) => isControlAccepted(exchange, transcript)),
  };
}

/**
 * Requires that requests with one edit are refused with `status`, or with any 4xx if it is undefined.
 * Only an edit whose control was accepted is evidence.
 */
export function checkRefused(
  endpoint: Endpoint,
  steps: readonly string[],
  status: number | undefined,
  unjudged: Check['unjudged'],
  hints: RefusalHints,
): Check {
  const isEdited = (exchange: Exchange): boolean =>
    exchange.endpoint === endpoint && exchange.intent === 'refuse' && steps.includes(exchange.step);
  const expected = status === undefined ? 'a 4xx response' : `${status}`;
  return checkEach(
    (exchange, transcript) =>
      isEdited(exchange) &&
      !isRateLimited(exchange) &&
      isConclusive(exchange, transcript) &&
      isControlAccepted(exchange, transcript),
    (exchange) => {
      const isExpected =
        status === undefined ? isRefused(exchange) : exchange.response?.status === status;
      if (isExpected) return [];
      return [
        outcomeFinding(
          exchange,
          `${expected}, for ${exchange.step}`,
          refusalHint(exchange, hints, status),
        ),
      ];
    },
    (transcript) => {
      const refused = transcript.exchanges
        .filter(isEdited)
        .map((exchange) => controlOf(exchange, transcript))
        .find((control) => control && !isAccepted(control));
      if (!refused) return unjudged(transcript);
      const reason = `The unedited request (exchange ${refused.id}) was not accepted: ${describeOutcome(refused)}.`;
      return { verdict: 'blocked', reason };
    },
  );
}

/** The shape of errors, as hints and causes show it (spec 7). */
export const ERROR_SHAPE = '{"error": {"message", "type", "code"}}';

const ERROR_HINT = `The shape is ${ERROR_SHAPE}.`;

type ExchangePredicate = (exchange: Exchange) => boolean;

/**
 * Returns whether a response must have the error shape: every 429 and 500, and a 400 if the
 * specification requires it. If it does not, a sandbox may refuse with a different body.
 */
export function isErrorResponse({ intent, response }: Exchange): boolean {
  const status = response?.status;
  return status === 429 || status === 500 || (status === 400 && intent !== 'open');
}

/** Requires a JSON body with an `error` object (spec 7). */
export function checkErrorShape(isError: ExchangePredicate, unjudged: Check['unjudged']): Check {
  const shape = checkShape({
    message: 'SandboxError',
    filter: (exchange) => isError(exchange) && isObject(exchange.json),
    places: ['/error'],
    unjudged,
    hint: ERROR_HINT,
  });
  return {
    ...shape,
    evidence: ({ exchanges }) => exchanges.filter(isError),
    judge: (evidence, transcript) => [
      ...evidence
        .filter(({ json }) => !isObject(json))
        .map((exchange) => ({
          exchange: exchange.id,
          pointer: '',
          expected: 'a JSON object with error',
          received: describeBody(exchange),
          hint: ERROR_HINT,
        })),
      ...shape.judge(
        evidence.filter(({ json }) => isObject(json)),
        transcript,
      ),
    ],
  };
}

/** Requires the three strings of the `error` object (spec 7). */
export function checkErrorStrings(isError: ExchangePredicate, unjudged: Check['unjudged']): Check {
  return checkShape({
    message: 'SandboxError',
    filter: (exchange) =>
      isError(exchange) && isObject(exchange.json) && isObject(exchange.json['error']),
    places: ['/error/message', '/error/type', '/error/code'],
    unjudged,
  });
}

/**
 * Requires the type and the code that the error table lists for an error (spec 7). Responses without
 * a readable error object are left to other checks by default.
 */
export function checkErrorCode(
  code: SandboxErrorCode,
  isError: ExchangePredicate,
  unjudged: Check['unjudged'],
  {
    withoutErrorObject = 'skip',
    hint,
  }: { withoutErrorObject?: 'skip' | 'judge'; hint?: (exchange: Exchange) => string } = {},
): Check {
  const expected = { type: sandboxErrors[code].type, code };
  return checkEach(
    (exchange) =>
      isError(exchange) && (withoutErrorObject === 'judge' || errorOf(exchange) !== undefined),
    (exchange) =>
      (['type', 'code'] as const)
        .map((key) => ({ key, received: resolvePointer(exchange.json, `/error/${key}`) }))
        .filter(({ key, received }) => received !== expected[key])
        .map(({ key, received }) => ({
          exchange: exchange.id,
          pointer: `/error/${key}`,
          expected: JSON.stringify(expected[key]),
          received: formatValue(received),
          ...(hint && { hint: hint(exchange) }),
        })),
    unjudged,
  );
}

/** Notes whether a wrong key is refused. The specification only recommends a key (spec 5). */
export function checkWrongKey(hasWrongKey: ExchangePredicate): Check {
  return checkEach(
    (exchange) => hasWrongKey(exchange) && exchange.response !== undefined,
    (exchange) =>
      isAccepted(exchange)
        ? [
            {
              exchange: exchange.id,
              pointer: '',
              expected: 'a refusal',
              received: 'a 2xx response: the key is not checked',
            },
          ]
        : [],
    unjudgedAs('not_observed', 'The request with a wrong key got no response.'),
  );
}
