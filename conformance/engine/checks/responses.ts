import {
  brief,
  sandboxErrors,
  type Endpoint,
  type SandboxErrorCode,
} from '../../../src/contract/index.ts';
import {
  unjudgedAs,
  checkEach,
  outcomeFinding,
  type Check,
  type Finding,
  type Repair,
} from './check.ts';
import { refusalHint, type RefusalHints } from './refusal-hints.ts';
import { checkShape } from './shape.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  errorOf,
  describeOutcome,
  isRateLimited,
} from '../transcript/reading.ts';

/** Valid requests of some steps must be accepted and answered with a JSON object. */
export function checkAccepted(
  endpoint: Endpoint,
  isStep: (step: string) => boolean,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (one, transcript) =>
      one.endpoint === endpoint &&
      one.intent === 'valid' &&
      isStep(one.step) &&
      !isRateLimited(one) &&
      !isSentAgain(one, transcript),
    (one) => (isAccepted(one) && isObject(one.json) ? [] : [notAnObject(one)]),
    unjudged,
  );
}

/** No valid request may break the sandbox: a 5xx, or no whole answer, is never right. */
export function checkNoServerError(
  isOf: (one: Exchange) => boolean,
  unjudged: Check['unjudged'],
  isValid: (one: Exchange) => boolean = ({ intent }) => intent === 'valid',
): Check {
  return checkEach(
    (one) => isOf(one) && isValid(one) && !isRateLimited(one) && one.response?.status !== 501,
    (one) =>
      one.failure || (one.response?.status ?? 0) >= 500
        ? [outcomeFinding(one, 'a whole answer that is no server error')]
        : [],
    unjudged,
  );
}

/**
 * Judges a request only where its plain form was taken. Where that was not, what is special about
 * this one is not why it was refused.
 */
export function requirePlainAccepted(
  isPlainOf: (plain: Exchange, one: Exchange) => boolean,
  isTaken: (plain: Exchange) => boolean,
  check: Check,
): Check {
  const refusedPlain = (one: Exchange, { exchanges }: Transcript): Exchange | undefined => {
    const plain = exchanges.filter((other) => isPlainOf(other, one) && !isRateLimited(other));
    return plain.some(isTaken) ? undefined : plain[0];
  };
  return {
    ...check,
    evidence: (transcript) =>
      check.evidence(transcript).filter((one) => !refusedPlain(one, transcript)),
    unjudged(transcript) {
      const [first] = check.evidence(transcript);
      const plain = first && refusedPlain(first, transcript);
      if (!plain) return check.unjudged(transcript);
      const reason = `The plain request (exchange ${plain.id}) was not taken: ${describeOutcome(plain)}.`;
      return { verdict: 'blocked', reason };
    },
  };
}

/** A user that was left over from an earlier run is deleted, and the same request sent again. */
function isSentAgain(one: Exchange, { exchanges }: Transcript): boolean {
  if (errorOf(one)?.code !== 'user_exists') return false;
  return exchanges.some((other) => other.id > one.id && other.request.body === one.request.body);
}

function notAnObject(one: Exchange): Finding {
  if (!isAccepted(one)) return outcomeFinding(one, 'a 2xx answer');
  const type = one.response?.headers['content-type'] ?? '';
  const hint = type.startsWith('text/event-stream')
    ? 'The request does not ask for a stream: answer with one JSON object.'
    : undefined;
  const start = (one.response?.body ?? '').slice(0, 40);
  return {
    exchange: one.id,
    pointer: '',
    expected: 'a JSON object',
    received: start === '' ? 'an empty body' : JSON.stringify(start),
    ...(hint ? { hint } : {}),
  };
}

/** Judges only edits of requests that were accepted: else the refusal may have another cause. */
export function requireControlAccepted(check: Check): Check {
  return {
    ...check,
    evidence: (transcript) =>
      check.evidence(transcript).filter((one) => {
        const control = controlOf(one, transcript);
        return control !== undefined && isAccepted(control);
      }),
  };
}

/** The exchange that a refused one differs from in one edit. */
function controlOf(one: Exchange, { exchanges }: Transcript): Exchange | undefined {
  return exchanges.find(({ id }) => id === one.control);
}

/**
 * Requests with one edit must be refused with `status`, or any 4xx where it is undefined. Only an
 * edit whose control was accepted is evidence: else the refusal may have another cause.
 */
export function checkRefused(
  endpoint: Endpoint,
  steps: readonly string[],
  status: number | undefined,
  unjudged: Check['unjudged'],
  hints: RefusalHints,
): Check {
  const edited = (one: Exchange): boolean =>
    one.endpoint === endpoint && one.intent === 'refuse' && steps.includes(one.step);
  const refusal = status === undefined ? 'a 4xx answer' : `${status}`;
  return checkEach(
    (one, transcript) => {
      const control = controlOf(one, transcript);
      return edited(one) && !isRateLimited(one) && control !== undefined && isAccepted(control);
    },
    (one) => {
      const got = one.response?.status ?? 0;
      const right = status === undefined ? got >= 400 && got < 500 : got === status;
      if (right) return [];
      const finding = outcomeFinding(one, `${refusal}, for ${one.step}`, refusalHint(one, hints));
      return got >= 400 && status !== undefined
        ? [{ ...finding, repair: statusRepair(endpoint, status) }]
        : [finding];
    },
    (transcript) => {
      const control = transcript.exchanges.filter(edited).map((one) => controlOf(one, transcript));
      const bad = control.find((one) => one && !isAccepted(one));
      if (!bad) return unjudged(transcript);
      const reason = `The unedited request (exchange ${bad.id}) was not accepted: ${describeOutcome(bad)}.`;
      return { verdict: 'blocked', reason };
    },
  );
}

function statusRepair(endpoint: Endpoint, status: number): Repair {
  return {
    description: `refuse malformed requests with ${status}`,
    apply: (one) =>
      one.endpoint === endpoint && one.intent === 'refuse' && one.response && !isAccepted(one)
        ? { response: { ...one.response, status } }
        : undefined,
  };
}

const ERROR_HINT = 'The shape is {"error": {"message", "type", "code"}}.';

/** Which answers are errors in the sandbox's error shape. */
type ErrorAnswers = (one: Exchange) => boolean;

/**
 * Whether an answer must have the error shape: 429 and 500 wherever they come from, 400 where the
 * specification asks for it. Where it is silent, a sandbox may refuse in words of its own.
 */
export function isErrorResponse({ intent, response }: Exchange): boolean {
  const status = response?.status;
  return status === 429 || status === 500 || (status === 400 && intent !== 'open');
}

/** The body of an error answer must be JSON with an `error` object (spec 7). */
export function checkErrorShape(answers: ErrorAnswers, absent: Check['unjudged']): Check {
  const judged = checkShape({
    message: 'SandboxError',
    answers: (one) => answers(one) && isObject(one.json),
    at: ['/error'],
    absent,
    hint: ERROR_HINT,
  });
  return {
    ...judged,
    evidence: ({ exchanges }) => exchanges.filter(answers),
    judge: (evidence, transcript) => [
      ...evidence.filter(({ json }) => !isObject(json)).map(notAnObject400),
      ...judged.judge(
        evidence.filter(({ json }) => isObject(json)),
        transcript,
      ),
    ],
  };
}

function notAnObject400(one: Exchange): Finding {
  const start = (one.response?.body ?? '').slice(0, 40);
  return {
    exchange: one.id,
    pointer: '',
    expected: 'a JSON object with error',
    received: start === '' ? 'an empty body' : JSON.stringify(start),
    hint: ERROR_HINT,
  };
}

/** The `error` object must have its three strings (spec 7). */
export function checkErrorStrings(answers: ErrorAnswers, absent: Check['unjudged']): Check {
  return checkShape({
    message: 'SandboxError',
    answers: (one) => answers(one) && isObject(one.json) && isObject(one.json['error']),
    at: ['/error/message', '/error/type', '/error/code'],
    absent,
  });
}

/** An error that has its three strings must carry the pair of type and code of the table (spec 7). */
export function checkErrorCode(
  code: SandboxErrorCode,
  answers: ErrorAnswers,
  absent: Check['unjudged'],
  shapeless:
    | 'leave what has no error object'
    | 'judge what has no error object' = 'leave what has no error object',
): Check {
  const all = shapeless === 'judge what has no error object';
  const wanted = { type: sandboxErrors[code].type, code };
  return checkEach(
    (one) => answers(one) && (all || errorOf(one) !== undefined),
    (one) => {
      const error = errorOf(one);
      return (['type', 'code'] as const)
        .filter((key) => error?.[key] !== wanted[key])
        .map((key) => ({
          exchange: one.id,
          pointer: `/error/${key}`,
          expected: JSON.stringify(wanted[key]),
          received: brief(error?.[key]),
        }));
    },
    absent,
  );
}

/** Whether a wrong key is refused: recorded, since a key is only recommended (spec 5). */
export function checkWrongKey(endpoint: Endpoint): Check {
  return checkEach(
    (one) => one.endpoint === endpoint && one.step === 'wrong key' && one.response !== undefined,
    (one) =>
      isAccepted(one)
        ? [
            {
              exchange: one.id,
              pointer: '',
              expected: 'a refusal',
              received: 'the key is not checked',
            },
          ]
        : [],
    unjudgedAs('not_observed', 'The request with a wrong key was not answered.'),
  );
}
