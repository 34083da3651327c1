import type { Endpoint, ExchangeRecord } from '../../../src/contract/index.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  describeOutcome,
  isRateLimited,
} from '../transcript/reading.ts';
import { describePage, findHtmlPage } from '../transcript/html-page.ts';
import { findOwnMessage } from '../transcript/own-message.ts';
import { isObject } from '../../../src/platform/json.ts';
import { isConclusive } from '../transcript/repetitions.ts';

/** One deviation from a requirement in one exchange. */
export interface Finding {
  /** The id of the exchange. */
  exchange: number;
  /** A JSON pointer into the response body; empty if the finding concerns the whole response. */
  pointer: string;
  expected: string;
  received: string;
  /** What to do, if there is a usual cause. */
  hint?: string;
  /** The ids of the other exchanges that the finding is about: it shows only together with them. */
  others?: readonly number[];
  /** Makes the verdict a note at every level: worth knowing, but no rule is broken. */
  isNote?: true;
  /** The change to the response that would fix the finding. The engine tries it on the recording. */
  repair?: Repair;
}

/** A change to recorded responses that would fix findings. */
export interface Repair {
  /** The route and the change: "GET /health: make uptime an integer". */
  description: string;
  /** Returns the changed parts of an exchange; undefined if the repair does not concern it. */
  apply(exchange: Exchange): Pick<ExchangeRecord, 'response' | 'call'> | undefined;
}

/** Why a requirement was not judged: no exchange is evidence for it. */
export interface Unjudged {
  verdict: 'not_applicable' | 'not_observed' | 'not_selected' | 'blocked';
  reason: string;
  /** What would let the requirement be judged: a sentence. */
  remedy?: string;
  /** What the peer lacks. */
  needs?: 'control_api';
}

/**
 * A check of one requirement: pure functions that never throw, for any recording. `evidence` selects
 * the exchanges that the verdict is based on. If it selects none, `unjudged` returns the reason, so
 * no check can pass without evidence.
 */
export interface Check {
  evidence(transcript: Transcript): Exchange[];
  judge(evidence: Exchange[], transcript: Transcript): Finding[];
  unjudged(transcript: Transcript): Unjudged;
}

/** Creates a check that judges each exchange on its own. */
export function checkEach(
  isEvidence: (exchange: Exchange, transcript: Transcript) => boolean,
  find: (exchange: Exchange, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: (transcript) =>
      transcript.exchanges.filter((exchange) => isEvidence(exchange, transcript)),
    judge: (evidence, transcript) => evidence.flatMap((exchange) => find(exchange, transcript)),
    unjudged,
  };
}

/** Returns a constant verdict and reason, and what would let the requirement be judged. */
export function unjudgedAs(
  verdict: Unjudged['verdict'],
  reason: string,
  remedy?: string,
): Check['unjudged'] {
  return () => ({ verdict, reason, ...(remedy !== undefined && { remedy }) });
}

/** Explains why no valid request to an endpoint got a response that can be judged. */
export function explainNoValidResponse(endpoint: Endpoint): Check['unjudged'] {
  return (transcript) => {
    const valid = transcript.exchanges.filter(
      (exchange) =>
        exchange.endpoint === endpoint &&
        exchange.intent === 'valid' &&
        isConclusive(exchange, transcript),
    );
    return { verdict: 'blocked', reason: explainUnreadable(valid) };
  };
}

const NOT_SENT = 'The request was not sent because an earlier request failed.';

function explainUnreadable(valid: readonly Exchange[]): string {
  if (valid.length === 0) return NOT_SENT;
  if (valid.every(isRateLimited)) return 'Every request got a 429 response.';
  const refused = valid.find((exchange) => !isRateLimited(exchange) && !isAccepted(exchange));
  if (refused) {
    return `A valid request was not accepted: ${describeOutcome(refused)} (exchange ${refused.id}).`;
  }
  const accepted = valid.find(isAccepted);
  return valid.some(({ json }) => isObject(json))
    ? NOT_SENT
    : `No response contains a JSON object (exchange ${accepted?.id}).`;
}

/** Returns a finding about the outcome of a request: its status, or the failure to respond. */
export function outcomeFinding(exchange: Exchange, expected: string, hint?: string): Finding {
  const page = findHtmlPage(exchange);
  const detail =
    exchange.failure?.message ?? (page ? describePage(page) : findOwnMessage(exchange));
  const outcome = describeOutcome(exchange);
  return {
    exchange: exchange.id,
    pointer: '',
    expected,
    received: detail ? `${outcome} (${detail})` : outcome,
    ...(hint ? { hint } : {}),
  };
}
