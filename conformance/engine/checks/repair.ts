import type { Endpoint, Violation } from '../../../src/contract/index.ts';
import type { Repair } from './check.ts';
import { isObject } from '../../../src/platform/json.ts';

/** Puts what the schema wants in the place of what stands there, in every answer alike. */
export function createRepair({ pointer, expected }: Violation, endpoint: Endpoint): Repair {
  const place = pointer.replace(/\/\d+(?=\/|$)/g, '/*');
  const name = place.slice(1).replaceAll('/*', '[]').replaceAll('/', '.');
  return {
    description: expected === 'absent' ? `leave ${name} out` : `make ${name} ${expected}`,
    apply(exchange) {
      if (exchange.endpoint !== endpoint || !exchange.response || !isObject(exchange.json)) {
        return undefined;
      }
      const body = structuredClone(exchange.json);
      put(body, place.split('/').slice(1), expected);
      return { response: { ...exchange.response, body: JSON.stringify(body) } };
    },
  };
}

/** Puts what the schema wants in its place, in every message of a type that a sandbox said. */
export function createMessageRepair({ pointer, expected }: Violation, type: string): Repair {
  const name = pointer.slice(1).replaceAll('/', '.');
  return {
    description:
      expected === 'absent'
        ? `leave ${name} of ${type} out`
        : `make ${name} of ${type} ${expected}`,
    apply({ call }) {
      if (!call) return undefined;
      const events = call.events.map((event) => {
        if (event.from !== 'sandbox' || event.kind !== 'message') return event;
        const message = jsonOf(event.text ?? '');
        if (!isObject(message) || message['type'] !== type) return event;
        put(message, pointer.split('/').slice(1), expected);
        return { ...event, text: JSON.stringify(message) };
      });
      return { call: { ...call, events } };
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const samples: readonly [RegExp, unknown][] = [
  [/^an ISO 8601 time/, '2026-01-01T00:00:00Z'],
  [/^a string/, ''],
  [/^(an integer|a number)/, 0],
  [/^a boolean/, true],
  [/^an object/, {}],
  [/^an array/, []],
];

/** A value that fits the words with which the contract says what it wants. */
function sampleOf(expected: string, now: unknown): unknown {
  const literal = /"(?:[^"\\]|\\.)*"/.exec(expected)?.[0];
  if (literal) return JSON.parse(literal);
  if (expected.startsWith('a string') && now !== undefined && now !== null) {
    return JSON.stringify(now);
  }
  if (expected === 'an integer') {
    const number = typeof now === 'string' || typeof now === 'number' ? Number(now) : 0;
    return Number.isFinite(number) ? Math.round(number) : 0;
  }
  return samples.find(([words]) => words.test(expected))?.[1] ?? null;
}

function put(value: unknown, [key = '', ...rest]: string[], expected: string): void {
  if (key === '*' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (rest.length > 0) put(item, rest, expected);
      else value[index] = sampleOf(expected, item);
    }
  } else if (isObject(value)) {
    if (rest.length > 0) put(value[key], rest, expected);
    else if (expected === 'absent') Reflect.deleteProperty(value, key);
    else value[key] = sampleOf(expected, value[key]);
  }
}
