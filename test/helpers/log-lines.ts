import type { Log, LogFields } from '../../src/platform/log.ts';

/** A log that is kept: every line as JSON. */
export function linesOf(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (event: string, fields: LogFields = {}): void =>
    void lines.push(JSON.stringify({ event, ...fields }));
  return { log: { info: write, warn: write, error: write }, lines };
}
