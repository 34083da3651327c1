import type { Endpoint } from '../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';
import { outcomeFinding, type Check } from './check.ts';

/**
 * Extends a check: a request to the endpoint that the peer may refuse must not end the peer. If the
 * request must be refused and ends the peer every time, only the requirement about its refusal fails.
 */
export function requireSurvival(endpoint: Endpoint, check: Check): Check {
  const expected = 'a response, and a sandbox that keeps running';
  return {
    ...check,
    evidence: (transcript) => [
      ...new Set([...check.evidence(transcript), ...findFatal(endpoint, transcript)]),
    ],
    judge(evidence, transcript) {
      const fatal = new Set(findFatal(endpoint, transcript));
      return [
        ...[...fatal].map((exchange) => outcomeFinding(exchange, expected)),
        ...check.judge(
          evidence.filter((exchange) => !fatal.has(exchange)),
          transcript,
        ),
      ];
    },
  };
}

/** Returns the requests after which the peer crashed and for which no other requirement fails. */
function findFatal(endpoint: Endpoint, { crashes = [] }: Transcript): Exchange[] {
  const isAt = (exchange: Exchange): boolean => exchange.endpoint === endpoint;
  return crashes
    .filter(({ cameBack }) => cameBack)
    .flatMap(({ suspects, culprits }) => {
      if (culprits.length > 0) {
        return culprits.filter((exchange) => isAt(exchange) && exchange.intent === 'open');
      }
      const hasValid = suspects.some(({ intent }) => intent === 'valid');
      return hasValid ? [] : suspects.filter(isAt);
    });
}
