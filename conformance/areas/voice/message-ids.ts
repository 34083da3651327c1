/** The ids in the messages of a call, which the service needs to assign it to a simulation. */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import { sandboxMessagesOf, startCallOf } from '../../engine/transcript/call-messages.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';

/** What breaks if an id is wrong. */
export const IDS_REASON =
  'The service assigns messages to simulations by these ids; a wrong id adds them to the wrong simulation.';

/** Returns the `session_id` that the kit sent in `start_call`. */
export const sentSessionId = (exchange: Exchange): unknown => startCallOf(exchange)?.['session_id'];

/** Checks that an id in the messages of a type equals an earlier one, if the call has that one. */
export function checkSameId(
  type: string,
  pointer: '/call_id' | '/session_id',
  expectedOf: (exchange: Exchange) => unknown,
  unjudged: Check['unjudged'],
  isJudged: (received: unknown) => boolean = () => true,
): Check {
  return checkEach(
    (exchange) =>
      typeof expectedOf(exchange) === 'string' && sandboxMessagesOf(exchange, type).length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange, type).flatMap(({ json }): Finding[] => {
        const [expected, received] = [expectedOf(exchange), resolvePointer(json, pointer)];
        if (received === expected || !isJudged(received)) return [];
        return [
          {
            exchange: exchange.id,
            pointer,
            expected: formatValue(expected),
            received: formatValue(received),
          },
        ];
      }),
    unjudged,
  );
}

/** Checks that messages echo the `session_id` of `start_call`. VOICE-022 covers its type. */
export const checkSessionId = (type: string, unjudged: Check['unjudged']): Check =>
  checkSameId(
    type,
    '/session_id',
    sentSessionId,
    unjudged,
    (received) => received === undefined || typeof received === 'string',
  );
