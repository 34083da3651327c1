import type { Endpoint, Violation } from '../../../src/contract/index.ts';
import type { Repair } from './check.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { toPrintable } from '../transcript/reading.ts';
import { routeNames } from './route-names.ts';

/** Creates a repair that puts a valid value at the place of a violation, in every response of the endpoint. */
export function createRepair({ pointer, expected, found }: Violation, endpoint: Endpoint): Repair {
  const path = pointer.replace(/\/\d+(?=\/|$)/g, '/*');
  const name = path.slice(1).replaceAll('/*', '[]').replaceAll('/', '.');
  return {
    description: `${routeNames[endpoint]}: ${describeChange(name, expected, found)}`,
    apply(exchange) {
      if (exchange.endpoint !== endpoint || !exchange.response || !isObject(exchange.json)) {
        return undefined;
      }
      const body = structuredClone(exchange.json);
      putSample(body, path.split('/').slice(1), expected);
      return { response: { ...exchange.response, body: JSON.stringify(body) } };
    },
  };
}

function describeChange(name: string, expected: string, found?: string): string {
  if (found !== undefined) return `rename ${toPrintable(found, 40)} to ${name}`;
  return expected === 'absent' ? `omit ${name}` : `make ${name} ${expected}`;
}

/** Creates a repair that puts a valid value at the place of a violation, in every message of a type. */
export function createMessageRepair({ pointer, expected, found }: Violation, type: string): Repair {
  const name = pointer.slice(1).replaceAll('/', '.');
  return {
    description: `${routeNames.voice}: ${describeChange(`${name} of ${type}`, expected, found)}`,
    apply({ call }) {
      if (!call) return undefined;
      const events = call.events.map((event) => {
        if (event.from !== 'sandbox' || event.kind !== 'message') return event;
        const message = parseJson(event.text ?? '');
        if (!isObject(message) || message['type'] !== type) return event;
        putSample(message, pointer.split('/').slice(1), expected);
        return { ...event, text: JSON.stringify(message) };
      });
      return { call: { ...call, events } };
    },
  };
}

const samples: readonly [RegExp, unknown][] = [
  [/^an ISO 8601 time/, '2026-01-01T00:00:00Z'],
  [/^a string/, ''],
  [/^(an integer|a number)/, 0],
  [/^a boolean/, true],
  [/^an object/, {}],
  [/^an array/, []],
];

/** Returns a value that fits the description in `Violation.expected`, close to the current value. */
function sampleOf(expected: string, current: unknown): unknown {
  const literal = /"(?:[^"\\]|\\.)*"/.exec(expected)?.[0];
  if (literal) return JSON.parse(literal);
  if (expected.startsWith('a string') && current !== undefined && current !== null) {
    return JSON.stringify(current);
  }
  if (expected === 'an integer') {
    const number = typeof current === 'string' || typeof current === 'number' ? Number(current) : 0;
    return Number.isFinite(number) ? Math.round(number) : 0;
  }
  return samples.find(([pattern]) => pattern.test(expected))?.[1] ?? null;
}

/** Sets the value at a path to a sample; `*` stands for every item of an array. */
function putSample(value: unknown, [key = '', ...rest]: string[], expected: string): void {
  if (key === '*' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (rest.length > 0) putSample(item, rest, expected);
      else value[index] = sampleOf(expected, item);
    }
  } else if (isObject(value)) {
    if (rest.length > 0) putSample(value[key], rest, expected);
    else if (expected === 'absent') Reflect.deleteProperty(value, key);
    else value[key] = sampleOf(expected, value[key]);
  }
}
