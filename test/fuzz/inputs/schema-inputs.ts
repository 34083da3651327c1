/**
 * Inputs that the schemas of messages describe: structures of the schema, its examples, and its near
 * misses, with and without changes.
 */
import fc, { type Arbitrary } from 'fast-check';
import { schemas, type MessageName } from '../../../src/contract/index.ts';
import { anyJson, editJson, jsonEdits, smallJson } from './json-edits.ts';
import { IDS, NUMBERS, WORDS } from './words.ts';

/** A JSON Schema. */
interface Schema {
  [keyword: string]: unknown;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  allOf?: readonly Schema[];
  if?: Schema;
  then?: Schema;
  else?: Schema;
  $ref?: string;
}

interface MessageSchema extends Schema {
  examples?: readonly unknown[];
  'x-near-misses'?: readonly { value: unknown }[];
}

/** How deep structures are at most. Below, optional properties and items are left out. */
const DEPTH_MAX = 6;

/** How many items arrays have at most, by the depth that is left. */
const ITEMS_MAX = [0, 1, 1, 2, 2, 3, 4];

/** Replaces the values of strings that have this pattern, such as URLs. */
export type PatternValues = Readonly<Record<string, Arbitrary<string>>>;

const documents = new Map(
  Object.values(schemas).map((schema) => [schema.$id as string, schema as unknown as Schema]),
);

/** Returns values of a message: most of them valid, some nearly so, some of any other shape. */
export function messageInputs(name: MessageName, patterns: PatternValues = {}): Arbitrary<unknown> {
  const schema = schemas[name] as unknown as MessageSchema;
  const near = (schema['x-near-misses'] ?? []).map(({ value }) => value);
  const base = fc.oneof(
    { weight: 5, arbitrary: structureOf(name, patterns) },
    { weight: 3, arbitrary: fc.constantFrom(...(schema.examples ?? [{}])) },
    { weight: near.length > 0 ? 1 : 0, arbitrary: fc.constantFrom(...near, {}) },
  );
  return fc.oneof(
    {
      weight: 20,
      arbitrary: fc.tuple(base, jsonEdits).map(([value, edits]) => editJson(value, edits)),
    },
    { weight: 1, arbitrary: anyJson },
  );
}

/** Returns values that match the schema of a message, as far as its keywords can be followed. */
export const structureOf = (name: MessageName, patterns: PatternValues = {}): Arbitrary<unknown> =>
  structureOfSchema(schemas[name], patterns);

/** Like `structureOf`, for any schema. */
export function structureOfSchema(
  schema: object,
  patterns: PatternValues = {},
): Arbitrary<unknown> {
  return new Structures(schema as Schema, patterns).of(schema as Schema, DEPTH_MAX);
}

/** Creates arbitraries for the parts of a document. */
class Structures {
  readonly #document: Schema;
  readonly #patterns: PatternValues;
  readonly #known = new Map<Schema, Map<number, Arbitrary<unknown>>>();

  constructor(document: Schema, patterns: PatternValues) {
    this.#document = document;
    this.#patterns = patterns;
  }

  of(schema: Schema, depth: number): Arbitrary<unknown> {
    const byDepth = this.#known.get(schema) ?? new Map<number, Arbitrary<unknown>>();
    this.#known.set(schema, byDepth);
    const known = byDepth.get(depth);
    if (known) return known;
    const made = this.#make(schema, depth);
    byDepth.set(depth, made);
    return made;
  }

  #make(schema: Schema | boolean, depth: number): Arbitrary<unknown> {
    if (typeof schema === 'boolean') return schema ? smallJson : fc.constant(null);
    if (schema.$ref !== undefined) return this.#refer(schema, depth);
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const { anyOf, oneOf, ...rest } = schema as Schema & { anyOf?: Schema[]; oneOf?: Schema[] };
    const choices = anyOf ?? oneOf;
    if (choices) return fc.oneof(...choices.map((each) => this.of(merge(rest, each), depth)));
    const branches = listBranches(schema);
    if (branches.length > 0) return fc.oneof(...branches.map((each) => this.of(each, depth)));
    const [type, ...others] = [schema.type ?? guessType(schema)].flat();
    if (others.length === 0) return this.#ofType(schema, type, depth);
    return fc.oneof(...[type, ...others].map((each) => this.#ofType(schema, each, depth)));
  }

  #refer(schema: Schema, depth: number): Arbitrary<unknown> {
    const [file = '', path = ''] = (schema.$ref ?? '').split('#');
    const document = file === '' ? this.#document : documents.get(file);
    if (!document) throw new Error(`There is no schema ${file}.`);
    const structures = file === '' ? this : new Structures(document, this.#patterns);
    let target: unknown = document;
    for (const key of path.split('/').slice(1)) target = (target as Schema)[key];
    return structures.of(target as Schema, depth - 1);
  }

  #ofType(schema: Schema, type: string | undefined, depth: number): Arbitrary<unknown> {
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return this.#string(schema);
      case 'integer':
      case 'number':
        return numberOf(schema, type);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case undefined:
      default:
        return smallJson;
    }
  }

  #object(schema: Schema, depth: number): Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties: others } = schema;
    const names = Object.keys(properties).filter(
      (name, nth) =>
        (properties[name] as unknown) !== false &&
        (depth > 0 || required.includes(name) || (nth === 0 && 'minProperties' in schema)),
    );
    const model = Object.fromEntries(
      names.map((name) => [name, this.of(properties[name] ?? {}, depth - 1)]),
    );
    const needsOne = Number(schema['minProperties'] ?? 0) > 0 && required.length === 0;
    const requiredKeys = names.filter(
      (name, nth) => required.includes(name) || (needsOne && nth === 0),
    );
    const named = fc.record(model, { requiredKeys });
    if (others === false || depth <= 0) return named;
    const value = typeof others === 'object' ? this.of(others as Schema, depth - 1) : smallJson;
    const key = fc.constantFrom(...IDS, ...WORDS.slice(0, 20));
    const extra = fc.dictionary(key, value, { maxKeys: typeof others === 'object' ? 3 : 1 });
    return fc.tuple(named, extra).map(([own, more]) => ({ ...more, ...own }));
  }

  #array(schema: Schema, depth: number): Arbitrary<unknown> {
    const { minItems = 0, maxItems = Infinity } = schema as {
      minItems?: number;
      maxItems?: number;
    };
    const items = (schema['items'] ?? {}) as Schema;
    const maxLength = Math.max(minItems, Math.min(maxItems, ITEMS_MAX[depth] ?? 0));
    return fc.array(this.of(items, depth - 1), { minLength: minItems, maxLength });
  }

  #string(schema: Schema): Arbitrary<string> {
    if (schema['format'] === 'iso8601') return isoTimes;
    const pattern = schema['pattern'] as string | undefined;
    if (pattern === undefined) return texts;
    return this.#patterns[pattern] ?? patternTexts(pattern);
  }
}

/** Returns the schemas of which one applies, without conditions. */
function listBranches(schema: Schema): Schema[] {
  const { allOf, if: condition, then: yes = {}, else: no = {}, ...rest } = schema;
  if (condition) return [merge(merge(rest, condition), yes), merge(rest, no)];
  if (!allOf) return [];
  const conditions = allOf.filter((each) => each.if);
  const base = allOf.filter((each) => !each.if).reduce(merge, rest);
  if (conditions.length === 0) return [base];
  return conditions.map((chosen) => {
    // Another condition may apply as well.
    const others = conditions
      .filter((each) => each !== chosen)
      .map((each) => ({ ...each.else, required: requiredBy(base, each) }));
    return [chosen.if ?? {}, chosen.then ?? {}, ...others].reduce(merge, base);
  });
}

/** Returns the properties of a schema that a condition requires in one case or the other. */
const requiredBy = ({ properties = {} }: Schema, condition: Schema): string[] =>
  [condition.then, condition.else]
    .flatMap((each) => each?.required ?? [])
    .filter((name) => name in properties && name !== 'params');

/** Returns a schema with the keywords of two. */
function merge(a: Schema, b: Schema): Schema {
  if (b.$ref !== undefined && !a.properties) return b;
  const { properties = {}, required = [] } = a;
  const names = Object.entries(b.properties ?? {}).map(([name, schema]): [string, Schema] => {
    const own = properties[name];
    return [name, own && typeof schema === 'object' ? merge(own, schema) : schema];
  });
  return {
    ...a,
    ...b,
    ...((a.properties ?? b.properties) && {
      properties: { ...properties, ...Object.fromEntries(names) },
    }),
    ...((a['items'] ?? b['items']) !== undefined && {
      items: merge((a['items'] ?? {}) as Schema, (b['items'] ?? {}) as Schema),
    }),
    required: [...new Set([...required, ...(b.required ?? [])])],
  };
}

function guessType(schema: Schema): string | undefined {
  if (schema.properties || 'additionalProperties' in schema) return 'object';
  if ('items' in schema) return 'array';
  if ('pattern' in schema || 'format' in schema) return 'string';
  return undefined;
}

const texts: Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('Where is my order?', 'Order 17, please.', 'yes', ...IDS),
  },
  { weight: 2, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
);

const isoTimes: Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('2026-11-20T09:30:00Z', '2026-11-21', '2026-11-20T10:00'),
  },
  {
    weight: 2,
    arbitrary: fc
      .date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9999-12-31') })
      .map((date) => date.toISOString()),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('2026-W47-5', '20261120', '2026-11-20T09:30:00.123456789+05:30'),
  },
);

/** A set of characters with a number of repetitions, after look-aheads. */
const REPEATED_SET = /^\^(?:\(\?!.*?\))?\[((?:\\.|[^\]\\])+)\]\{(\d+),(\d+)\}\$$/;

const ALPHABET = Array.from('abcZ019_.-+/=~ !"#$%&\'()*,:;<>?@[\\]^`{|}\t\n\r\0é٣👋\u202e');

/** Returns texts that match a pattern, mostly short ones. */
function patternTexts(pattern: string): Arbitrary<string> {
  const expression = new RegExp(pattern);
  const [, set, least = 0, most = 0] = REPEATED_SET.exec(pattern) ?? [];
  if (set === undefined) return fc.stringMatching(expression);
  const [min, max] = [Number(least), Number(most)];
  const one = new RegExp(`^[${set}]$`);
  const characters = ALPHABET.filter((character) => one.test(character));
  const [first = 'a'] = characters;
  const fitting = [...IDS, ...WORDS, first.repeat(min), first.repeat(max)].filter((word) =>
    expression.test(word),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...fitting.slice(0, IDS.length)) },
    { weight: 1, arbitrary: fc.constantFrom(...fitting) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.constantFrom(...characters), {
          minLength: min,
          maxLength: Math.max(min, Math.min(max, 12)),
        })
        .map((parts) => parts.join('').slice(0, max))
        .filter((text) => expression.test(text)),
    },
  );
}

function numberOf(schema: Schema, type: string): Arbitrary<number> {
  const isInteger = type === 'integer';
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  const min = minimum ?? (isInteger ? -(2 ** 53) + 1 : -1e308);
  const max = maximum ?? (isInteger ? 2 ** 53 - 1 : 1e308);
  const fitting = NUMBERS.filter(
    (value) => value >= min && value <= max && (!isInteger || Number.isInteger(value)),
  );
  const any = isInteger
    ? fc.maxSafeInteger().map((value) => Math.min(max, Math.max(min, value)))
    : fc.double({ min, max, noNaN: true });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(min, max, ...fitting) },
    { weight: 1, arbitrary: any },
    {
      weight: 1,
      arbitrary: fc.integer({
        min: Math.ceil(Math.max(min, -10)),
        max: Math.max(Math.ceil(Math.max(min, -10)), Math.floor(Math.min(max, 10))),
      }),
    },
  );
}
