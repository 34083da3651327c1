/** Log lines are JSON objects, from the given level on. */
import t from 'tap';
import { createLog, type LogLevel } from '../../../src/platform/log.ts';

function logAt(level: LogLevel): string[] {
  const lines: string[] = [];
  const log = createLog(level, { write: (line) => lines.push(line) });
  log.info('started');
  log.warn('file_missing', { file: 'a "b"\n.db', count: 2 });
  log.error('request_failed', { at: '' });
  return lines;
}

void t.test('a log line is one JSON object with level, time, fields, and event', (t) => {
  const lines = logAt('info');
  for (const line of lines) t.match(line, /^\{[^\n]*\}\n$/);
  t.match(
    lines.map((line) => JSON.parse(line) as unknown),
    [
      { level: 30, time: Number, msg: 'started' },
      { level: 40, time: Number, file: 'a "b"\n.db', count: 2, msg: 'file_missing' },
      { level: 50, time: Number, at: '', msg: 'request_failed' },
    ],
  );
  t.end();
});

void t.test('lines below the level are left out', (t) => {
  t.equal(logAt('warn').length, 2);
  t.equal(logAt('error').length, 1);
  t.equal(logAt('silent').length, 0);
  t.end();
});
