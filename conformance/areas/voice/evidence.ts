/** What shows in a call how the sandbox behaves, and why there may be no call. */
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import { isOpened, isVoice, UPGRADE } from '../../engine/transcript/call-messages.ts';
import {
  describeOutcome,
  isKeyRefused,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { explainSocketFailure } from './absence.ts';

/** Returns whether an exchange is a valid call; excludes the preflight and calls that got a 429. */
export const isValidCall = (exchange: Exchange): boolean =>
  isVoice(exchange) &&
  exchange.intent === 'valid' &&
  exchange.step !== UPGRADE &&
  !isRateLimited(exchange);

/** Explains why no call can be judged: the WebSocket didn't open, or `call_ready` never arrived. */
export const explainNoCall: Check['unjudged'] = ({ run, exchanges }) => {
  const calls = exchanges.filter((exchange) => isVoice(exchange) && exchange.intent === 'valid');
  const refused = calls.find((exchange) => !isOpened(exchange));
  if (calls.some(isOpened) || !refused) {
    return { verdict: 'blocked', reason: 'No start_call got a call_ready.' };
  }
  const lacksKey = isKeyRefused(refused) && !run.keyGiven;
  const problem = explainSocketFailure(refused, run.voiceUrl ?? '');
  const reason = lacksKey
    ? `The WebSocket requires a key (${describeOutcome(refused)}). Set the environment variable SANDBOX_KIT_API_KEY.`
    : `The WebSocket doesn't open: ${problem?.message ?? `${describeOutcome(refused)} (exchange ${refused.id}).`}`;
  return { verdict: 'blocked', reason };
};

/** Creates a finding about a whole call. */
export function callFinding(
  exchange: Exchange,
  expected: string,
  received: string,
  hint?: string,
): Finding {
  return { exchange: exchange.id, pointer: '', expected, received, ...(hint ? { hint } : {}) };
}

/** What was expected and received in a call, and what to do about it. */
export type Problem = readonly [expected: string, received: string, hint?: string];

/** Creates a check that finds at most one problem in each call. */
export function checkCalls(
  isEvidence: (exchange: Exchange, transcript: Transcript) => boolean,
  findProblem: (exchange: Exchange, transcript: Transcript) => Problem | undefined,
  unjudged: Check['unjudged'] = explainNoCall,
): Check {
  return checkEach(
    isEvidence,
    (exchange, transcript) => {
      const problem = findProblem(exchange, transcript);
      return problem ? [callFinding(exchange, ...problem)] : [];
    },
    unjudged,
  );
}
