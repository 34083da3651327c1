import { crashesOf, findBlamed } from '../../engine/transcript/crashes.ts';
import { RECOVERY, type Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes requests that crash the sandbox. */
export function findFatalRequests(transcript: Transcript): Diagnosis[] {
  const { run, exchanges } = transcript;
  const crashes = crashesOf(transcript).filter(({ cameBack }) => cameBack);
  const seen = nonEmpty([...new Set(crashes.flatMap(findBlamed))]);
  if (!seen) return [];
  const isReproduced = crashes.some(({ culprits }) => culprits.length > 0);
  // A request that was repeated counts once.
  const requests = nonEmpty(seen.filter(({ repeats }) => repeats === undefined)) ?? seen;
  const { id, step } = findExample(requests);
  const example = `exchange ${id} "${step}"`;
  const named =
    requests.length === 1 ? example : `${requests.length} exchanges, for example ${example}`;
  return [
    {
      seen,
      // Without the crash, the requests that waited for the sandbox or were refused would not fail.
      consequences: [
        ...crashes.flatMap(({ suspects, refused }) => [...suspects, ...refused]),
        ...exchanges.filter(({ probe, failure }) => probe === RECOVERY && failure !== undefined),
      ],
      fault: isReproduced
        ? `the sandbox crashed in ${named}, and again when the request was sent alone`
        : `the sandbox crashed while requests were in flight: ${named}`,
      cure: 'Find the error in its log, and make sure that no request ends the process',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}
