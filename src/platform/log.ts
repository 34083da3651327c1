import { createRequire } from 'node:module';
import type { pino } from 'pino';

const requireLibrary = createRequire(import.meta.url);

/**
 * Writes structured log lines. Events and fields are names in snake_case, such as `eval_errored`. Fields
 * never contain conversation text or keys.
 */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Record<string, string | number | boolean | null>;

/** The levels of lines, lowest first. */
const levels = ['info', 'warn', 'error'] as const;

/** The lowest level that is logged. */
export type LogLevel = 'silent' | (typeof levels)[number];

/**
 * Creates a log that writes one JSON object per line to a stream. It loads pino with the first line,
 * because that takes 10 ms, and most commands write no line.
 */
export function createLog(level: LogLevel, stream: { write(line: string): unknown }): Log {
  let lines: pino.Logger | undefined;
  const load = (): pino.Logger => {
    const library = requireLibrary('pino') as { pino: typeof pino };
    return library.pino({ level, base: null }, { write: (line) => void stream.write(line) });
  };
  const logged = level === 'silent' ? [] : levels.slice(levels.indexOf(level));
  const writeAt =
    (at: (typeof levels)[number]) =>
    (event: string, fields: LogFields = {}): void => {
      if (logged.includes(at)) (lines ??= load())[at](fields, event);
    };
  return { info: writeAt('info'), warn: writeAt('warn'), error: writeAt('error') };
}

/** A log that discards all lines. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
