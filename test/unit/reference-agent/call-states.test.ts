/** The two parts of voice that are rules without sound: the states of a call, and turns by level. */
import t from 'tap';
import {
  endingResponses,
  isEnding,
  nextStep,
  type CallEvent,
  type CallState,
  type Ending,
} from '../../../reference-agent/voice/call-states.ts';
import {
  EndOfTurnDetector,
  LEVEL_WINDOW_TICKS,
  type TurnEvent,
} from '../../../src/voice/activity/index.ts';

const states: CallState[] = ['waiting', 'preparing', 'offered', 'connecting', 'talking', 'over'];
const endings = Object.keys(endingResponses) as Ending[];

void t.test('a good call goes one way', (t) => {
  const events: CallEvent[] = ['start_asked', 'offer_made', 'answered', 'connected', 'end_asked'];
  let state: CallState = 'waiting';
  const acts = events.map((event) => {
    const step = nextStep(state, event);
    state = step?.state ?? state;
    return step?.action;
  });
  t.same(acts, ['make_offer', 'send_offer', 'take_answer', 'begin_talking', 'hung_up']);
  t.equal(state, 'over');
  t.end();
});

void t.test('every call that is not over can end for every reason, and then stays over', (t) => {
  for (const state of states.slice(0, -1)) {
    for (const ending of endings) {
      t.same(nextStep(state, ending), { state: 'over', act: ending }, `${state}: ${ending}`);
    }
    t.equal(nextStep(state, 'time_over')?.state, 'over', `${state} has its time`);
  }
  const steps: CallEvent[] = ['start_asked', 'answered', 'offer_made', 'connected', 'time_over'];
  for (const event of [...steps, 'end_asked' as const, ...endings]) {
    t.equal(nextStep('over', event), undefined, event);
  }
  t.end();
});

void t.test('a message out of turn ends the call, a step of ours that comes late does not', (t) => {
  for (const state of states.slice(1, -1)) {
    t.equal(nextStep(state, 'start_asked')?.action, 'out_of_turn', `start_call while ${state}`);
  }
  for (const state of ['waiting', 'preparing', 'connecting', 'talking'] as const) {
    t.equal(nextStep(state, 'answered')?.action, 'out_of_turn', `webrtc_answer while ${state}`);
  }
  t.equal(nextStep('talking', 'connected'), undefined);
  t.equal(nextStep('offered', 'offer_made'), undefined);
  t.end();
});

void t.test('only the two named codes are told, and close codes that may be sent', (t) => {
  for (const ending of endings) {
    const { closeCode, error } = endingResponses[ending];
    if (error) t.match(error.code, /^(connection_failed|audio_error)$/, ending);
    if (closeCode !== undefined) {
      t.ok(closeCode <= 1014 || (closeCode >= 4000 && closeCode < 5000), `${ending}: ${closeCode}`);
    }
    t.ok(isEnding(ending));
  }
  t.notOk(isEnding('make_offer'));
  t.notOk(isEnding('toString' as never));
  t.end();
});

const HANG_OVER_MS = 140;

/** Plays windows of 10 ms, `#` loud and `.` silent, and tells what was heard at which of them. */
function play(pattern: string, lateMs: (nth: number) => number = () => 0) {
  const detector = new EndOfTurnDetector(HANG_OVER_MS);
  const heard: [number, TurnEvent][] = [];
  pattern.split('').forEach((sign, nth) => {
    const atMs = nth * 10 + lateMs(nth);
    const here = detector.hear({ isLoud: sign === '#', atTicks: nth * LEVEL_WINDOW_TICKS, atMs });
    if (here) heard.push([nth, here]);
  });
  return { detector, heard };
}

void t.test('speech ends where its last sound ends, once the silence was long enough', (t) => {
  const { heard } = play(`..${'#'.repeat(30)}${'.'.repeat(20)}`);
  t.same(heard, [
    [11, { kind: 'speaking' }],
    [45, { kind: 'ended', speech: { startMs: 20, endMs: 320 } }],
  ]);
  t.end();
});

void t.test('a pause shorter than the hang-over ends nothing', (t) => {
  const { heard } = play(`${'#'.repeat(20)}${'.'.repeat(13)}${'#'.repeat(20)}${'.'.repeat(14)}`);
  t.match(
    heard.map(([, { kind } = { kind: '' }]) => kind),
    ['speaking', 'ended'],
  );
  t.end();
});

void t.test('a click is no speech', (t) => {
  t.same(play(`${'#'.repeat(9)}${'.'.repeat(40)}`.repeat(5)).heard, []);
  t.end();
});

void t.test('packets that come late make no pause', (t) => {
  const { heard } = play(`${'#'.repeat(60)}${'.'.repeat(14)}`, (nth) => (nth > 30 ? 500 : 0));
  t.equal(heard.length, 2);
  t.match(heard[1], [73, { speech: { startMs: 0, endMs: 1_100 } }]);
  t.end();
});

void t.test('a sender that stops where it would be silent has ended its turn too', (t) => {
  const { detector } = play('#'.repeat(20));
  const lastMs = 190;
  const asked: TurnEvent[] = [];
  // Asked with every frame of 20 ms, as the agent does.
  for (let ms = 20; ms <= HANG_OVER_MS + 120; ms += 20) asked.push(detector.checkIdle(lastMs + ms));
  t.match(asked.at(-1), { kind: 'ended', speech: { endMs: 200 } });
  t.ok(
    asked.slice(0, -1).every((one) => one === undefined),
    `not before ${HANG_OVER_MS + 100} ms`,
  );
  t.equal(detector.checkIdle(10_000), undefined, 'once');
  t.end();
});

void t.test('a standstill of the agent itself is no silence of the caller', (t) => {
  const { detector } = play('#'.repeat(20));
  t.equal(detector.checkIdle(200), undefined);
  t.equal(detector.checkIdle(900), undefined, 'what came meanwhile is not read yet');
  for (let nth = 20; nth < 90; nth += 1) {
    const window = { isLoud: true, atTicks: nth * LEVEL_WINDOW_TICKS, atMs: nth * 10 };
    t.equal(detector.hear(window), undefined, 'the turn goes on');
  }
  t.end();
});

void t.test('a caller that never stops is answered after a minute', (t) => {
  const { heard } = play('#'.repeat(6_002));
  t.match(heard[1], [6_000, { kind: 'ended' }]);
  t.end();
});
