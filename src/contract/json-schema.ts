import { schemas } from './generated/schemas.ts';
import { ISO_8601 } from './iso8601.ts';
import type { MessageName } from './validate.ts';

/** A JSON Schema: an object of keywords, or true or false. */
export type JsonSchema = boolean | { [keyword: string]: unknown };

interface MessageSchema {
  title: MessageName;
  $id: string;
  $comment: string;
  description: string;
  definitions?: Record<string, JsonSchema>;
  [keyword: string]: unknown;
}

const messageById = new Map(
  Object.values(schemas).map((schema) => [
    schema.$id as string,
    schema as unknown as MessageSchema,
  ]),
);

/** The component for times. It has a pattern, because `date-time` would reject legal times. */
const isoTime = {
  title: 'IsoTime',
  description:
    'An ISO 8601 date with optional time and UTC offset. `2026-11-20T09:30:00Z` is one of many legal forms.',
  type: 'string',
  // The character itself, because some regular expression engines have no \u escapes.
  pattern: ISO_8601.source.replaceAll('\\u2212', '\u2212'),
};

const NOT_IN_COMPONENTS = new Set('$schema $id $comment definitions x-near-misses'.split(' '));
/** Keywords whose value is a schema, a list of schemas, and a map of schemas by name. */
const SCHEMA_KEYWORDS = new Set('items if then else not additionalProperties'.split(' '));
const LIST_KEYWORDS = new Set('anyOf allOf oneOf'.split(' '));
const MAP_KEYWORDS = new Set('properties patternProperties'.split(' '));

/**
 * Collects the schemas that a document refers to as its components. Every part of a message with a
 * title becomes a separate component, so that generated clients have a named type for it.
 */
export class SchemaComponents {
  readonly #components = new Map<string, JsonSchema>();

  /** Returns a reference to a message. */
  refer(name: MessageName): JsonSchema {
    const message = schemas[name] as unknown as MessageSchema;
    return this.#hoist(name, () => this.#convertMessage(message));
  }

  /** Returns a schema whose references point to the components. */
  convert(schema: JsonSchema): JsonSchema {
    return this.#convert(schema, undefined);
  }

  /** Returns all components by name, in alphabetical order. */
  list(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #hoist(name: string, create: () => JsonSchema): JsonSchema {
    if (!this.#components.has(name)) {
      // Reserves the name first, because a schema may refer to itself.
      this.#components.set(name, true);
      this.#components.set(name, create());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #convertMessage(message: MessageSchema): JsonSchema {
    const section = /^spec /.test(message.$comment) ? ` (${message.$comment})` : '';
    const description = message.description.replace(/\.$/, `${section}.`);
    return { ...this.#convertKeywords(message, message), description };
  }

  #convert(schema: JsonSchema, message: MessageSchema | undefined): JsonSchema {
    if (typeof schema === 'boolean') return schema;
    const { title } = schema;
    if (typeof title === 'string') {
      return this.#hoist(title, () => this.#convertKeywords(schema, message));
    }
    return this.#convertKeywords(schema, message);
  }

  #convertKeywords(
    schema: { [keyword: string]: unknown },
    message: MessageSchema | undefined,
  ): { [keyword: string]: unknown } {
    const { format, type, ...rest } = schema;
    if (format === 'iso8601') {
      return { ...rest, ...(this.#hoist(isoTime.title, () => isoTime) as object) };
    }
    const entries = Object.entries(schema)
      .filter(([keyword]) => !NOT_IN_COMPONENTS.has(keyword))
      .map(([keyword, value]) => [keyword, this.#convertKeyword(keyword, value, message)]);
    return Object.fromEntries(entries) as { [keyword: string]: unknown };
  }

  #convertKeyword(keyword: string, value: unknown, message: MessageSchema | undefined): unknown {
    if (keyword === '$ref') return this.#resolve(value as string, message);
    if (SCHEMA_KEYWORDS.has(keyword)) return this.#convert(value as JsonSchema, message);
    if (LIST_KEYWORDS.has(keyword)) {
      return (value as JsonSchema[]).map((schema) => this.#convert(schema, message));
    }
    if (MAP_KEYWORDS.has(keyword)) {
      const parts = Object.entries(value as Record<string, JsonSchema>);
      return Object.fromEntries(parts.map(([name, part]) => [name, this.#convert(part, message)]));
    }
    return value;
  }

  /** Returns the new address of a referenced message or definition. */
  #resolve(ref: string, message: MessageSchema | undefined): unknown {
    const other = messageById.get(ref);
    const [, name = ''] = /^#\/definitions\/(.+)$/.exec(ref) ?? [];
    const definition = message?.definitions?.[name];
    const target = other
      ? this.refer(other.title)
      : definition !== undefined && this.#convert(definition, message);
    if (typeof target !== 'object' || !('$ref' in target)) {
      throw new Error(`${ref} must refer to a message, or to a definition with a title.`);
    }
    return target['$ref'];
  }
}
