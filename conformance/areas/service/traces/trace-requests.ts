/** Trace requests: which ones a check judges, and which ones a mutant refuses. */
import {
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
  type Check,
} from '../../../engine/checks/check.ts';
import { requirePlainAccepted } from '../../../engine/checks/responses.ts';
import { always, respondInstead, to, type When } from '../../../engine/mutants/combinators.ts';
import type { MutantEntry } from '../../../engine/requirement.ts';
import { isAccepted, isRateLimited, type Exchange } from '../../../engine/transcript/reading.ts';
import type { TracesStep } from '../steps.ts';
import { isStep } from '../transcript.ts';
import { refusal, textOf } from '../transforms.ts';

/** The reason of requirements that trace requests are accepted. */
export const LOST_SPANS =
  'Exporters drop refused spans, so parts of the conversation are never scored.';

/** The step of a request with an attribute value of every type. */
export const VALUES_STEP = 'values of every type';

/** Why no trace request was judged. */
export const noTraces = explainNoValidResponse('traces');

export const isValidTraces = (exchange: Exchange): boolean =>
  exchange.endpoint === 'traces' && exchange.intent === 'valid';

/** Requires a 2xx status for the valid trace requests that match. */
export function accepts(
  matches: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'] = noTraces,
): Check {
  return checkEach(
    (exchange) => isValidTraces(exchange) && matches(exchange) && !isRateLimited(exchange),
    (exchange) => (isAccepted(exchange) ? [] : [outcomeFinding(exchange, 'a 2xx response')]),
    unjudged,
  );
}

/**
 * Requires that trace requests of some steps are accepted, each only if the plain request of the step
 * that `plainOf` names was accepted; otherwise that request is the cause.
 */
export function acceptsLike(
  steps: readonly TracesStep[],
  plainOf: (step: string) => readonly TracesStep[],
  unjudged?: Check['unjudged'],
): Check {
  return requirePlainAccepted(
    (exchange, { step }) => isStep(exchange, 'traces', ...plainOf(step)),
    isAccepted,
    accepts((exchange) => isStep(exchange, 'traces', ...steps), unjudged),
  );
}

/** Matches trace requests. */
export const traces = (when: When = always): When => to('traces', when);

/** Matches requests whose body contains a text, also as part of protobuf. */
export const contains =
  (text: string): When =>
  (request) =>
    textOf(request).includes(text);

/** Matches requests with a content type. */
export const hasType =
  (type: string): When =>
  ({ headers }) =>
    headers['content-type'] === type;

export const isGzip: When = ({ headers }) => headers['content-encoding'] === 'gzip';
export const isPlainJson: When = (request) =>
  hasType('application/json')(request) && !isGzip(request);
export const isWellFormed: When = ({ json: body }) => body !== undefined;

/** A mutant that refuses trace requests. */
export const refuseTraces = (description: string, when: When, status = 400): MutantEntry => ({
  description,
  transform: respondInstead(traces(when), () => refusal(status)),
});
