import { systemClock } from './clock.ts';

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

/** The levels as numbers that log viewers know from pino and bunyan. */
const LEVELS = { info: 30, warn: 40, error: 50, silent: Infinity };

/** Creates a log that writes one JSON object per line to a stream. */
export function createLog(lowest: LogLevel, stream: { write(line: string): unknown }): Log {
  const createWriter = (name: keyof Log): Log[typeof name] => {
    const level = LEVELS[name];
    if (level < LEVELS[lowest]) return () => undefined;
    return (msg, fields) => {
      stream.write(`${JSON.stringify({ level, time: systemClock.nowMs(), ...fields, msg })}\n`);
    };
  };
  return {
    info: createWriter('info'),
    warn: createWriter('warn'),
    error: createWriter('error'),
  };
}

/** A log that discards all lines. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
