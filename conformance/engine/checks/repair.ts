import type { Endpoint, Violation } from '../../../src/contract/index.ts';
import type { Repair } from './check.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { toPrintable } from '../transcript/reading.ts';
import { routeNames } from './route-names.ts';

/** Creates a repair that puts a valid value at the place of a violation, in every response of the endpoint. */
export function createRepair(violation: Violation, endpoint: Endpoint): Repair {
  const path = violation.pointer.replace(/\/\d+(?=\/|$)/g, '/*');
  const name = path.slice(1).replaceAll('/*', '[]').replaceAll('/', '.');
  return {
    description: `${routeNames[endpoint]}: ${describeChange(name, violation)}`,
    apply(exchange) {
      if (exchange.endpoint !== endpoint || !exchange.response || !isObject(exchange.json)) {
        return undefined;
      }
      const body = structuredClone(exchange.json);
      putSample(body, path.split('/').slice(1), violation);
      return { response: { ...exchange.response, body: JSON.stringify(body) } };
    },
  };
}

function describeChange(name: string, { kind, expected, found }: Violation): string {
  if (found !== undefined) return `rename ${toPrintable(found, 40)} to ${name}`;
  return kind === 'absent' ? `omit ${name}` : `make ${name} ${expected}`;
}

/** Creates a repair that puts a valid value at the place of a violation, in every message of a type. */
export function createMessageRepair(violation: Violation, type: string): Repair {
  const { pointer } = violation;
  const name = pointer.slice(1).replaceAll('/', '.');
  return {
    description: `${routeNames.voice}: ${describeChange(`${name} of ${type}`, violation)}`,
    apply({ call }) {
      if (!call) return undefined;
      const events = call.events.map((event) => {
        if (event.from !== 'sandbox' || event.kind !== 'message') return event;
        const message = parseJson(event.text ?? '');
        if (!isObject(message) || message['type'] !== type) return event;
        putSample(message, pointer.split('/').slice(1), violation);
        return { ...event, text: JSON.stringify(message) };
      });
      return { call: { ...call, events } };
    },
  };
}

const samples: Readonly<Partial<Record<Violation['kind'], unknown>>> = {
  time: '2026-01-01T00:00:00Z',
  string: '',
  number: 0,
  boolean: true,
  object: {},
  array: [],
};

/** Returns a value of the expected kind, close to the current value. */
function sampleOf({ kind, example }: Violation, current: unknown): unknown {
  if (example !== undefined) return example;
  if (kind === 'string' && current !== undefined && current !== null) {
    return JSON.stringify(current);
  }
  if (kind === 'integer') {
    const number = typeof current === 'string' || typeof current === 'number' ? Number(current) : 0;
    return Number.isFinite(number) ? Math.round(number) : 0;
  }
  return samples[kind] ?? null;
}

/** Sets the value at a path to a sample; `*` stands for every item of an array. */
function putSample(value: unknown, [key = '', ...rest]: string[], violation: Violation): void {
  if (key === '*' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (rest.length > 0) putSample(item, rest, violation);
      else value[index] = sampleOf(violation, item);
    }
  } else if (isObject(value)) {
    if (rest.length > 0) putSample(value[key], rest, violation);
    else if (violation.kind === 'absent') Reflect.deleteProperty(value, key);
    else value[key] = sampleOf(violation, value[key]);
  }
}
