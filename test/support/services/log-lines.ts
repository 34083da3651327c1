import type { Log, LogFields } from '../../../src/platform/log.ts';

/** Creates a log that collects its lines as JSON. */
export function createLineLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (event: string, fields: LogFields = {}): void =>
    void lines.push(JSON.stringify({ event, ...fields }));
  return { log: { info: write, warn: write, error: write }, lines };
}
