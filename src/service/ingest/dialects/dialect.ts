import type { TraceSpan } from '../../../contract/index.ts';

/**
 * A dialect of traces: how an SDK or an instrumentation writes the spans of an agent, what the service
 * can't read of it, and what mends that. Each text is a cause and a cure that its documentation or
 * source confirms; where no setting helps, it says so.
 */
export interface Dialect {
  /** The name that users know. */
  name: string;
  /** Any of these is enough. */
  marks: readonly Marks[];
  /** About spans without `gen_ai.operation.name`, which are ignored. */
  withoutOperation?: string;
  /** About chat spans without `gen_ai.input.messages` and `gen_ai.output.messages`. */
  withoutMessages?: string;
  /** About spans whose operation makes no turn although they are model calls. */
  withoutTurn?: string;
  /** How to set `gen_ai.conversation.id`. */
  conversationId?: string;
}

/**
 * How to recognize a span of the dialect: every list that is present must contain a match. A `*` at the
 * end of a name stands for any text.
 */
export interface Marks {
  scopes?: readonly string[];
  attributes?: readonly string[];
  events?: readonly string[];
  operations?: readonly string[];
  /** `telemetry.sdk.language` of the resource. */
  languages?: readonly string[];
  spanName?: RegExp;
  /** Values of attributes. */
  values?: Readonly<Record<string, string>>;
}

/** What a dialect explains about a span. */
export type DialectTopic = Exclude<keyof Dialect, 'name' | 'marks'>;

/** Returns the first dialect that matches a span and has a text on the topic. */
export function findDialect<Topic extends DialectTopic>(
  dialects: readonly Dialect[],
  span: TraceSpan,
  topic: Topic,
): (Dialect & Record<Topic, string>) | undefined {
  const hasTopic = (dialect: Dialect): dialect is Dialect & Record<Topic, string> =>
    dialect[topic] !== undefined;
  return dialects.find(
    (dialect) => hasTopic(dialect) && dialect.marks.some((marks) => matches(marks, span)),
  ) as (Dialect & Record<Topic, string>) | undefined;
}

function matches(marks: Marks, span: TraceSpan): boolean {
  const { attributes, resource, scope, eventNames = [], name } = span;
  const language = resource['telemetry.sdk.language'];
  const { values = {} } = marks;
  return (
    includesMatch(marks.scopes, () => [scope]) &&
    includesMatch(marks.languages, () => [language]) &&
    includesMatch(marks.events, () => eventNames) &&
    includesMatch(marks.operations, () => [attributes['gen_ai.operation.name']]) &&
    includesMatch(marks.attributes, () => Object.keys(attributes)) &&
    (marks.spanName?.test(name) ?? true) &&
    Object.entries(values).every(([key, value]) => attributes[key] === value)
  );
}

function includesMatch(
  patterns: readonly string[] | undefined,
  listNames: () => readonly unknown[],
): boolean {
  if (patterns === undefined) return true;
  const names = listNames().filter((name) => typeof name === 'string');
  return patterns.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  );
}
