import {
  resolvePointer,
  findViolations,
  type Endpoint,
  type MessageName,
  type Violation,
} from '../../../src/contract/index.ts';
import { checkEach, type Check } from './check.ts';
import { createRepair } from './repair.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  isAccepted,
  isAcceptedError,
  type Transcript,
} from '../transcript/reading.ts';

/** Selects the exchanges whose response body a schema judges. */
export type ExchangeFilter = (exchange: Exchange) => boolean;

/** Matches accepted requests to an endpoint whose response is a JSON object. */
export function isObjectFrom(endpoint: Endpoint): ExchangeFilter {
  return (exchange) =>
    exchange.endpoint === endpoint &&
    exchange.intent !== 'refuse' &&
    isAccepted(exchange) &&
    isObject(exchange.json);
}

/** Violations by exchange and message, because many checks read the same validation. */
const violationCache = new WeakMap<Exchange, Map<MessageName, Violation[]>>();

function violationsOf(exchange: Exchange, message: MessageName): Violation[] {
  const byMessage = violationCache.get(exchange) ?? new Map<MessageName, Violation[]>();
  const result = byMessage.get(message) ?? findViolations(message, exchange.json);
  violationCache.set(exchange, byMessage.set(message, result));
  return result;
}

/** What a shape check judges. */
export interface ShapeOptions {
  message: MessageName;
  filter: ExchangeFilter;
  /** JSON pointers, with `*` for any array index. The schema judges presence and value. */
  places: readonly string[];
  /** Returns the reason if no response has one of the places. */
  unjudged: Check['unjudged'];
  /** Advice about a violation. */
  hint?: ValueHint | undefined;
}

/** A hint, or a function that returns one for the received value if there is a usual cause. */
export type ValueHint = string | ((received: unknown) => string | undefined);

const NULL_HINT = 'Omit the field when it has no value.';

/**
 * Returns the `hint` property of a finding about a violation in a body; empty if there is no hint for
 * the value. A null in place of any optional value gets the same hint.
 */
export function resolveHint(
  { message, hint }: Pick<ShapeOptions, 'message' | 'hint'>,
  body: unknown,
  { pointer }: Violation,
): { hint?: string } {
  const received = resolvePointer(body, pointer);
  if (received === null && isOptional(message, body, pointer)) return { hint: NULL_HINT };
  const text = typeof hint === 'function' ? hint(received) : hint;
  return text === undefined ? {} : { hint: text };
}

/** Returns whether the message is still valid at a place if it has nothing there. */
function isOptional(message: MessageName, body: unknown, pointer: string): boolean {
  const without = structuredClone(body);
  const parent = resolvePointer(without, pointer.slice(0, pointer.lastIndexOf('/')));
  if (!isObject(parent)) return false;
  Reflect.deleteProperty(parent, pointer.slice(pointer.lastIndexOf('/') + 1));
  return !findViolations(message, without).some((violation) => violation.pointer === pointer);
}

/**
 * Creates a check that validates responses against the schema at some places. A response is evidence
 * if it has one of the places or if the schema requires one that is missing.
 */
export function checkShape({ message, filter, places, unjudged, hint }: ShapeOptions): Check {
  const paths = places.map((place) => place.split('/').slice(1));
  const violationsAt = (exchange: Exchange): Violation[] =>
    violationsOf(exchange, message).filter(({ pointer }) =>
      places.some((place) => matches(pointer, place)),
    );
  return checkEach(
    (exchange, transcript) =>
      filter(exchange) &&
      !isKnownError(exchange, transcript) &&
      (violationsAt(exchange).length > 0 || paths.some((path) => hasValueAt(exchange.json, path))),
    (exchange) =>
      violationsAt(exchange).map((violation) => ({
        exchange: exchange.id,
        ...violation,
        ...resolveHint({ message, hint }, exchange.json, violation),
        repair: createRepair(violation, exchange.endpoint),
      })),
    unjudged,
  );
}

/**
 * Returns whether a response to an open request is an error with status 200, from a peer that also
 * accepts malformed requests with such errors. The checks of refusals report that already.
 */
function isKnownError(exchange: Exchange, { exchanges }: Transcript): boolean {
  return (
    exchange.intent === 'open' &&
    isAcceptedError(exchange) &&
    exchanges.some((other) => other.intent === 'refuse' && isAcceptedError(other))
  );
}

function matches(pointer: string, place: string): boolean {
  const keys = pointer.split('/');
  const placeKeys = place.split('/');
  return (
    keys.length === placeKeys.length &&
    placeKeys.every((key, index) =>
      key === '*' ? /^\d+$/.test(keys[index] ?? '') : key === keys[index],
    )
  );
}

/** Returns whether the path exists from its key at `start` on; `*` matches any array item. */
function hasValueAt(value: unknown, path: readonly string[], start = 0): boolean {
  const key = path[start];
  if (key === undefined) return true;
  if (key === '*') {
    return Array.isArray(value) && value.some((item) => hasValueAt(item, path, start + 1));
  }
  return isObject(value) && Object.hasOwn(value, key) && hasValueAt(value[key], path, start + 1);
}
