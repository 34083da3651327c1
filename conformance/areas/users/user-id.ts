/** The user id in requests and responses: what a check compares, and how a mutant mixes ids up. */
import { describeMisspelled, findMisspelled, resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { countCommonStart } from '../../engine/checks/common-start.ts';
import { describeEcho } from '../../engine/checks/echo.ts';
import { createOverlap, editAccepted, set } from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import { decodePathSegment, type Exchange } from '../../engine/transcript/reading.ts';
import { closestTo } from '../../engine/transcript/repetitions.ts';

/** Returns the user id of a create request. */
export const sentUserId = ({ sent }: Exchange): unknown => resolvePointer(sent, '/user_id');

/** Returns the user id of a path. A recording may have a path that can't be decoded; it stays as is. */
export function pathUserId({ request: { path } }: Exchange): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return decodePathSegment(last) ?? last;
}

/** Returns the length of the common start of two user ids, in any case. */
export const countAlike = (id: string, other: string): number =>
  countCommonStart(id.toLowerCase(), other.toLowerCase());

/** `user_id` of each response equals the id that the request names. */
export function checkUserId(
  hasUserId: (exchange: Exchange) => boolean,
  requestedId: (exchange: Exchange) => unknown,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (exchange) => exchange.intent === 'valid' && hasUserId(exchange),
    (exchange, { exchanges }) => {
      const expected = requestedId(exchange);
      const received = resolvePointer(exchange.json, '/user_id');
      if (received === expected) return [];
      const sources = exchanges.filter(
        (other) => other.endpoint === exchange.endpoint && requestedId(other) === received,
      );
      const others = typeof received === 'string' ? closestTo(exchange, sources) : [];
      const keys = isObject(exchange.json) ? Object.keys(exchange.json) : [];
      const found = received === undefined ? findMisspelled('user_id', keys, []) : undefined;
      return [
        {
          exchange: exchange.id,
          pointer: '/user_id',
          ...describeEcho(expected, received, 'user id', others[0]),
          ...(found !== undefined && { received: describeMisspelled(found, 'user_id') }),
          ...(others.length > 0 && { others: others.map(({ id }) => id) }),
        },
      ];
    },
    unjudged,
  );
}

/** Keeps the user id of a request where concurrent requests change it. */
export function shareUserId(
  endpoint: 'create' | 'delete',
  idOf: (request: ProxyRequest) => unknown,
): TransformFactory {
  return () => {
    let latest: unknown;
    const announce = createOverlap();
    return async (request, forward, clock) => {
      if (request.endpoint !== endpoint) return forward(request);
      latest = idOf(request) ?? latest;
      const waitForNext = announce(clock);
      const response = await forward(request);
      await waitForNext();
      const transform = editAccepted(endpoint, set('/user_id', latest))();
      return transform(request, () => Promise.resolve(response), clock);
    };
  };
}
