import {
  valueAt,
  violations,
  type Endpoint,
  type MessageName,
  type Violation,
} from '../../../src/contract/index.ts';
import { checkEach, type Check } from './check.ts';
import { createRepair } from './repair.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted } from '../transcript/reading.ts';

/** Whether the answer is one whose body a message schema may judge. */
export type ExchangeFilter = (exchange: Exchange) => boolean;

/** Answers of an endpoint that took the request and gave a JSON object. */
export function isObjectFrom(endpoint: Endpoint): ExchangeFilter {
  return (one) =>
    one.endpoint === endpoint && one.intent !== 'refuse' && isAccepted(one) && isObject(one.json);
}

/** All shape checks of an exchange read the same validation. */
const validated = new WeakMap<Exchange, Map<MessageName, Violation[]>>();

function violationsOf(exchange: Exchange, message: MessageName): Violation[] {
  const byMessage = validated.get(exchange) ?? new Map<MessageName, Violation[]>();
  const found = byMessage.get(message) ?? violations(message, exchange.json);
  validated.set(exchange, byMessage.set(message, found));
  return found;
}

/** What a shape check is about: places in a message, with `*` for any array index. */
export interface ShapeOptions {
  message: MessageName;
  answers: ExchangeFilter;
  /** Pointers; the value there, its presence included, is judged by the schema. */
  at: readonly string[];
  /** What no evidence means: the place is missing everywhere. */
  absent: Check['unjudged'];
  hint?: Hint;
}

/** What usually helps; or what does so against a value that came, nothing where it is no such case. */
export type Hint = string | ((received: unknown) => string | undefined);

/** A hint as a finding has it. */
export function resolveHint(hint: Hint | undefined, received: unknown): { hint?: string } {
  const says = typeof hint === 'function' ? hint(received) : hint;
  return says === undefined ? {} : { hint: says };
}

/**
 * A check that holds answers against the schema at some places. An answer is evidence when it has
 * the place, or when the schema finds fault with its absence.
 */
export function checkShape({ message, answers, at, absent, hint }: ShapeOptions): Check {
  const faults = (one: Exchange): Violation[] =>
    violationsOf(one, message).filter(({ pointer }) => at.some((place) => matches(pointer, place)));
  return checkEach(
    (one) =>
      answers(one) &&
      (faults(one).length > 0 || at.some((place) => has(one.json, place.split('/').slice(1)))),
    (one) =>
      faults(one).map((fault) => ({
        exchange: one.id,
        ...fault,
        ...resolveHint(hint, valueAt(one.json, fault.pointer)),
        repair: createRepair(fault, one.endpoint),
      })),
    absent,
  );
}

function matches(pointer: string, place: string): boolean {
  const keys = pointer.split('/');
  const wanted = place.split('/');
  return (
    keys.length === wanted.length &&
    wanted.every((key, index) =>
      key === '*' ? /^\d+$/.test(keys[index] ?? '') : key === keys[index],
    )
  );
}

/** Whether any value stands at the place. */
function has(value: unknown, keys: string[]): boolean {
  const [key, ...rest] = keys;
  if (key === undefined) return true;
  if (key === '*') return Array.isArray(value) && value.some((item) => has(item, rest));
  return isObject(value) && Object.hasOwn(value, key) && has(value[key], rest);
}
