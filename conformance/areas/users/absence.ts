/** Both endpoints for users are optional: what a sandbox without them gets. */
import type { Endpoint } from '../../../src/contract/index.ts';
import { type Check, explainNoValidResponse } from '../../engine/checks/check.ts';
import {
  type Exchange,
  isAccepted,
  isNotFound,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isConclusive } from '../../engine/transcript/repetitions.ts';
import { describeLeftoverUsers } from './leftover-users.ts';

/** Whether an optional endpoint is missing: every valid request is refused like one to no endpoint. */
export function isAbsent(
  endpoint: Endpoint,
  transcript: { exchanges: readonly Exchange[] },
): boolean {
  const valid = transcript.exchanges.filter(
    (exchange) =>
      exchange.endpoint === endpoint &&
      exchange.intent === 'valid' &&
      isConclusive(exchange, transcript),
  );
  return valid.length > 0 && valid.every(isNotFound);
}

/** Makes a check not applicable if the sandbox doesn't implement the endpoint. */
export function unlessAbsent(endpoint: 'create' | 'delete', check: Check): Check {
  const path = endpoint === 'create' ? 'POST /users' : 'DELETE /users/{user_id}';
  return {
    ...check,
    evidence: (transcript) => (isAbsent(endpoint, transcript) ? [] : check.evidence(transcript)),
    unjudged(transcript) {
      if (isAbsent(endpoint, transcript)) {
        return {
          verdict: 'not_applicable',
          reason: `The sandbox doesn't implement ${path}, which is optional.`,
        };
      }
      if (isAbsent('create', transcript)) {
        return {
          verdict: 'not_applicable',
          reason: "The sandbox doesn't implement POST /users, so there are no users.",
        };
      }
      return check.unjudged(transcript);
    },
  };
}

/** Says which optional endpoints the sandbox doesn't implement, and which users a run left in it. */
export function usersNotices(
  transcript: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  const leftovers = describeLeftoverUsers(transcript);
  if (isBlocked || !transcript.run.areas.includes('users')) return leftovers;
  if (isAbsent('create', transcript)) {
    return ["Users were not judged: the sandbox doesn't implement POST /users, which is optional."];
  }
  return isAbsent('delete', transcript)
    ? [
        "Deleting users was not judged: the sandbox doesn't implement DELETE /users/{user_id}, which is optional. The users that this check created still exist.",
      ]
    : leftovers;
}

/** Reports the success status of an endpoint, which the specification leaves open. */
export function reportStatus(endpoint: 'create' | 'delete'): Check {
  return unlessAbsent(endpoint, {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          exchange.endpoint === endpoint && exchange.intent === 'valid' && isAccepted(exchange),
      ),
    judge(evidence) {
      const [first] = evidence;
      if (!first) return [];
      const statuses = new Set(evidence.map(({ response }) => response?.status));
      return [
        {
          exchange: first.id,
          pointer: '',
          expected: 'any 2xx status',
          received: [...statuses].join(', '),
        },
      ];
    },
    unjudged: explainNoValidResponse(endpoint),
  });
}
