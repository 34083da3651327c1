import { isObject } from '../../../src/platform/json.ts';
import { isAccepted, isNotFound, type Transcript } from '../../engine/transcript/reading.ts';
import { isUnprefixedStep } from '../chat/unprefixed.ts';
import { conformingResponse, respond } from './conforming-response.ts';
import { nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes a chat route without the prefix `/v1`. */
export function findMissingPrefix({ run, exchanges }: Transcript): Diagnosis[] {
  const unprefixed = exchanges.find(isUnprefixedStep);
  if (!unprefixed?.response || isNotFound(unprefixed) || unprefixed.response.status >= 500)
    return [];
  const seen = nonEmpty(
    exchanges.filter((exchange) => exchange.endpoint === 'chat' && isNotFound(exchange)),
  );
  if (!seen) return [];
  const { status } = unprefixed.response;
  const reply = isAccepted(unprefixed) && isObject(unprefixed.json) ? unprefixed.json : undefined;
  return [
    {
      seen,
      fault: `the path is unknown (${seen[0].response?.status}), but POST ${unprefixed.request.path} responds with ${status} (exchange ${unprefixed.id})`,
      cure: 'Add the prefix /v1 to the route',
      repair: (exchange) =>
        exchange.intent === 'valid' && reply
          ? respond(200, reply)
          : conformingResponse(exchange, run),
    },
  ];
}
