/** The unit of `uptime`, from how fast it grows. */
import t from 'tap';
import { requireSeconds } from '../../../conformance/areas/health/uptime.ts';
import type { Finding } from '../../../conformance/engine/checks/check.ts';
import { toExchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { RunRecord } from '../../../src/contract/index.ts';

/** Judges health reports that start at some times and take 4 ms. */
function judge(uptimeAt: (ms: number) => number, times = [0, 30, 31, 400]): Finding[] {
  const exchanges = times.map((ms, index) =>
    toExchange({
      record: 'exchange',
      id: index + 1,
      probe: 'preflight',
      step: 'plain',
      endpoint: 'health',
      intent: 'valid',
      request: { method: 'GET', path: '/', headers: {} },
      response: { status: 200, headers: {}, body: JSON.stringify({ uptime: uptimeAt(ms + 2) }) },
      startedMs: ms,
      endedMs: ms + 4,
    }),
  );
  const check = requireSeconds({
    evidence: () => exchanges,
    judge: () => [],
    unjudged: () => ({ verdict: 'blocked', reason: '' }),
  });
  return check.judge(exchanges, { run: {} as RunRecord, exchanges });
}

void t.test('seconds are right, even for a process that has just started', (t) => {
  for (const startMs of [0, 999, 86_400_000]) {
    t.same(
      judge((ms) => Math.round((startMs + ms) / 1000)),
      [],
    );
    t.same(
      judge((ms) => Math.floor((startMs + ms) / 1000), [0, 30, 31, 40_000]),
      [],
    );
  }
  t.end();
});

void t.test('smaller units are named', (t) => {
  const units = [
    [1, /^Divide it by 1,000: it seems to be in milliseconds\.$/],
    [1e3, /microseconds/],
    [1e6, /nanoseconds/],
  ] as const;
  for (const [perMs, hint] of units) {
    const [finding, ...others] = judge((ms) => Math.round((5_000 + ms) * perMs));
    t.match(finding, { exchange: 4, pointer: '/uptime', hint });
    t.same(others, []);
  }
  t.end();
});

void t.test('different processes have different uptimes', (t) => {
  const replicas = [100, 4_000_000, 7_200];
  let requests = 0;
  t.same(
    judge(() => replicas[requests++ % replicas.length] ?? 0),
    [],
  );
  t.same(
    judge((ms) => (ms < 100 ? 10 : 500)),
    [],
    'a second replica',
  );
  t.end();
});

void t.test('nothing is judged if no time passes between the reports', (t) => {
  t.same(
    judge((ms) => ms * 1e6, [0, 4, 5, 10]),
    [],
  );
  t.end();
});
