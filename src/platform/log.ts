import { pino, destination } from 'pino';

/**
 * Structured lines on stderr. Fields name things and count them; the text of a conversation and the
 * value of a key are never among them.
 */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Record<string, string | number | boolean | null>;

/** How much is logged. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info';

/** A log on stderr, one JSON object a line. stdout is left alone: its first line is an interface. */
export function stderrLog(level: LogLevel): Log {
  const lines = pino({ level, base: null }, destination({ fd: 2, sync: true }));
  return {
    info: (event, fields = {}) => lines.info(fields, event),
    warn: (event, fields = {}) => lines.warn(fields, event),
    error: (event, fields = {}) => lines.error(fields, event),
  };
}

/** A log that says nothing. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
