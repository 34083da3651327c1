/** Two requests about one user at the same moment (spec 3.2, 4.7, 4.8, 7). */
import { type Check, checkEach, type Finding, unjudgedAs } from '../../engine/checks/check.ts';
import { createAcceptedResponse, errorResponse } from '../sandbox-responses.ts';
import type { ProxyRequest, ProxyResponse } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import {
  describeOutcome,
  errorOf,
  type Exchange,
  isAccepted,
  isAcceptedError,
  isNotFound,
  isRateLimited,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { onTwins } from '../twins.ts';
import { unlessAbsent } from './absence.ts';
import {
  AT_ONCE,
  DUPLICATE,
  isCreateStep,
  isDeleteStep,
  isDuplicate,
  REFUSE_DUPLICATE,
} from './requests.ts';

/** Returns the exchange of the same request that ran at the same time. */
function twinOf(exchange: Exchange, { exchanges }: Transcript): Exchange | undefined {
  return exchanges.find(
    (other) =>
      other.id !== exchange.id &&
      other.endpoint === exchange.endpoint &&
      other.step === AT_ONCE &&
      other.request.path === exchange.request.path &&
      other.request.body === exchange.request.body,
  );
}

const isServerError = ({ response, failure }: Exchange): boolean =>
  failure !== undefined || (response?.status ?? 0) >= 500;

/** How many usual requests a finding names next to the two at the same moment. */
const USUAL_MAX = 2;

/** Judges two exchanges once, by the first one. */
function checkTwins(
  endpoint: 'create' | 'delete',
  find: (one: Exchange, other: Exchange, transcript: Transcript) => Finding[],
): Check {
  // A request that never succeeds shows nothing when it is sent twice.
  const isUsual = (exchange: Exchange): boolean =>
    isAccepted(exchange) &&
    (endpoint === 'create' ? isCreateStep('full') : isDeleteStep('delete'))(exchange);
  const isStep = endpoint === 'create' ? isCreateStep(AT_ONCE) : isDeleteStep(AT_ONCE);
  const showsRace = (exchange: Exchange, { exchanges }: Transcript): boolean =>
    !isRateLimited(exchange) && !(isServerError(exchange) && exchanges.some(isOtherFailure));
  const isOtherFailure = (other: Exchange): boolean =>
    other.endpoint === endpoint && other.intent === 'valid' && isServerError(other);
  return unlessAbsent(
    endpoint,
    checkEach(
      (exchange, transcript) => {
        const twin = twinOf(exchange, transcript);
        return (
          isStep(exchange) &&
          twin !== undefined &&
          [exchange, twin].every((each) => showsRace(each, transcript)) &&
          transcript.exchanges.some(isUsual) &&
          (endpoint === 'delete' || !isBrokenLater(transcript))
        );
      },
      (exchange, transcript) => {
        const twin = twinOf(exchange, transcript);
        if (!twin || twin.id < exchange.id) return [];
        const usual = transcript.exchanges.filter((other) => isUsual(other) || isDuplicate(other));
        const ids = [exchange, twin, ...usual.slice(0, USUAL_MAX)].map(({ id }) => id);
        return find(exchange, twin, transcript).map((finding) => ({
          ...finding,
          others: ids.filter((id) => id !== finding.exchange),
        }));
      },
      unjudgedAs('not_observed', 'No two requests for one user were sent at the same moment.'),
    ),
  );
}

/** Returns whether a sandbox that created users refuses every new one after malformed requests. */
function isBrokenLater({ exchanges }: Transcript): boolean {
  const later = exchanges.filter(isCreateStep('after refusals'));
  return later.length > 0 && !later.some(isAccepted);
}

const describeBoth = (one: Exchange, other: Exchange): string =>
  `${describeOutcome(one)} and ${describeOutcome(other)} (exchanges ${one.id} and ${other.id})`;

function judgeCreations(one: Exchange, other: Exchange, { exchanges }: Transcript): Finding[] {
  const finding = {
    exchange: one.id,
    pointer: '',
    expected: 'one 2xx response, and one refusal as a duplicate',
    received: describeBoth(one, other),
  };
  const isCreated = (exchange: Exchange): boolean =>
    isAccepted(exchange) && !isAcceptedError(exchange);
  const accepted = [one, other].filter(isCreated);
  if (accepted.length === 2) {
    const hint =
      'Look up and insert the user in one step: a unique key in the database, or a lock around both.';
    return [{ ...finding, hint }];
  }
  const failed = [one, other].find(isServerError);
  if (failed) {
    const hint = `Catch the conflict of ids, and ${REFUSE_DUPLICATE}.`;
    return [{ ...finding, exchange: failed.id, hint }];
  }
  if (accepted.length === 0) {
    return [{ ...finding, hint: 'Let one of the two requests create the user.' }];
  }
  const refused = isCreated(one) ? other : one;
  const usual = exchanges.find(isCreateStep(DUPLICATE));
  // Another requirement judges the code if a usual duplicate has another one, too.
  const hasOwnCode = errorOf(refused)?.code !== 'user_exists';
  return hasOwnCode && usual && errorOf(usual)?.code === 'user_exists'
    ? [
        {
          ...finding,
          exchange: refused.id,
          received: `${describeOutcome(refused)} without the code user_exists`,
          hint: 'Treat an id conflict like any other duplicate.',
        },
      ]
    : [];
}

function judgeDeletions(one: Exchange, other: Exchange): Finding[] {
  const failed = [one, other].find((exchange) => isServerError(exchange) && !isNotFound(exchange));
  if (!failed && [one, other].some(isAccepted)) return [];
  return [
    {
      exchange: (failed ?? one).id,
      pointer: '',
      expected: 'a 2xx response to at least one of two delete requests, and no server error',
      received: describeBoth(one, other),
      hint: 'Delete the user in one step, and respond with 404 if another request was faster.',
    },
  ];
}

const idOfCreation = (request: ProxyRequest): string | undefined => stringAt('user_id', request);
const conflict = (): ProxyResponse => errorResponse(409, 'user_exists');

export const concurrentRequests: Subject = {
  requirements: {
    'USERS-067': {
      rule: 'If two requests create the same new user at the same time, exactly one succeeds, and the other is refused as a duplicate.',
      section: '7',
      statements: ['7.b8', '4.7.6', '3.2.1'],
      reason: 'Parallel simulations that both succeed would share one user.',
      observability: 'provoked',
      probes: ['users/at-once'],
      check: checkTwins('create', judgeCreations),
      mutants: {
        'creates-twice-at-once': {
          description: 'Creates a user twice if both requests come at the same moment.',
          transform: onTwins('create', idOfCreation, createAcceptedResponse),
        },
        'concurrent-creation-500': {
          description: 'Responds with 500 to the second of two create requests at the same moment.',
          transform: onTwins('create', idOfCreation, () => errorResponse(500, 'server_error')),
        },
        'concurrent-creation-own-code': {
          description: 'Refuses the second of two create requests at the same moment as malformed.',
          transform: onTwins('create', idOfCreation, () => errorResponse(400, 'bad_request')),
        },
        'concurrent-creations-refused': {
          description: 'Refuses both of two create requests at the same moment as duplicates.',
          transform: onTwins('create', idOfCreation, conflict, { isBoth: true }),
        },
      },
    },
    'USERS-035': {
      rule: 'If two requests delete the same user at the same time, at least one succeeds, and neither gets a server error.',
      statements: ['4.8.2', '3.2.2', '7.b7'],
      reason: 'The service deletes users while simulations end in parallel.',
      observability: 'provoked',
      probes: ['users/at-once'],
      check: checkTwins('delete', judgeDeletions),
      mutants: {
        'concurrent-deletion-500': {
          description: 'Responds with 500 to the second of two delete requests at the same moment.',
          transform: onTwins('delete', userIdOf, () => errorResponse(500, 'server_error')),
        },
        'concurrent-deletions-refused': {
          description: 'Refuses both of two delete requests at the same moment.',
          transform: onTwins('delete', userIdOf, conflict, { isBoth: true }),
        },
      },
      legal: {
        'concurrent-deletions-accepted': {
          description: 'Responds to both of two delete requests at the same moment with 200.',
          transform: onTwins('delete', userIdOf, createAcceptedResponse),
        },
      },
    },
  },
};
