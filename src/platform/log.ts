import { pino } from 'pino';

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

/** The lowest level that is logged. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info';

/** Creates a log that writes one JSON object per line to a stream. */
export function createLog(level: LogLevel, stream: { write(line: string): unknown }): Log {
  const lines = pino({ level, base: null }, { write: (line) => void stream.write(line) });
  return {
    info: (event, fields = {}) => lines.info(fields, event),
    warn: (event, fields = {}) => lines.warn(fields, event),
    error: (event, fields = {}) => lines.error(fields, event),
  };
}

/** A log that discards all lines. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
