/** Requests that a sandbox may accept or refuse, because the specification defines no response. */
import { isObject } from '../../../src/platform/json.ts';
import { unjudgedAs } from '../../engine/checks/check.ts';
import { checkWrongKey } from '../../engine/checks/responses.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import { jsonResponse, respondInstead, to, type When } from '../../engine/mutants/combinators.ts';
import { acceptInstead, errorResponse } from '../sandbox-responses.ts';
import type { ProxyRequest } from '../../engine/mutants/mutant.ts';
import { hasOtherKeys, hasWrongKey, where } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import { checkClockSkew, SKEW_REASON } from '../clock-skew.ts';
import { unlessAbsent } from './absence.ts';
import { isCreateStep } from './requests.ts';

/** A create request whose response the specification leaves open. */
const isOpen: When = (request) =>
  [
    hasWrongKey,
    where('user_id', (id) => typeof id === 'string' && /[\u0080-\uffff]/.test(id)),
    where('metadata', (metadata) => typeof metadata === 'string'),
  ].some((when) => when(request));

export const silences: Subject = {
  requirements: {
    'USERS-083': {
      level: 'may',
      rule: 'A create request with a wrong key gets an error response.',
      statements: ['5.b2', '4.7.3'],
      reason:
        'Without a key check, anyone who knows the address can create users. A key is recommended, not required, so its absence is only reported.',
      observability: 'provoked',
      probes: ['users/silences'],
      check: unlessAbsent('create', checkWrongKey(isCreateStep('wrong key'))),
    },
    'USERS-084': {
      level: 'may',
      rule: '`created_at` and `deleted_at` are within 60 s of the clock of the machine that runs the check.',
      statements: ['2.9.15', '2.9.22'],
      reason: SKEW_REASON,
      check: unlessAbsent(
        'create',
        checkClockSkew(
          (exchange) => isObjectFrom('create')(exchange) || isObjectFrom('delete')(exchange),
          ({ endpoint }) => (endpoint === 'create' ? '/created_at' : '/deleted_at'),
          unjudgedAs('not_applicable', 'No response has a time with a time zone.'),
        ),
      ),
    },
  },
  legal: {
    'open-taken': {
      description: 'Accepts every request that is not forbidden.',
      transform: acceptInstead(to('create', isOpen)),
    },
    'open-refused': {
      description: 'Refuses every request that is not required, in its own error format.',
      transform: respondInstead(to('create', isOpen), () => jsonResponse(403, { detail: 'no' })),
    },
    'unknown-keys-refused': {
      description: 'Refuses fields that the specification does not name.',
      transform: respondInstead(to('create', hasUnknownKeys), () =>
        errorResponse(400, 'bad_request'),
      ),
    },
  },
};

/** Some field is not in the specification. */
function hasUnknownKeys({ json }: ProxyRequest): boolean {
  if (!isObject(json)) return false;
  const metadata = ['scenario_id', 'persona', 'session_type', 'preferences', 'history'];
  return (
    hasOtherKeys(json, ['user_id', 'metadata', 'profile']) ||
    hasOtherKeys(json['metadata'], metadata) ||
    hasOtherKeys(json['profile'], ['name', 'email', 'tier', 'location'])
  );
}
