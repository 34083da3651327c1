import { schemas } from './generated/schemas.ts';
import type { Messages } from './generated/types.ts';
import { describePattern, isIdPattern } from './describe-pattern.ts';
import { findMisspelled, isRespelled } from './spelling.ts';
import { validatorOf, type AjvError } from './validators.ts';
import { escapePointerKey, unescapePointerKey } from '../platform/json-pointer.ts';
import { isSecretField } from '../platform/secret-names.ts';

/** Name of a message: the title of its schema. */
export type MessageName = keyof Messages;

type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';

/** What a schema expects: a type, one of its literals, a time (ISO 8601), an id, any value, or no field. */
type ExpectedKind = JsonType | 'literal' | 'time' | 'id' | 'any' | 'absent';

/** A place where a value does not match its schema. */
export interface Violation {
  /** JSON pointer (RFC 6901) to the place; for a missing property, where it belongs. */
  pointer: string;
  kind: ExpectedKind;
  /** The kind in words, e.g. "an integer" or "one of active, inactive, pending". */
  expected: string;
  /** The constant, the first value of a list, or the least number, if the schema has one. */
  example?: unknown;
  /** The actual value, shortened; "nothing" if it is missing, and the misspelled name if there is one. */
  received: string;
  /** For a missing field: the name under which it seems to be. */
  found?: string;
  /** For an unknown field: the fields that the schema has. */
  fields?: string[];
}

interface SchemaNode {
  [keyword: string]: unknown;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, SchemaNode>;
}

const documents: Record<string, SchemaNode> = Object.fromEntries(
  Object.values(schemas).map((schema) => [schema.$id, schema as unknown as SchemaNode]),
);

/** Returns every place where `value` does not match the schema of the message; empty if it matches. */
export function findViolations(name: MessageName, value: unknown): Violation[] {
  const validate = validatorOf(name);
  if (validate(value)) return [];
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => toViolation(error, name, value));
}

/** Returns whether `value` matches the schema of the message. */
export function isMessage<Name extends MessageName>(
  name: Name,
  value: unknown,
): value is Messages[Name] {
  return validatorOf(name)(value);
}

/** Describes the first three violations in one clause and counts the rest. */
export function describeViolations(violations: readonly Violation[]): string {
  const shown = violations
    .slice(0, 3)
    .map(
      ({ pointer, expected, received }) =>
        `${pointer || 'the body'} must be ${expected}, got ${received}`,
    );
  const more = violations.length > 3 ? `; and ${violations.length - 3} more` : '';
  return shown.join('; ') + more;
}

/** Returns the value at a JSON pointer, or undefined if there is none. */
export function resolvePointer(value: unknown, pointer: string): unknown {
  let target = value;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof target !== 'object' || target === null) return undefined;
    const name = unescapePointerKey(key);
    if (!Object.hasOwn(target, name)) return undefined;
    target = (target as Record<string, unknown>)[name];
  }
  return target;
}

/** Returns the array at a JSON pointer; an empty array if it is absent. */
export function listAt(value: unknown, pointer: string): unknown[] {
  const list = resolvePointer(value, pointer);
  return Array.isArray(list) ? list : [];
}

/**
 * Formats a value as one line of JSON of at most 72 characters, without API keys; "nothing" for
 * undefined.
 */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON.stringify turns an infinite number, such as 1e999, into null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value, createPreviewer());
  return text.length > FORMATTED_LENGTH_MAX
    ? `${text.slice(0, FORMATTED_LENGTH_MAX - 3)}...`
    : text;
}

/** A user id of maximum length fits in, with quotes. */
const FORMATTED_LENGTH_MAX = 72;

/**
 * Returns a replacer that hides keys, and leaves out what the first characters can't show, so that
 * a value of megabytes is formatted as fast as a small one.
 */
function createPreviewer(): (name: string, value: unknown) => unknown {
  let visited = 0;
  return (name, value) => {
    visited += 1;
    if (visited > PREVIEW_ITEMS) return null;
    if (typeof value === 'string') return String(hideKeys(name, value)).slice(0, PREVIEW_ITEMS);
    if (Array.isArray(value)) return (value as unknown[]).slice(0, PREVIEW_ITEMS);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).slice(0, PREVIEW_ITEMS));
  };
}

// Each item of a JSON text has at least two characters, such as "0,".
const PREVIEW_ITEMS = FORMATTED_LENGTH_MAX + 1;

function hideKeys(name: string, value: unknown): unknown {
  return isSecretField(name) && typeof value === 'string' ? '(hidden)' : value;
}

function toViolation(error: AjvError, name: MessageName, value: unknown): Violation {
  const { missingProperty, additionalProperty } = error.params;
  const key = missingProperty ?? additionalProperty;
  const pointer =
    key === undefined ? error.instancePath : `${error.instancePath}/${escapePointerKey(key)}`;
  const last = pointer.slice(pointer.lastIndexOf('/') + 1);
  const received = resolvePointer(value, pointer);
  const isTooLong = error.keyword === 'maxItems' && Array.isArray(received);
  const found =
    missingProperty === undefined
      ? undefined
      : findMisspelled(
          missingProperty,
          keysAt(value, error.instancePath),
          listFields(name, error.instancePath),
        );
  return {
    pointer,
    ...describeExpectation(findExpectedNode(error, name, pointer)),
    received:
      found !== undefined
        ? describeMisspelled(found, last)
        : isTooLong
          ? `${received.length} items`
          : formatValue(hideKeys(last, received)),
    ...(found !== undefined && { found }),
    ...(additionalProperty !== undefined && { fields: listFields(name, error.instancePath) }),
  };
}

function keysAt(value: unknown, pointer: string): string[] {
  const parent = resolvePointer(value, pointer);
  return typeof parent === 'object' && parent !== null ? Object.keys(parent) : [];
}

/** Describes a field with another name: "nothing: found `userId`; the name is `user_id`". */
export const describeMisspelled = (found: string, name: string): string =>
  `nothing: found \`${formatName(found)}\`; the name is \`${name}\``;

const formatName = (name: string): string => formatValue(name).slice(1, -1);

/** A field that a message has under another name. */
export interface MisspelledField {
  /** JSON pointer to the object that has it. */
  pointer: string;
  found: string;
  name: string;
  /** Whether the message is invalid without it. */
  isRequired: boolean;
}

/**
 * Returns the fields of a message that have their names in another spelling, at every level. A required
 * field may also have one wrong letter; for an optional one, that would be a guess.
 */
export function findMisspelledFields(name: MessageName, value: unknown): MisspelledField[] {
  const required = findViolations(name, value).flatMap(({ pointer, found }) => {
    const end = pointer.lastIndexOf('/');
    return found === undefined
      ? []
      : [{ pointer: pointer.slice(0, end), found, name: pointer.slice(end + 1), isRequired: true }];
  });
  const isListed = (field: MisspelledField): boolean =>
    required.some(({ pointer, found }) => pointer === field.pointer && found === field.found);
  const optional = findRespelledFields(name, value, '').filter((field) => !isListed(field));
  return [...required, ...optional];
}

function findRespelledFields(
  name: MessageName,
  value: unknown,
  pointer: string,
): MisspelledField[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = listFields(name, pointer);
  const keys = Object.keys(value);
  const own = Array.isArray(value)
    ? []
    : fields
        .filter((field) => !keys.includes(field))
        .flatMap((field) =>
          keys
            .filter((key) => !fields.includes(key) && isRespelled(key, field))
            .map((found) => ({ pointer, found, name: field, isRequired: false })),
        );
  const inner = Object.entries(value)
    .filter(([key]) => Array.isArray(value) || fields.includes(key))
    .flatMap(([key, item]) => findRespelledFields(name, item, `${pointer}/${key}`));
  return [...own, ...inner];
}

/** Returns the schema node that an error is about; undefined if the schema has no such field. */
function findExpectedNode(
  { keyword, schemaPath, params }: AjvError,
  name: MessageName,
  pointer: string,
): SchemaNode | undefined {
  if (keyword === 'false schema' || keyword === 'additionalProperties') return undefined;
  // Either "#/properties/..." in this schema or "other.schema.json/properties/..." in another one.
  const [, file, path = ''] = /^([^#/]*)#?(.*)$/.exec(schemaPath) ?? [];
  const parent = path.slice(0, path.lastIndexOf('/'));
  const node = resolvePointer(documents[file || schemas[name].$id], parent) as
    SchemaNode | undefined;
  const target = params.missingProperty ? node?.properties?.[params.missingProperty] : node;
  const expected = followRef(target ?? {});
  // In a referenced schema, the path starts at that schema without naming it.
  return kindOf(expected) === 'any' ? followRef(findNode(name, pointer)) : expected;
}

/** Returns the schema node for a place in a message; an empty node if there is none. */
function findNode(name: MessageName, pointer: string): SchemaNode {
  let node = schemas[name] as unknown as SchemaNode;
  for (const key of pointer.split('/').slice(1)) {
    const target = followRef((node['else'] ?? node) as SchemaNode);
    const items = target['items'] as SchemaNode | undefined;
    node = target.properties?.[key] ?? items ?? {};
  }
  return node;
}

/** Returns the names of the fields that the schema has at a place in a message. */
function listFields(name: MessageName, pointer: string): string[] {
  const node = findNode(name, pointer);
  const { properties = {} } = followRef((node['else'] ?? node) as SchemaNode);
  return Object.keys(properties);
}

/** Returns the words that the schema allows at a place in a message; none if it allows any text. */
export function findAllowedWords(name: MessageName, pointer: string): string[] {
  return (followRef(findNode(name, pointer)).enum ?? []).filter((word) => typeof word === 'string');
}

const typeWords: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
};

function kindOf(node: SchemaNode): ExpectedKind {
  if (node['not']) return 'absent';
  if (node.const !== undefined || node.enum) return 'literal';
  if (node['format'] === 'iso8601') return 'time';
  if (isIdPattern(String(node['pattern']))) return 'id';
  return typeWords[node.type ?? ''] === undefined ? 'any' : (node.type as ExpectedKind);
}

/** Describes what a schema node expects; without a node, the field must be absent. */
function describeExpectation(
  node: SchemaNode | undefined,
): Pick<Violation, 'kind' | 'expected' | 'example'> {
  if (!node) return { kind: 'absent', expected: 'absent' };
  const example = node.const ?? node.enum?.[0] ?? node['minimum'];
  return {
    kind: kindOf(node),
    expected: describeNode(node),
    ...(example !== undefined && { example }),
  };
}

/** Describes in words what a schema node expects. */
function describeNode(node: SchemaNode): string {
  // A field that other fields rule out: the description says when it must be absent.
  if (node['not']) return String(node['description']);
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return `one of ${node.enum.map((item) => JSON.stringify(item)).join(', ')}`;
  if (node['format'] === 'iso8601') return 'an ISO 8601 time';
  if (typeof node['pattern'] === 'string') return describePattern(node['pattern']);
  const words = typeWords[node.type ?? ''] ?? 'a value';
  const { minimum, maximum, minItems, maxItems } = node as Record<string, number | undefined>;
  if (minimum !== undefined && maximum !== undefined)
    return `${words} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${words} of at least ${minimum}`;
  if (minItems !== undefined && maxItems !== undefined)
    return `${words} of ${minItems} to ${maxItems}`;
  if (minItems !== undefined) return `${words} of at least ${minItems}`;
  if (maxItems !== undefined) return `${words} of at most ${maxItems}`;
  return words;
}

/** Returns the schema node that a `$ref` refers to, or the node itself if it has none. */
function followRef(node: SchemaNode): SchemaNode {
  const ref = node['$ref'];
  if (typeof ref !== 'string') return node;
  const [file = '', path = ''] = ref.split('#');
  if (file) return resolvePointer(documents[file], path) as SchemaNode;
  // A shared definition may be in any document.
  for (const document of Object.values(documents)) {
    const node = resolvePointer(document, path);
    if (node !== undefined) return node as SchemaNode;
  }
  throw new Error(`No schema found at ${ref}.`);
}
