/** Users that are new although another id looks similar (spec 4.7, 7). */
import {
  type Check,
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
} from '../../engine/checks/check.ts';
import { isSuccess, to } from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import {
  isAccepted,
  isNotFound,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isAbsent, unlessAbsent } from './absence.ts';
import {
  isCreateStep,
  isDeleteStep,
  isRefusedAsDuplicate,
  LEFT_OVER,
  OTHER_CASE,
} from './requests.ts';
import { countAlike, pathUserId, sentUserId } from './user-id.ts';

const isOtherCase = isCreateStep(OTHER_CASE);

/**
 * Returns whether a create request was refused as a duplicate although its user can't exist: it was
 * deleted just before, or the sandbox itself says that it is unknown. If an earlier run had the same
 * seed and left its users, the first create request is refused, too, and nothing is judged.
 */
function isRefusedAsNew(exchange: Exchange, transcript: Transcript): boolean {
  const isJudged = exchange.endpoint === 'create' && exchange.intent === 'valid';
  if (!isJudged || !isRefusedAsDuplicate(exchange) || isAbsent('delete', transcript)) return false;
  const first = transcript.exchanges.find(isCreateStep('full'));
  if (first && isRefusedAsDuplicate(first)) return false;
  const userId = sentUserId(exchange);
  const leftOver = transcript.exchanges.filter(
    (other) => isDeleteStep(LEFT_OVER)(other) && pathUserId(other) === userId,
  );
  const isGone = leftOver.some((other) => other.id < exchange.id && isAccepted(other));
  return isGone || leftOver.some((other) => isNotFound(other));
}

/** Leaves refusals of new users to the requirement about them. */
export function exceptRefusedAsNew(check: Check): Check {
  return {
    ...check,
    evidence: (transcript) =>
      check.evidence(transcript).filter((exchange) => !isRefusedAsNew(exchange, transcript)),
  };
}

/** Requires that create requests for new users are not refused as duplicates. */
const checkNew = (
  isRefused: (exchange: Exchange, transcript: Transcript) => boolean,
  isSelected: (exchange: Exchange) => boolean,
): Check =>
  unlessAbsent(
    'create',
    checkEach(
      (exchange, transcript) =>
        exchange.endpoint === 'create' &&
        isSelected(exchange) &&
        (isAccepted(exchange) || isRefused(exchange, transcript)),
      (exchange, transcript) => {
        if (isAccepted(exchange)) return [];
        const userId = String(sentUserId(exchange));
        const [closest] = findExisting(exchange, transcript).toSorted(
          (a, b) => countAlike(b, userId) - countAlike(a, userId),
        );
        const hint = `Compare the whole id${closest === undefined ? '' : `: ${closest} exists`}, and look up only users that were created and not deleted.`;
        return [outcomeFinding(exchange, `a 2xx response: no user ${userId} exists`, hint)];
      },
      explainNoValidResponse('create'),
    ),
  );

/** Returns the ids that were created before an exchange and not deleted. */
function findExisting(exchange: Exchange, { exchanges }: Transcript): string[] {
  const existing = new Set<string>();
  for (const other of exchanges) {
    if (other.id >= exchange.id || !isAccepted(other)) continue;
    const id = sentUserId(other);
    if (other.endpoint === 'create' && typeof id === 'string') existing.add(id);
    if (other.endpoint === 'delete') existing.delete(pathUserId(other));
  }
  return [...existing];
}

const isLegal = (id: string): boolean => /^\w{1,64}$/.test(id);

/** Refuses new users whose id is similar to that of one that exists. */
const refusesSimilar =
  (isTaken: (id: string, existing: string) => boolean): TransformFactory =>
  () => {
    const existing = new Set<string>();
    return async (request, forward) => {
      const id = stringAt('user_id', request) ?? '';
      const isNew = to('create')(request) && isLegal(id) && !existing.has(id);
      if (isNew && [...existing].some((other) => isTaken(id, other))) {
        return errorResponse(409, 'user_exists');
      }
      const response = await forward(request);
      if (isNew && isSuccess(response)) existing.add(id);
      if (to('delete')(request)) existing.delete(userIdOf(request));
      return response;
    };
  };

export const newUsers: Subject = {
  requirements: {
    'USERS-011': {
      rule: "A create request for a new user isn't refused as a duplicate, even if another id starts the same or is the same number.",
      section: '7',
      statements: ['7.b8', '4.7.6', '2.9.4'],
      reason: 'The service generates new ids; a simulation whose user is refused does not start.',
      probes: ['users/forms'],
      check: checkNew(isRefusedAsNew, ({ intent }) => intent === 'valid'),
      mutants: {
        'exists-by-prefix': {
          description:
            'Treats a new user as an existing one if its id starts with the id of another.',
          transform: refusesSimilar((id, other) => id.startsWith(other)),
        },
        'exists-by-search': {
          description:
            'Treats a new user as an existing one if the id of another starts with its id.',
          transform: refusesSimilar((id, other) => other.startsWith(id)),
        },
        'exists-by-32-characters': {
          description: 'Compares only the first 32 characters of ids.',
          transform: refusesSimilar(
            (id, other) => id.length > 32 && id.slice(0, 32) === other.slice(0, 32),
          ),
        },
        'exists-by-like': {
          description: 'Looks up ids with SQL LIKE, where an underscore matches any character.',
          transform: refusesSimilar((id, other) =>
            new RegExp(`^${id.replaceAll('_', '.')}$`).test(other),
          ),
        },
        'exists-as-a-number': {
          description: 'Compares ids of digits as numbers.',
          transform: refusesSimilar(
            (id, other) => /^\d+$/.test(id) && /^\d+$/.test(other) && BigInt(id) === BigInt(other),
          ),
        },
        'thirteenth-user-exists': {
          description: 'Refuses every user as a duplicate after 12 creations.',
          transform: () => {
            let created = 0;
            const known = new Set<string>();
            return async (request, forward) => {
              if (request.endpoint !== 'create') return forward(request);
              const id = stringAt('user_id', request) ?? '';
              if (created >= 12 && !known.has(id) && isLegal(id)) {
                return errorResponse(409, 'user_exists');
              }
              const response = await forward(request);
              if (isSuccess(response)) {
                created += 1;
                known.add(id);
              }
              return response;
            };
          },
        },
      },
    },
    'USERS-013': {
      level: 'should',
      rule: 'A create request for an id that differs from an existing one only in case succeeds.',
      section: '2.9',
      statements: ['2.9.2', '7.b8'],
      reason:
        "The specification doesn't say that ids ignore case. A sandbox that treats two ids as one mixes up two users.",
      probes: ['users/forms'],
      check: checkNew(isRefusedAsDuplicate, isOtherCase),
      mutants: {
        'ids-ignore-case': {
          description: 'Treats ids that differ only in case as the same user.',
          transform: refusesSimilar((id, other) => id.toLowerCase() === other.toLowerCase()),
        },
      },
    },
  },
};
