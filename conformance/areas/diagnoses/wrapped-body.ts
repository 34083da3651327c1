import type { Endpoint } from '../../../src/contract/index.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { diagnoseBodies, isToService, type Diagnosis } from './seen.ts';

/** A key that the body of a successful response must have, by endpoint. */
const requiredKeys: Readonly<Partial<Record<Endpoint, string>>> = {
  chat: 'choices',
  health: 'status',
  create: 'user_id',
  delete: 'user_id',
  end: 'conversation_id',
  simulations: 'items',
  production: 'items',
};

/** Returns a key that the body must have; undefined if the diagnosis does not concern the exchange. */
function requiredKeyOf(exchange: Exchange): string | undefined {
  const key = requiredKeys[exchange.endpoint];
  // The specification does not show the errors of the service.
  if (isToService(exchange)) return isAccepted(exchange) ? key : undefined;
  const isReport = exchange.endpoint === 'health' && exchange.response?.status === 503;
  return key === undefined || isAccepted(exchange) || isReport ? key : 'error';
}

/** Where the body is instead of at the top level, and the body. */
interface Wrapped {
  fault: string;
  cure: string;
  body: Record<string, unknown>;
}

function findWrapped(exchange: Exchange): Wrapped | undefined {
  const { json } = exchange;
  const key = requiredKeyOf(exchange);
  const hasKey = (value: unknown): value is Record<string, unknown> =>
    key !== undefined && isObject(value) && Object.hasOwn(value, key);
  if (Array.isArray(json)) {
    const [first] = json as unknown[];
    return hasKey(first)
      ? { fault: 'the body is in an array', cure: 'Send the object without the array', body: first }
      : undefined;
  }
  if (!isObject(json) || hasKey(json)) return undefined;
  for (const [name, value] of Object.entries(json)) {
    if (hasKey(value)) {
      return {
        fault: `the body is wrapped in ${JSON.stringify(name)}`,
        cure: 'Send its fields at the top level',
        body: value,
      };
    }
    const inner = typeof value === 'string' ? parseJson(value) : undefined;
    if (hasKey(inner)) {
      return {
        fault: `the body is JSON text in ${JSON.stringify(name)}`,
        cure: 'Send the object itself, with its fields at the top level',
        body: inner,
      };
    }
  }
  return undefined;
}

/** Returns whether the fields of a body are one level too deep. */
export const isWrapped = (exchange: Exchange): boolean => findWrapped(exchange) !== undefined;

/** Recognizes bodies whose fields are one level too deep, for each wrapper. */
export function findWrappedBodies({ exchanges }: Transcript): Diagnosis[] {
  return diagnoseBodies(exchanges, (exchange) => {
    const wrapped = findWrapped(exchange);
    if (!wrapped) return undefined;
    const { fault, cure } = wrapped;
    const body = JSON.stringify(wrapped.body);
    return {
      kind: fault,
      fault,
      cure,
      repair: ({ response }) => ({ status: 200, headers: {}, ...response, body }),
    };
  });
}
