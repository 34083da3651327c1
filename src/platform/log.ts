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

/** The levels of log lines with their numbers, which are those of pino: log collectors know them. */
const levelNumbers = { info: 30, warn: 40, error: 50 };

/** The lowest level that is logged. */
export type LogLevel = 'silent' | keyof typeof levelNumbers;

/** Creates a log that writes one JSON object per line to a stream. */
export function createLog(level: LogLevel, stream: { write(line: string): unknown }): Log {
  const lowestNumber = level === 'silent' ? Infinity : levelNumbers[level];
  const write = (number: number, event: string, fields: LogFields = {}): void => {
    if (number < lowestNumber) return;
    const line = { level: number, time: Date.now(), ...fields, msg: event };
    stream.write(`${JSON.stringify(line)}\n`);
  };
  return {
    info: (event, fields) => write(levelNumbers.info, event, fields),
    warn: (event, fields) => write(levelNumbers.warn, event, fields),
    error: (event, fields) => write(levelNumbers.error, event, fields),
  };
}

/** A log that discards all lines. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
