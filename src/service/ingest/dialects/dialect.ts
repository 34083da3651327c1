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
  /** The ignored spans lose something even if their trace has a readable turn. */
  isLossInReadableTraces?: true;
  /** About chat spans without `gen_ai.input.messages` and `gen_ai.output.messages`. */
  withoutMessages?: string;
  /** About chat spans with `gen_ai.output.messages` only. */
  withoutInput?: string;
  /** About execute_tool spans without arguments and result. */
  withoutToolDetails?: string;
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
export type DialectTopic = Exclude<keyof Dialect, 'name' | 'marks' | 'isLossInReadableTraces'>;

/** Returns the first dialect that matches a span and has a text on the topic. */
export function findDialect<Topic extends DialectTopic>(
  dialects: readonly Dialect[],
  span: TraceSpan,
  topic: Topic,
): (Dialect & Record<Topic, string>) | undefined {
  // A request can have 100,000 spans, so their keys are listed once and not for each dialect.
  const names: SpanNames = {
    scope: [span.scope],
    attributes: Object.keys(span.attributes),
    events: span.eventNames ?? [],
  };
  const hasTopic = (dialect: Dialect): dialect is Dialect & Record<Topic, string> =>
    dialect[topic] !== undefined;
  for (const dialect of dialects) {
    if (!hasTopic(dialect)) continue;
    if (dialect.marks.some((marks) => matches(marks, span, names))) return dialect;
  }
  return undefined;
}

/** The names of a span that `Marks` have patterns for. */
type SpanNames = Record<'scope' | 'attributes' | 'events', readonly string[]>;

function matches(marks: Marks, span: TraceSpan, names: SpanNames): boolean {
  const { attributes, resource, name } = span;
  return (
    includesMatch(marks.scopes, names.scope) &&
    includesMatch(marks.attributes, names.attributes) &&
    includesMatch(marks.events, names.events) &&
    includesValue(marks.operations, attributes['gen_ai.operation.name']) &&
    includesValue(marks.languages, resource['telemetry.sdk.language']) &&
    (marks.spanName?.test(name) ?? true) &&
    Object.entries(marks.values ?? {}).every(([key, value]) => attributes[key] === value)
  );
}

function includesMatch(patterns: readonly string[] | undefined, names: readonly string[]): boolean {
  return (
    patterns === undefined ||
    patterns.some((pattern) =>
      pattern.endsWith('*')
        ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
        : names.includes(pattern),
    )
  );
}

function includesValue(values: readonly string[] | undefined, value: unknown): boolean {
  return values === undefined || (typeof value === 'string' && values.includes(value));
}
