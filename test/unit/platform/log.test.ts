import t from 'tap';
import { createLog, type LogLevel } from '../../../src/platform/log.ts';

/** Logs a line of each level, and returns what was written. */
function logAll(lowest: LogLevel): string[] {
  const written: string[] = [];
  const log = createLog(lowest, { write: (line) => written.push(line) });
  log.info('agent_listening', { url: 'http://127.0.0.1:1', port: null });
  log.warn('slow');
  log.error('request_failed', { ms: 1.5, text: 'two\nlines' });
  return written;
}

void t.test('a line is JSON with the level, the time, the fields, and the event', (t) => {
  const withoutTime = logAll('info').map((line) => line.replace(/"time":\d{13},/, ''));
  t.same(withoutTime, [
    '{"level":30,"url":"http://127.0.0.1:1","port":null,"msg":"agent_listening"}\n',
    '{"level":40,"msg":"slow"}\n',
    '{"level":50,"ms":1.5,"text":"two\\nlines","msg":"request_failed"}\n',
  ]);
  t.end();
});

void t.test('lines below the lowest level are not written', (t) => {
  const counts = (['info', 'warn', 'error', 'silent'] as const).map((each) => logAll(each).length);
  t.same(counts, [3, 2, 1, 0]);
  t.end();
});
