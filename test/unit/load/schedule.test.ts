/** When requests are due, and that none is left out. On a clock that the test moves. */
import t from 'tap';
import { planLoad } from '../../../load/index.ts';
import { createDeadlines } from '../../../load/engines/deadlines.ts';
import { dueTimes } from '../../../load/schedule/due-times.ts';
import { mergeByTime, pace, type Due } from '../../../load/schedule/pace.ts';
import { createMarkers } from '../../../load/profiles/planned-request.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { manualClock } from '../../../src/platform/clock.ts';
import { loadOptions } from '../../helpers/load.ts';

const steady = (durationMs: number, rate: number) => [
  { durationMs, fromPerSecond: rate, toPerSecond: rate },
];

void t.test('uniform arrivals keep their gaps from absolute times, and do not drift', (t) => {
  const times = [...dueTimes(steady(60_000, 100), 'uniform', seededRandom('a'))];
  t.equal(times.length, 6_000);
  t.same(times.slice(0, 3), [0, 10, 20]);
  t.equal(times.at(-1), 59_990);
  t.equal([...dueTimes(steady(1_000, 3), 'uniform', seededRandom('a'))].length, 3);
  t.equal([...dueTimes(steady(3_000, 0.5), 'uniform', seededRandom('a'))].length, 2);
  t.end();
});

void t.test('a ramp rises without a jump, and goes over into the window', (t) => {
  const ramp = { durationMs: 10_000, fromPerSecond: 10, toPerSecond: 100 };
  const times = [...dueTimes([ramp, ...steady(1_000, 100)], 'uniform', seededRandom('a'))];
  t.equal(times.length, 550 + 100);
  const gaps = times.slice(1, 550).map((time, nth) => time - (times[nth] ?? 0));
  t.ok(gaps.every((gap, nth) => nth === 0 || gap <= (gaps[nth - 1] ?? 0) + 1e-6));
  t.ok((gaps[0] ?? 0) > 90 && (gaps.at(-1) ?? 0) < 11);
  t.end();
});

void t.test('Poisson arrivals have the same mean, and follow from the seed', (t) => {
  const drawn = (seed: string): number[] => [
    ...dueTimes(steady(60_000, 100), 'poisson', seededRandom(seed)),
  ];
  const times = drawn('a');
  t.ok(Math.abs(times.length - 6_000) < 300, `${times.length} of about 6000`);
  const gaps = times.slice(1).map((time, nth) => time - (times[nth] ?? 0));
  const empty = gaps.filter((gap) => gap > 10).length / gaps.length;
  t.ok(Math.abs(empty - Math.exp(-1)) < 0.03, 'gaps are exponential');
  t.equal(drawn('a').join(), times.join());
  t.not(drawn('b').join(), times.join());
  t.end();
});

void t.test('what is late is sent at once, and nothing is left out', async (t) => {
  const clock = manualClock(0);
  const fired: number[] = [];
  const dueOf = (atMs: number): Due => ({ atMs, fire: () => fired.push(atMs) });
  const odd = [1, 3, 5, 700].map(dueOf);
  const even = [2, 4, 6, 800].map(dueOf);
  const done = pace(mergeByTime([odd, even]), clock, new AbortController().signal);
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  await turn();
  t.same(fired, [], 'none is early');
  clock.advance(4);
  await turn();
  t.same(fired, [1, 2, 3, 4]);
  // The machine slept: four are late, and leave one right after the other.
  clock.advance(10_000);
  await done;
  t.same(fired, [1, 2, 3, 4, 5, 6, 700, 800]);
});

void t.test('deadlines pass in order, each once, and not after they were called off', async (t) => {
  const clock = manualClock(0);
  const passed: number[] = [];
  const deadlines = createDeadlines(clock);
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  for (const atMs of [300, 100, 200]) deadlines.at(atMs, () => passed.push(atMs));
  const calledOff = deadlines.at(150, () => passed.push(150));
  await turn();
  clock.advance(100);
  await turn();
  t.same(passed, [100]);
  calledOff.cancel();
  clock.advance(500);
  await turn();
  t.same(passed, [100, 200, 300]);
  deadlines.at(5_000, () => passed.push(5_000));
  await turn();
  deadlines.close();
  clock.advance(10_000);
  await turn();
  t.same(passed, [100, 200, 300], 'closed, it forgets');
});

void t.test('a plan says beforehand how much is sent, and how much of it costs', (t) => {
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
  t.end();
});

void t.test('names are of one request alone, and those of others are found in an answer', (t) => {
  const names = createMarkers('ab12');
  const ids = new Set(Array.from({ length: 5_000 }, (_, nth) => names.session(nth)));
  t.equal(ids.size, 5_000);
  const own = [names.session(7), names.reference(7)];
  t.equal(names.findForeign(`{"session_id":"${names.session(7)}"}`, own), undefined);
  t.equal(names.findForeign(`for ${names.reference(8)}, hello`, own), names.reference(8));
  t.equal(
    names.findForeign(`for ${createMarkers('cd34').session(8)}`, own),
    undefined,
    'of another run',
  );
  t.end();
});
