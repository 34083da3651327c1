/** The detection of the end of a turn by level, without audio. */
import t from 'tap';
import {
  EndOfTurnDetector,
  LEVEL_WINDOW_TICKS,
  type TurnEvent,
} from '../../../src/voice/activity/index.ts';

const HANG_OVER_MS = 140;

/** Plays windows of 10 ms (`#` loud, `.` silent); returns the events with the window of each. */
function play(pattern: string, lateMs: (index: number) => number = () => 0) {
  const detector = new EndOfTurnDetector(HANG_OVER_MS);
  const events: [number, TurnEvent][] = [];
  pattern.split('').forEach((character, index) => {
    const atMs = index * 10 + lateMs(index);
    const event = detector.addWindow({
      isLoud: character === '#',
      atTicks: index * LEVEL_WINDOW_TICKS,
      atMs,
    });
    if (event) events.push([index, event]);
  });
  return { detector, events };
}

void t.test('speech ends with its last sound, once the silence was long enough', (t) => {
  const { events } = play(`..${'#'.repeat(30)}${'.'.repeat(20)}`);
  t.same(events, [
    [11, { kind: 'speaking' }],
    [45, { kind: 'ended', speech: { startMs: 20, endMs: 320, durationMs: 300 } }],
  ]);
  t.end();
});

void t.test('a pause shorter than the hang-over does not end the turn', (t) => {
  const { events } = play(`${'#'.repeat(20)}${'.'.repeat(13)}${'#'.repeat(20)}${'.'.repeat(14)}`);
  t.match(
    events.map(([, { kind } = { kind: '' }]) => kind),
    ['speaking', 'ended'],
  );
  t.end();
});

void t.test('a click is not speech', (t) => {
  t.same(play(`${'#'.repeat(9)}${'.'.repeat(40)}`.repeat(5)).events, []);
  t.end();
});

void t.test('late packets do not look like a pause', (t) => {
  const { events } = play(`${'#'.repeat(60)}${'.'.repeat(14)}`, (nth) => (nth > 30 ? 500 : 0));
  t.equal(events.length, 2);
  t.match(events[1], [73, { speech: { startMs: 0, endMs: 1_100 } }]);
  t.end();
});

void t.test('packets that arrive in a burst do not make speech shorter', (t) => {
  const { events } = play(`${'#'.repeat(60)}${'.'.repeat(14)}`, (nth) =>
    Math.max(0, 400 - nth * 10),
  );
  t.match(events[1], [73, { speech: { startMs: 400, endMs: 600, durationMs: 600 } }]);
  t.end();
});

void t.test('a sender that stops instead of sending silence also ends its turn', (t) => {
  const { detector } = play('#'.repeat(20));
  const lastMs = 190;
  const checks: TurnEvent[] = [];
  // Checks with every frame of 20 ms, as the agent does.
  for (let ms = 20; ms <= HANG_OVER_MS + 120; ms += 20)
    checks.push(detector.checkIdle(lastMs + ms));
  t.match(checks.at(-1), { kind: 'ended', speech: { endMs: 200 } });
  t.ok(
    checks.slice(0, -1).every((event) => event === undefined),
    `not before ${HANG_OVER_MS + 100} ms`,
  );
  t.equal(detector.checkIdle(10_000), undefined, 'once');
  t.end();
});

void t.test('a blocked agent does not take its own delay for silence of the caller', (t) => {
  const { detector } = play('#'.repeat(20));
  t.equal(detector.checkIdle(200), undefined);
  t.equal(
    detector.checkIdle(900),
    undefined,
    'the packets that arrived meanwhile are not read yet',
  );
  for (let nth = 20; nth < 90; nth += 1) {
    const window = { isLoud: true, atTicks: nth * LEVEL_WINDOW_TICKS, atMs: nth * 10 };
    t.equal(detector.addWindow(window), undefined, 'the turn continues');
  }
  t.end();
});

void t.test('a caller that never stops gets a reply after a minute', (t) => {
  const { events } = play('#'.repeat(6_002));
  t.match(events[1], [6_000, { kind: 'ended' }]);
  t.end();
});
