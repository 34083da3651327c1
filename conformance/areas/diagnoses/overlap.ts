import {
  describeOutcome,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isTransient, wasAlone } from '../../engine/transcript/repetitions.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes requests that fail together with others, or now and then, and succeed when sent again. */
export function findTransientFailures(transcript: Transcript): Diagnosis[] {
  const { run, exchanges } = transcript;
  const seen = nonEmpty(exchanges.filter((exchange) => isTransient(exchange, transcript)));
  if (!seen) return [];
  const example = findExample(seen);
  const outcome = example.response
    ? `${example.response.status} with ${quoteBody(example)}`
    : describeOutcome(example);
  const failsAlone = seen.some((exchange: Exchange) => wasAlone(exchange, transcript));
  return [
    {
      seen,
      fault: failsAlone
        ? `requests fail now and then: ${outcome} (${describeSeen(seen)}); they succeed when they are sent again`
        : `requests that overlap fail: ${outcome} (${describeSeen(seen)}); they succeed when they are sent again alone`,
      cure: failsAlone
        ? 'Look for this error in the log of the sandbox'
        : 'Look for state that requests share, or for a limit of concurrent requests',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}
