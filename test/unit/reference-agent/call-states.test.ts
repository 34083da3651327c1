/** The states of a call, and the detection of turns by level: rules that need no audio. */
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

void t.test('a successful call passes through every state in order', (t) => {
  const events: CallEvent[] = [
    'start_requested',
    'offer_created',
    'answered',
    'connected',
    'end_requested',
  ];
  let state: CallState = 'waiting';
  const actions = events.map((event) => {
    const step = nextStep(state, event);
    state = step?.state ?? state;
    return step?.action;
  });
  t.same(actions, ['create_offer', 'send_offer', 'accept_answer', 'start_media', 'hung_up']);
  t.equal(state, 'over');
  t.end();
});

void t.test('a call can end for any reason in any state, and then stays over', (t) => {
  for (const state of states.slice(0, -1)) {
    for (const ending of endings) {
      t.same(nextStep(state, ending), { state: 'over', action: ending }, `${state}: ${ending}`);
    }
    t.equal(nextStep(state, 'timed_out')?.state, 'over', `${state} has a time limit`);
  }
  const steps: CallEvent[] = [
    'start_requested',
    'answered',
    'offer_created',
    'connected',
    'timed_out',
  ];
  for (const event of [...steps, 'end_requested' as const, ...endings]) {
    t.equal(nextStep('over', event), undefined, event);
  }
  t.end();
});

void t.test('an out-of-turn message ends the call; a late step of the agent does not', (t) => {
  for (const state of states.slice(1, -1)) {
    t.equal(nextStep(state, 'start_requested')?.action, 'out_of_turn', `start_call while ${state}`);
  }
  for (const state of ['waiting', 'preparing', 'connecting', 'talking'] as const) {
    t.equal(nextStep(state, 'answered')?.action, 'out_of_turn', `webrtc_answer while ${state}`);
  }
  t.equal(nextStep('talking', 'connected'), undefined);
  t.equal(nextStep('offered', 'offer_created'), undefined);
  t.end();
});

void t.test('endings use the two error codes of the specification and valid close codes', (t) => {
  for (const ending of endings) {
    const { closeCode, error } = endingResponses[ending];
    if (error) t.match(error.code, /^(connection_failed|audio_error)$/, ending);
    if (closeCode !== undefined) {
      t.ok(closeCode <= 1014 || (closeCode >= 4000 && closeCode < 5000), `${ending}: ${closeCode}`);
    }
    t.ok(isEnding(ending));
  }
  t.notOk(isEnding('create_offer'));
  t.notOk(isEnding('toString' as never));
  t.end();
});

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
    [45, { kind: 'ended', speech: { startMs: 20, endMs: 320 } }],
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
