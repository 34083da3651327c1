import type { Endpoint, ExchangeRecord } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  describeOutcome,
  toPrintable,
  isRateLimited,
} from '../transcript/reading.ts';

/** A place where an exchange is not what a requirement asks. */
export interface Finding {
  /** Id of the exchange. */
  exchange: number;
  /** JSON pointer into the body of the answer; empty for the answer as a whole. */
  pointer: string;
  expected: string;
  received: string;
  /** What probably helps, where there is a usual cause. */
  hint?: string;
  /** It is worth knowing, and breaks nothing: whatever the level, the verdict is a note. */
  isNote?: true;
  /** The change to the answer that would mend it, to be tried on the recording. */
  repair?: Repair;
}

/** A change to recorded answers: what to make of them, and where. */
export interface Repair {
  /** In words, e.g. "make choices[].message.content a string". */
  description: string;
  /** What is changed of an exchange, or undefined where the change does not concern it. */
  apply(exchange: Exchange): Pick<ExchangeRecord, 'response' | 'call'> | undefined;
}

/** Why a requirement could not be judged, when no exchange is evidence for it. */
export interface Unjudged {
  verdict: 'not_applicable' | 'not_observed' | 'not_selected' | 'blocked';
  reason: string;
}

/**
 * A check: a pure, total function over recorded exchanges. `evidence` picks what it rests on;
 * where that is nothing, `unjudged` says why, so that a verdict without evidence cannot be made.
 */
export interface Check {
  evidence(transcript: Transcript): Exchange[];
  judge(evidence: Exchange[], transcript: Transcript): Finding[];
  unjudged(transcript: Transcript): Unjudged;
}

/** A check that looks at each exchange alone. */
export function checkEach(
  on: (exchange: Exchange, transcript: Transcript) => boolean,
  find: (exchange: Exchange, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: (transcript) => transcript.exchanges.filter((one) => on(one, transcript)),
    judge: (evidence, transcript) => evidence.flatMap((one) => find(one, transcript)),
    unjudged,
  };
}

/** Always the same reason. */
export function unjudgedAs(verdict: Unjudged['verdict'], reason: string): Check['unjudged'] {
  return () => ({ verdict, reason });
}

/** Not sent or put off for good: the reason why a request of the kit left no evidence. */
export function explainNoValidResponse(endpoint: Endpoint): Check['unjudged'] {
  return ({ exchanges }) => {
    const sent = exchanges.filter((one) => one.endpoint === endpoint && one.intent === 'valid');
    const bad = sent.find((one) => !isRateLimited(one) && !isAccepted(one));
    if (sent.length > 0 && sent.every(isRateLimited)) {
      return { verdict: 'blocked', reason: 'Every request was put off with 429.' };
    }
    return { verdict: 'blocked', reason: bad ? wrongly(bad) : whyUnread(sent) };
  };
}

function wrongly(bad: Exchange): string {
  return `A valid request was not answered as it must be: ${describeOutcome(bad)} (exchange ${bad.id}).`;
}

/** Why requests that were not refused left nothing to read. */
function whyUnread(sent: Exchange[]): string {
  const answered = sent.find(isAccepted);
  if (answered) return `The answers hold no JSON object (exchange ${answered.id}).`;
  const waiting = sent.find(isRateLimited);
  if (waiting)
    return `It was put off with 429 for longer than the kit waits (exchange ${waiting.id}).`;
  return 'The request was not sent: what it needs did not come about.';
}

/** A finding about the answer as a whole: its status, or that there is none. */
export function outcomeFinding(one: Exchange, expected: string, hint?: string): Finding {
  const detail = one.failure?.message ?? saidBy(one);
  return {
    exchange: one.id,
    pointer: '',
    expected,
    received: detail ? `${describeOutcome(one)} (${detail})` : describeOutcome(one),
    ...(hint ? { hint } : {}),
  };
}

/** What an error answer says to people, shortened. */
function saidBy({ json }: Exchange): string | undefined {
  const error = isObject(json) && isObject(json['error']) ? json['error'] : json;
  const said = isObject(error) ? error['message'] : undefined;
  return typeof said === 'string' ? toPrintable(said) : undefined;
}
