/** Requests that a sandbox may accept or refuse, because the specification defines no response. */
import { listAt } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { checkWrongKey } from '../../engine/checks/responses.ts';
import { jsonResponse, respondInstead, to, type When } from '../../engine/mutants/combinators.ts';
import { acceptInstead, errorResponse, refuseInstead } from '../sandbox-responses.ts';
import type { ProxyResponse } from '../../engine/mutants/mutant.ts';
import { hasWrongKey, where } from '../../engine/mutants/requests.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import { isChatStep } from './requests.ts';

const hasNoMessages = to(
  'chat',
  where('messages', (messages) => Array.isArray(messages) && messages.length === 0),
);

/** The request has a field of a type that the specification neither allows nor forbids. */
const hasOddTypes: When = ({ json }) =>
  isObject(json) &&
  (typeof json['metadata'] === 'string' ||
    typeof json['user_id'] === 'number' ||
    listAt(json, '/messages').some(
      (message) => isObject(message) && Array.isArray(message['content']),
    ));

const refusesWrongKey = (description: string, response: ProxyResponse): DistortionEntry => ({
  description,
  transform: respondInstead(to('chat', hasWrongKey), () => response),
});

const refusesOddTypes = (description: string, status: number): DistortionEntry => ({
  description,
  transform: respondInstead(to('chat', hasOddTypes), () =>
    jsonResponse(status, { detail: 'Input should be valid' }),
  ),
});

export const silences: Subject = {
  requirements: {
    'CHAT-083': {
      level: 'may',
      rule: 'A chat request with a wrong key gets an error response.',
      statements: ['5.b2', '4.5.3'],
      reason:
        'Without a key check, anyone who knows the address can use the agent. A key is recommended, not required, so its absence is only reported.',
      observability: 'provoked',
      probes: ['chat/after'],
      check: checkWrongKey(isChatStep('wrong key')),
      legal: {
        'wrong-key-taken': {
          description: 'Accepts any key.',
          transform: acceptInstead(to('chat', hasWrongKey)),
        },
        'wrong-key-own-body': refusesWrongKey('Refuses a wrong key with a plain-text body.', {
          status: 401,
          headers: {},
          body: 'Unauthorized',
        }),
        'wrong-key-403': refusesWrongKey(
          'Refuses a wrong key with 403.',
          errorResponse(403, 'bad_request'),
        ),
        'wrong-key-closes': refusesWrongKey('Closes the connection after a wrong key.', {
          ...errorResponse(401, 'bad_request'),
          framing: 'close',
        }),
      },
    },
  },
  legal: {
    'empty-messages-refused': {
      description: 'Refuses an empty `messages`.',
      transform: refuseInstead(hasNoMessages),
    },
    'empty-messages-taken': {
      description: 'Accepts an empty `messages`.',
      transform: acceptInstead(hasNoMessages),
    },
    'odd-types-taken': {
      description: 'Accepts fields of unusual types.',
      transform: acceptInstead(to('chat', hasOddTypes)),
    },
    'odd-types-400': refusesOddTypes(
      'Refuses fields of unusual types with 400 and its own error format.',
      400,
    ),
    'odd-types-422': refusesOddTypes('Refuses fields of unusual types with 422.', 422),
  },
};
