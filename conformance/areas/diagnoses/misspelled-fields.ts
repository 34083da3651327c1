import {
  findMisspelledFields,
  type MessageName,
  type MisspelledField,
} from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  isAccepted,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { describeSeen, isToService, nonEmpty, type Diagnosis } from './seen.ts';

/** The message that the body of a successful response is, by endpoint. */
const messages: Readonly<Partial<Record<Exchange['endpoint'], MessageName>>> = {
  chat: 'ChatResponse',
  health: 'Health',
  create: 'UserCreated',
  delete: 'UserDeleted',
  end: 'ClosedConversation',
  simulations: 'SimulationSessionPage',
  production: 'ProductionSessionPage',
};

/** Returns the fields of the body of an exchange that have their names in another spelling. */
export const misspelledFieldsOf = computeOnce((exchange: Exchange): readonly MisspelledField[] => {
  const message = messageOf(exchange);
  return message === undefined || !isObject(exchange.json)
    ? []
    : findMisspelledFields(message, exchange.json);
});

function messageOf(exchange: Exchange): MessageName | undefined {
  const { endpoint, response } = exchange;
  const status = response?.status ?? 0;
  const isReport = endpoint === 'health' && status === 503;
  if (isAccepted(exchange) || isReport) return messages[endpoint];
  // The specification does not show the errors of the service.
  if (isToService(exchange)) return undefined;
  return messages[endpoint] !== undefined && status >= 400 ? 'SandboxError' : undefined;
}

/** The most names to list. */
const NAMED_MAX = 4;

/** Lists names: "found `userId`, the name is `user_id`; found `createdAt`, the name is `created_at`". */
function describeNames(fields: readonly MisspelledField[]): string {
  const found = new Map(
    fields
      .toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired))
      .map((field) => [field.found, field.name]),
  );
  const named = [...found]
    .slice(0, NAMED_MAX)
    .map(([key, name]) => `found \`${toPrintable(key, 40)}\`, the name is \`${name}\``);
  const more = found.size > NAMED_MAX ? [`and ${found.size - NAMED_MAX} more`] : [];
  return [...named, ...more].join('; ');
}

/** Returns what to do about misspelled fields: a sentence without the full stop. */
export function cureOfNames(fields: readonly MisspelledField[]): string {
  const isCamel = fields.some(({ found }) => /[a-z][A-Z]/.test(found));
  return `Send the names as the specification writes them${isCamel ? ', without a conversion to camel case' : ''}`;
}

/** Recognizes fields with the right content and another name, such as `userId`. */
export function findMisspelledNames({ exchanges }: Transcript): Diagnosis[] {
  const seen = nonEmpty(exchanges.filter((exchange) => misspelledFieldsOf(exchange).length > 0));
  if (!seen) return [];
  const fields = seen.flatMap(misspelledFieldsOf);
  return [
    {
      seen,
      fault: `${describeNames(fields)} (${describeSeen(seen)})`,
      cure: cureOfNames(fields),
      repair: (exchange) => ({
        status: 200,
        headers: {},
        ...exchange.response,
        body: JSON.stringify(renameAll(exchange)),
      }),
    },
  ];
}

/** Fields of the interface are nested no deeper. */
const DEPTH_MAX = 6;

/** Returns a body in which all fields have the correct names, even inside a renamed field. */
function renameAll(exchange: Exchange): unknown {
  const message = messageOf(exchange);
  let body = rename(exchange.json, misspelledFieldsOf(exchange));
  for (let depth = 1; message !== undefined && depth < DEPTH_MAX; depth++) {
    const inner = findMisspelledFields(message, body);
    if (inner.length === 0) break;
    body = rename(body, inner);
  }
  return body;
}

/** Returns a copy of a body in which fields have the correct names. */
function rename(body: unknown, fields: readonly MisspelledField[]): unknown {
  const copy: unknown = structuredClone(body);
  for (const { pointer, found, name } of fields) {
    const parent = pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], copy);
    if (!isObject(parent)) continue;
    parent[name] = parent[found];
    Reflect.deleteProperty(parent, found);
  }
  return copy;
}
