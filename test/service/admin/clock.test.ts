/** The service clock, and the times in queries and documents. */
import t from 'tap';
import { createAdjustableClock } from '../../../src/platform/adjustable-clock.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { parseIsoTime } from '../../../src/contract/index.ts';

const START_MS = Date.UTC(2026, 10, 20);

void t.test(
  'timers fire in order at their due times, on a manual clock and on the system clock',
  async (t) => {
    const baseClock = manualClock(START_MS);
    const clock = createAdjustableClock(baseClock);
    const fired: [string, number][] = [];
    const note = (name: string) => () => {
      fired.push([name, clock.nowMs() - START_MS]);
    };
    clock.deadline(300).signal.addEventListener('abort', note('300'));
    clock.deadline(100).signal.addEventListener('abort', note('100'));
    const disposed = clock.deadline(50);
    disposed.signal.addEventListener('abort', note('never'));
    disposed[Symbol.dispose]();
    clock.deadline(1000).signal.addEventListener('abort', note('1000'));

    clock.advance(400);
    t.same(fired, [
      ['100', 100],
      ['300', 300],
    ]);
    t.equal(clock.nowMs() - START_MS, 400);
    t.equal(clock.monotonicMs(), 400);
    baseClock.advance(1000);
    await Promise.resolve();
    t.match(fired[2], ['1000']);
    t.equal(fired.length, 3, 'no timer fires twice');
    t.equal(clock.nowMs() - START_MS, 1400);
  },
);

void t.test(
  'a sleep ends when the clock advances, or rejects with the reason of its signal',
  async (t) => {
    const clock = createAdjustableClock(manualClock(START_MS));
    const sleep = clock.sleep(1000);
    clock.advance(1000);
    await sleep;
    const controller = new AbortController();
    const aborted = clock.sleep(1000, controller.signal);
    controller.abort(new Error('enough'));
    await t.rejects(aborted, { message: 'enough' });
    await t.rejects(clock.sleep(1000, controller.signal), { message: 'enough' });
  },
);

void t.test(
  'setting the clock forward fires due timers; setting it back delays no timer',
  async (t) => {
    const baseClock = manualClock(START_MS);
    const clock = createAdjustableClock(baseClock);
    const setNow = (setMs: number): void =>
      clock.setOffset(clock.planOffset(clock.offset(), { setMs }));
    setNow(START_MS - 5000);
    t.equal(clock.nowMs(), START_MS - 5000);
    t.equal(clock.monotonicMs(), 0, 'never goes back');
    const sleep = clock.sleep(1000);
    baseClock.advance(1000);
    await sleep;
    t.equal(clock.nowMs(), START_MS - 4000);
    const later = clock.sleep(3000);
    setNow(START_MS);
    await later;
  },
);

void t.test('parsed times equal those of Date.parse if it can parse them', (t) => {
  for (const iso of [
    '2026-11-20',
    '2026-11-20T09:30Z',
    '2026-11-20T09:30:15.123Z',
    '2026-11-20T09:30:15+05:30',
    '2026-11-20T00:00:00-11:00',
    '2024-02-29T23:59:59.999Z',
    '2000-01-01T24:00:00Z',
    '0099-12-31T00:00:00Z',
    '1969-12-31T23:59:59Z',
  ]) {
    t.equal(parseIsoTime(iso), Date.parse(iso), iso);
  }
  t.end();
});

void t.test('every ISO 8601 form of an instant is parsed to the same time', (t) => {
  const noonMs = Date.UTC(2026, 10, 20, 12, 30);
  for (const iso of [
    '2026-11-20T12:30:00',
    '2026-11-20t12:30z',
    '20261120T1230Z',
    '2026-11-20T12.5',
    '2026-W47-5T12:30',
    '2026-324T12:30Z',
    '2026324T123000,000Z',
    '2026-11-20T14:30+02',
    '2026-11-20T14:30+0200',
    '2026-11-20T10:30\u221202:00',
  ]) {
    t.equal(parseIsoTime(iso), noonMs, iso);
  }
  t.equal(parseIsoTime('2026-01-01'), parseIsoTime('2026-W01-4'));
  t.equal(parseIsoTime('2021-01-03'), parseIsoTime('2020-W53-7'));
  for (const iso of ['2026-02-29', '2026-02-30T00:00Z', '2026W475', 'x', '', '2026-11-20T']) {
    t.equal(parseIsoTime(iso), undefined, iso);
  }
  t.end();
});
