import type { TraceSpan } from '../../contract/index.ts';
import type { IngestLogEntry } from '../store/store.ts';
import { createDialectFinder } from './dialects/dialect.ts';
import { dialects } from './dialects/table.ts';
import { dialectOutcomes, logMessages, type LogCode } from './log-messages.ts';

/** What a readable turn in the same trace makes up for. */
const REDUNDANT_IN_READABLE_TRACES: ReadonlySet<string> = new Set([
  'withoutOperation',
  'withoutTurn',
]);

/**
 * Collects the log entries of one request: one per code, about the first case, with a total count. So
 * a request of any size adds only a few entries.
 */
export class RequestLogEntries {
  readonly #entries = new Map<string, { entry: IngestLogEntry; count: number }>();
  readonly #readableTraces: ReadonlySet<string>;
  readonly #findDialect = createDialectFinder(dialects);

  /** The unreadable spans in `readableTraces` need no cure: readable ones have the same content. */
  constructor(readableTraces: ReadonlySet<string> = new Set()) {
    this.#readableTraces = readableTraces;
  }

  /** Adds a case. `about` holds ids, attribute names and numbers, never conversation text. */
  add(code: LogCode, about: IngestLogEntry['about'] = {}): void {
    const { level, message } = logMessages[code];
    this.#count(code, () => ({ level, code, message, about }));
  }

  /**
   * Adds what the table of dialects says about a span that can't be read. Returns false, and adds
   * nothing, if the dialect is unknown or the trace is readable anyway.
   */
  addDialect(
    outcome: keyof typeof dialectOutcomes,
    span: TraceSpan,
    about: IngestLogEntry['about'],
  ): boolean {
    const dialect = this.#findDialect(span, outcome);
    if (dialect === undefined) return false;
    const isRedundant = REDUNDANT_IN_READABLE_TRACES.has(outcome) && this.isInReadableTrace(span);
    if (isRedundant && dialect.isLossInReadableTraces !== true) return false;
    const { code, describe } = dialectOutcomes[outcome];
    this.#count(`${code} ${dialect.name}`, () => ({
      level: 'warn',
      code,
      message: `${describe(dialect.name)} ${dialect[outcome]}`,
      about: { sdk: dialect.name, scope: span.scope.slice(0, 100), ...about },
    }));
    return true;
  }

  /** Returns whether the request has a turn with text in the trace of a span. */
  isInReadableTrace({ traceId }: TraceSpan): boolean {
    return this.#readableTraces.has(traceId);
  }

  #count(key: string, createEntry: () => IngestLogEntry): void {
    const known = this.#entries.get(key);
    if (known) known.count++;
    else this.#entries.set(key, { entry: createEntry(), count: 1 });
  }

  /** Returns the entries in the order of their first cases. */
  entries(): IngestLogEntry[] {
    return Array.from(this.#entries.values(), ({ entry, count }) => ({
      ...entry,
      about: { ...entry.about, count },
    }));
  }
}
