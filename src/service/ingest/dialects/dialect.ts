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
export type FindDialect = <Topic extends DialectTopic>(
  span: TraceSpan,
  topic: Topic,
) => (Dialect & Record<Topic, string>) | undefined;

/** Maximum number of shapes of spans to remember. */
const SHAPES_MAX = 1_000;

/**
 * Creates a function that finds the dialects of the spans of one request. It remembers the dialect of
 * each shape of spans: a request can have 100,000 spans, but few shapes of them.
 */
export function createDialectFinder(dialects: readonly Dialect[]): FindDialect {
  const marks = dialects.flatMap((dialect) => dialect.marks);
  const valueKeys = new Set(marks.flatMap(({ values = {} }) => Object.keys(values)));
  const namePatterns = marks.flatMap(({ spanName }) => spanName ?? []);
  const byShape = new Map<string, Dialect | undefined>();
  /** Returns everything about a span that `matches` reads. */
  const shapeOf = ({ scope, eventNames = [], attributes, resource, name }: TraceSpan): string =>
    [
      ...[scope, textOf(resource['telemetry.sdk.language']), textOf(attributes[OPERATION])],
      ...Array.from(valueKeys, (key) => textOf(attributes[key])),
      ...namePatterns.map((pattern) => pattern.test(name)),
      ...[...eventNames, '', ...Object.keys(attributes)],
    ].join('\n');
  return <Topic extends DialectTopic>(span: TraceSpan, topic: Topic) => {
    const shape = `${topic}\n${shapeOf(span)}`;
    const isKnown = byShape.has(shape);
    const dialect = isKnown ? byShape.get(shape) : findDialect(dialects, span, topic);
    if (!isKnown && byShape.size < SHAPES_MAX) byShape.set(shape, dialect);
    return dialect as (Dialect & Record<Topic, string>) | undefined;
  };
}

const OPERATION = 'gen_ai.operation.name';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function findDialect(
  dialects: readonly Dialect[],
  span: TraceSpan,
  topic: DialectTopic,
): Dialect | undefined {
  const names: SpanNames = {
    scope: [span.scope],
    attributes: Object.keys(span.attributes),
    events: span.eventNames ?? [],
  };
  return dialects.find(
    (dialect) =>
      dialect[topic] !== undefined && dialect.marks.some((marks) => matches(marks, span, names)),
  );
}

/** The names of a span that `Marks` have patterns for. */
type SpanNames = Record<'scope' | 'attributes' | 'events', readonly string[]>;

function matches(marks: Marks, span: TraceSpan, names: SpanNames): boolean {
  const { attributes, resource, name } = span;
  return (
    includesMatch(marks.scopes, names.scope) &&
    includesMatch(marks.attributes, names.attributes) &&
    includesMatch(marks.events, names.events) &&
    includesValue(marks.operations, attributes[OPERATION]) &&
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
