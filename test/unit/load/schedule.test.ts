/** Due times, pacing, deadlines, and markers of requests. */
import t from 'tap';
import { planLoad } from '../../../load/index.ts';
import { createDeadlines } from '../../../load/engines/deadlines.ts';
import { dueTimes } from '../../../load/schedule/due-times.ts';
import { mergeByTime, pace, type Due } from '../../../load/schedule/pace.ts';
import { createMarkers } from '../../../load/profiles/markers.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { loadOptions } from '../../support/measurements/run-load.ts';

const steady = (durationMs: number, rate: number) => [
  { durationMs, fromPerSecond: rate, toPerSecond: rate },
];

void t.test('uniform arrivals have equal gaps and do not drift', (t) => {
  const times = [...dueTimes(steady(60_000, 100), 'uniform', seededRandom('a'))];
  t.equal(times.length, 6_000);
  t.same(times.slice(0, 3), [0, 10, 20]);
  t.equal(times.at(-1), 59_990);
  t.equal([...dueTimes(steady(1_000, 3), 'uniform', seededRandom('a'))].length, 3);
  t.equal([...dueTimes(steady(3_000, 0.5), 'uniform', seededRandom('a'))].length, 2);
  t.end();
});

void t.test('the rate of a ramp rises steadily up to the steady state', (t) => {
  const ramp = { durationMs: 10_000, fromPerSecond: 10, toPerSecond: 100 };
  const times = [...dueTimes([ramp, ...steady(1_000, 100)], 'uniform', seededRandom('a'))];
  t.equal(times.length, 550 + 100);
  const gaps = times.slice(1, 550).map((time, nth) => time - (times[nth] ?? 0));
  t.ok(gaps.every((gap, nth) => nth === 0 || gap <= (gaps[nth - 1] ?? 0) + 1e-6));
  t.ok((gaps[0] ?? 0) > 90 && (gaps.at(-1) ?? 0) < 11);
  t.end();
});

void t.test('Poisson arrivals have the same mean rate and depend only on the seed', (t) => {
  const drawTimes = (seed: string): number[] => [
    ...dueTimes(steady(60_000, 100), 'poisson', seededRandom(seed)),
  ];
  const times = drawTimes('a');
  t.ok(Math.abs(times.length - 6_000) < 300, `${times.length} of about 6000`);
  const gaps = times.slice(1).map((time, nth) => time - (times[nth] ?? 0));
  const longShare = gaps.filter((gap) => gap > 10).length / gaps.length;
  t.ok(Math.abs(longShare - Math.exp(-1)) < 0.03, 'gaps are exponential');
  t.equal(drawTimes('a').join(), times.join());
  t.not(drawTimes('b').join(), times.join());
  t.end();
});

void t.test('late requests are sent immediately, and none is skipped', async (t) => {
  const clock = manualClock(0);
  const firedMs: number[] = [];
  const createDue = (atMs: number): Due => ({ atMs, fire: () => firedMs.push(atMs) });
  const odd = [1, 3, 5, 700].map(createDue);
  const even = [2, 4, 6, 800].map(createDue);
  const done = pace(mergeByTime([odd, even]), clock, new AbortController().signal);
  const flushMicrotasks = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  await flushMicrotasks();
  t.same(firedMs, [], 'no request is early');
  clock.advance(4);
  await flushMicrotasks();
  t.same(firedMs, [1, 2, 3, 4]);
  // After a long sleep of the machine, the four late requests are sent in order.
  clock.advance(10_000);
  await done;
  t.same(firedMs, [1, 2, 3, 4, 5, 6, 700, 800]);
});

void t.test('deadlines fire once, in order, unless they are canceled', async (t) => {
  const clock = manualClock(0);
  const firedMs: number[] = [];
  const deadlines = createDeadlines(clock);
  const flushMicrotasks = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  for (const atMs of [300, 100, 200]) deadlines.at(atMs, () => firedMs.push(atMs));
  const canceled = deadlines.at(150, () => firedMs.push(150));
  await flushMicrotasks();
  clock.advance(100);
  await flushMicrotasks();
  t.same(firedMs, [100]);
  canceled.cancel();
  clock.advance(500);
  await flushMicrotasks();
  t.same(firedMs, [100, 200, 300]);
  deadlines.at(5_000, () => firedMs.push(5_000));
  await flushMicrotasks();
  deadlines.close();
  clock.advance(10_000);
  await flushMicrotasks();
  t.same(firedMs, [100, 200, 300], 'closing cancels the rest');
});

void t.test('a plan has the numbers of requests and model calls', (t) => {
  const plan = planLoad(
    loadOptions('', { ratePerSecond: 100, windowMs: 60_000, warmUpMs: undefined }),
  );
  t.match(plan, { windowMs: 60_000, warmUpMs: 5_000, rampMs: 5_000 });
  t.equal(plan.requests, 6_000 + 275 + 500 + 5);
  t.equal(plan.modelCalls, 6_000 + 275 + 500 + 2);
  const health = planLoad(
    loadOptions('', { profile: 'health', ratePerSecond: 10, windowMs: 60_000 }),
  );
  t.equal(health.modelCalls, 0);
  const voice = { calls: 10, callsPerSecond: 10 };
  const calls = planLoad(loadOptions('', { profile: 'voice', voice, windowMs: 60_000 }));
  t.match(calls, { ratePerSecond: 0, warmUpMs: 0, rampMs: 0, percentile: 95 });
  t.equal(calls.requests, 10 + 5);
  t.equal(calls.modelCalls, 121, 'a turn every 5 s, for 60 s and half of the second of placement');
  t.end();
});

void t.test(
  'markers are unique per request, and markers of other requests are found in a response',
  (t) => {
    const markers = createMarkers('ab12');
    const ids = new Set(Array.from({ length: 5_000 }, (_, nth) => markers.session(nth)));
    t.equal(ids.size, 5_000);
    const own = [markers.session(7), markers.reference(7)];
    t.equal(markers.findForeign(`{"session_id":"${markers.session(7)}"}`, own), undefined);
    t.equal(markers.findForeign(`for ${markers.reference(8)}, hello`, own), markers.reference(8));
    t.equal(
      markers.findForeign(`for ${createMarkers('cd34').session(8)}`, own),
      undefined,
      'markers of another run are ignored',
    );
    t.end();
  },
);
