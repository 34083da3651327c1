/** The latency of replies and the transport (spec 4.5, 8). */
import { CHAT_RESPONSE_MS_TARGET } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { unjudgedAs } from '../../engine/checks/check.ts';
import { checkHttps } from '../../engine/checks/https.ts';
import {
  checkMaxTime,
  checkMedianTime,
  checkRefusalTime,
} from '../../engine/checks/response-times.ts';
import { delay, passThrough, to } from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Subject } from '../../engine/requirement.ts';
import { malformed } from './malformed.ts';
import { noReply } from './replies.ts';

export const targets: Subject = {
  requirements: {
    'CHAT-080': {
      level: 'target',
      rule: 'The median latency of chat responses is under 5 s.',
      statements: ['8.b2'],
      reason: 'Every simulation waits for these replies, so slow ones prolong it.',
      probes: ['chat/forms'],
      check: checkMedianTime('chat', CHAT_RESPONSE_MS_TARGET, noReply),
      mutants: {
        slow: {
          description: 'Takes 6 s for each reply.',
          transform: delay(
            to('chat', (request) => isObject(request.json) && !malformed.isMalformed(request)),
            6_000,
          ),
          clockFactor: 15,
        },
      },
      legal: {
        'slow-but-in-time': {
          description: 'Takes 2 s for each reply.',
          transform: delay(to('chat'), 2_000),
          clockFactor: 10,
        },
      },
    },
    'CHAT-081': {
      level: 'may',
      rule: 'The highest latency of a chat response is under 5 s.',
      statements: ['8.b2'],
      reason: 'The target names no percentile, so the slowest reply is only reported.',
      check: checkMaxTime('chat', CHAT_RESPONSE_MS_TARGET, noReply),
      legal: {
        'once-slow': {
          description: 'Takes 12 s for one reply.',
          transform: delayOnce,
          clockFactor: 10,
        },
      },
    },
    'CHAT-084': {
      level: 'target',
      rule: 'The median latency of error responses to malformed chat requests, up to their end, is under 5 s.',
      statements: ['8.b2', '4.5.6'],
      reason:
        'A client waits for the end of a response; an error that does not end looks like a sandbox that hangs.',
      observability: 'provoked',
      probes: ['chat/refusals'],
      check: checkRefusalTime(
        'chat',
        CHAT_RESPONSE_MS_TARGET,
        unjudgedAs('not_applicable', 'No malformed chat request got an error response.'),
      ),
      mutants: {
        'slow-errors': {
          description: 'Takes 6 s for each error response to a malformed request.',
          transform: delay(to('chat', malformed.isMalformed), 6_000),
          clockFactor: 15,
        },
      },
    },
    'CHAT-082': {
      rule: 'The sandbox is reachable over HTTPS.',
      statements: ['4.5.7'],
      reason: 'The service sends its key and its conversations there; plain HTTP exposes both.',
      check: checkHttps(),
      mutants: {
        'plain-http': {
          description: 'Uses plain HTTP on a host other than loopback.',
          transform: passThrough,
          run: (run) => ({ ...run, target: 'http://sandbox.example' }),
        },
      },
    },
  },
};

function delayOnce(): ReturnType<TransformFactory> {
  let isDone = false;
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat' && !isDone) {
      isDone = true;
      await clock.sleep(12_000);
    }
    return forward(request);
  };
}
