/** How the two sides of a call take turns, measured on synthetic lanes with known times. */
import t from 'tap';
import { findViolations, type TurnTaking } from '../../../src/contract/index.ts';
import {
  AgentLaneRecorder,
  measureTurnTaking,
  summarizeTurnTaking,
  type Utterance,
} from '../../../src/voice/turn-taking/index.ts';

type Span = readonly [startMs: number, endMs: number];

const ORIGIN_MS = 10_000;
const toSpan = ([startMs, endMs]: Span) => ({
  startMs: ORIGIN_MS + startMs,
  endMs: ORIGIN_MS + endMs,
});

/** Returns an utterance of the caller in turn 1. */
const say = (
  span: Span,
  { pauses = [], ...more }: { turn?: number; kind?: Utterance['kind']; pauses?: Span[] } = {},
): Utterance => ({
  turn: 1,
  kind: 'line' as const,
  ...more,
  ...toSpan(span),
  pauses: pauses.map(toSpan),
});

interface Call {
  agent: Span[];
  caller: Utterance[];
  endMs?: number;
  notReady?: Span[];
  missedGreeting?: Span;
  localDelay?: { reason: string; lateMs: number };
}

/** Measures a call where both sides spoke at these times. */
function measure({ agent, caller, endMs = 60_000, notReady = [], ...call }: Call): TurnTaking {
  return measureTurnTaking({
    originMs: ORIGIN_MS,
    agent: { speech: agent.map(toSpan), gaps: [], endMs: ORIGIN_MS + endMs },
    caller,
    notReady: notReady.map(toSpan),
    endMs: ORIGIN_MS + endMs,
    missedGreeting: call.missedGreeting && toSpan(call.missedGreeting),
    localDelay: call.localDelay,
  });
}

void t.test('response times: from the end of a line to the first sound of the answer', (t) => {
  const { response_ms: times, responses } = measure({
    agent: [
      [1_200, 3_000],
      [5_500, 7_000],
      [8_900, 9_500],
    ],
    caller: [
      say([0, 1_000]),
      say([4_000, 5_000], { turn: 2 }),
      say([8_000, 8_000 + 100], { turn: 3 }),
    ],
  });
  t.same(times, { p50: 500, p95: 800, max: 800 });
  t.same(responses, [
    { turn: 1, response_ms: 200 },
    { turn: 2, response_ms: 500 },
    { turn: 3, response_ms: 800 },
  ]);
  t.end();
});

void t.test('yield time: to the last sound of the agent', (t) => {
  const line = say([0, 1_000]);
  const interruption = (endMs = 4_500): Utterance =>
    say([3_000, endMs], { turn: 2, kind: 'interruption' });
  const yieldMs = (agent: Span[], endMs?: number): number | null | undefined =>
    measure({ agent, caller: [line, interruption(endMs)] }).interruptions[0]?.yield_ms;
  for (const ms of [100, 300, 800]) {
    const agent: Span[] = [
      [1_500, 3_000 + ms],
      [4_900, 6_000],
    ];
    t.equal(yieldMs(agent), ms, `yields after ${ms} ms`);
  }
  t.equal(yieldMs([[1_500, 20_000]]), null, 'never yields');
  t.equal(
    yieldMs([
      [1_500, 3_400],
      [3_750, 6_000],
      [6_350, 9_000],
    ]),
    null,
    'pauses between sentences do not count as yielding',
  );
  t.equal(
    yieldMs([
      [1_500, 4_700],
      [5_000, 9_000],
    ]),
    null,
    'nor if one falls on the end of the interruption',
  );
  t.equal(
    yieldMs(
      [
        [1_500, 3_900],
        [4_700, 6_000],
      ],
      3_600,
    ),
    900,
    'yields after a short interruption, then answers',
  );
  t.equal(yieldMs([[1_500, 2_990]]), 0, 'stopped before the interruption');
  t.end();
});

void t.test('overlap: time when both sides spoke, without pauses and backchannels', (t) => {
  const { overlap_ms: overlapMs } = measure({
    agent: [
      [500, 900],
      [2_500, 3_200],
      [6_000, 9_000],
    ],
    caller: [
      say([0, 1_000]),
      say([2_000, 4_000], { turn: 2, pauses: [[2_600, 3_100]] }),
      say([7_000, 7_400], { turn: 2, kind: 'backchannel' }),
    ],
  });
  t.equal(overlapMs, 400 + 100 + 100);
  t.end();
});

void t.test('the agent interrupts if it starts within a line, and not in a pause', (t) => {
  const count = (agent: Span[], pauses: Span[] = []): [number, number] => {
    const measured = measure({ agent, caller: [say([1_000, 5_000], { pauses })] });
    return [measured.agent_interruptions, measured.false_endpoints];
  };
  t.same(count([[5_200, 6_000]]), [0, 0], 'after the line');
  t.same(count([[3_000, 6_000]]), [1, 0], 'within the line');
  t.same(count([[4_980, 6_000]]), [0, 0], 'at its end, within the error of the measurement');
  t.same(count([[1_050, 2_000]]), [0, 0], 'both start at the same moment');
  t.same(count([[500, 3_000]]), [0, 0], 'it still speaks when the line starts');
  t.same(count([[2_500, 3_500]], [[2_200, 3_000]]), [0, 1], 'in a pause');
  t.same(count([[3_300, 4_000]], [[2_200, 3_000]]), [0, 1], 'because of a pause that just ended');
  t.same(count([[4_000, 6_000]], [[2_200, 3_000]]), [1, 0], 'long after a pause');
  t.end();
});

void t.test('an agent that goes on during an interruption does not start again', (t) => {
  const interruption = say([3_000, 5_000], { turn: 2, kind: 'interruption' });
  const talksOn: Span[] = [
    [1_500, 3_600],
    [3_900, 5_500],
    [5_800, 9_000],
  ];
  const never = measure({ agent: talksOn, caller: [say([0, 1_000]), interruption] });
  t.equal(never.agent_interruptions, 0);
  t.same(never.responses, [{ turn: 1, response_ms: 500 }], 'and its next sentence is no reply');
  const again = measure({
    agent: [
      [1_500, 3_200],
      [4_200, 6_000],
    ],
    caller: [say([0, 1_000]), interruption],
  });
  t.equal(again.agent_interruptions, 1, 'one that yielded and starts too early does');
  t.equal(again.interruptions[0]?.yield_ms, 200);
  t.end();
});

void t.test('a missed turn: a line without an answer', (t) => {
  const missed = (agent: Span[], endMs = 60_000): number =>
    measure({ agent, caller: [say([0, 1_000])], endMs }).missed_turns;
  t.equal(missed([]), 1);
  t.equal(missed([[1_500, 2_000]]), 0);
  t.equal(missed([[500, 2_000]]), 0, 'it answered early');
  t.equal(missed([], 1_300), 0, 'the call ended too early to know');
  t.equal(
    measure({ agent: [], caller: [say([0, 1_000])], missedGreeting: [0, 500] }).missed_turns,
    2,
  );
  t.end();
});

void t.test('dead air: silences over 2 s in full, while the caller could have spoken', (t) => {
  const call = {
    agent: [
      [4_000, 5_000],
      [13_000, 14_000],
    ] as Span[],
    caller: [say([0, 1_000]), say([9_000, 11_500], { turn: 2, pauses: [[9_500, 11_400]] })],
  };
  t.match(measure(call), {
    dead_air_ms: 3_000 + 4_000,
    events: [
      { kind: 'dead_air', at_ms: 1_000, duration_ms: 3_000 },
      { kind: 'dead_air', at_ms: 5_000, duration_ms: 4_000 },
      { kind: 'pause' },
    ],
  });
  t.equal(measure({ ...call, notReady: [[5_700, 9_000]] }).dead_air_ms, 3_000);
  t.equal(measure({ ...call, agent: [[2_900, 8_000]] }).dead_air_ms, 0, 'none at both ends');
  t.end();
});

void t.test('a backchannel stops the agent if it falls silent and starts again', (t) => {
  const stopped = (agent: Span[]): boolean | null | undefined =>
    measure({ agent, caller: [say([0, 1_000]), say([3_000, 3_400], { kind: 'backchannel' })] })
      .backchannels[0]?.stopped_agent;
  t.equal(stopped([[1_500, 8_000]]), false);
  t.equal(
    stopped([
      [1_500, 3_800],
      [4_050, 8_000],
    ]),
    false,
    'a short pause between two sentences',
  );
  t.equal(
    stopped([
      [1_500, 3_200],
      [3_350, 3_700],
      [3_950, 8_000],
    ]),
    false,
    'several of them',
  );
  t.equal(
    stopped([
      [1_500, 3_500],
      [3_900, 8_000],
    ]),
    null,
    'an agent that stopped may answer this soon, and others pause as long',
  );
  t.equal(
    stopped([
      [1_500, 3_300],
      [4_300, 8_000],
    ]),
    true,
  );
  t.equal(stopped([[1_500, 3_300]]), null, 'it may have finished');
  t.equal(stopped([[1_500, 2_000]]), null, 'it was silent');
  t.end();
});

void t.test('the result conforms, even for a call without sound, and sums up to a run', (t) => {
  const empty = measure({ agent: [], caller: [] });
  t.match(empty, { response_ms: null, interruptions: [], dead_air_ms: 0, events: [] });
  const call = measure({
    agent: [
      [1_200, 3_300],
      [4_900, 6_000],
    ],
    caller: [say([0, 1_000]), say([3_000, 4_500], { turn: 2, kind: 'interruption' })],
    localDelay: { reason: 'sandbox-kit itself was 30 ms late', lateMs: 44.1 },
  });
  t.same(call.not_proven, { reason: 'sandbox-kit itself was 30 ms late', late_ms: 45 });
  t.match(summarizeTurnTaking([empty, call, call]), {
    calls: 3,
    interruptions: 2,
    yielded: 2,
    overlap_ms: 600,
    not_proven: 2,
    response_ms: { p50: 200, p95: 400, max: 400 },
    yield_ms: { p50: 300, p95: 300 },
  });
  t.equal(summarizeTurnTaking([]), undefined);
  for (const value of [empty, call]) t.same(findTurnTakingViolations(value), []);
  t.end();
});

/** Returns the violations of a turn-taking in a report. */
function findTurnTakingViolations(value: TurnTaking) {
  const report = { sessions: [{ turn_taking: value }] };
  return findViolations('SimulationReport', report).filter(({ pointer }) =>
    pointer.startsWith('/sessions/0/turn_taking'),
  );
}

interface Received {
  /** Levels of the packets of 20 ms in dB; undefined for a lost packet. */
  levels: (number | undefined)[];
  /** How late a packet arrives. */
  lateMs?: (nth: number) => number;
}

/** Returns the sound of packets of 20 ms. */
function hear({ levels, lateMs = () => 0 }: Received) {
  const recorder = new AgentLaneRecorder();
  const arrivals = levels.flatMap((levelDb, nth) =>
    levelDb === undefined
      ? []
      : [{ levelDb, nth, arrivedAtMs: ORIGIN_MS + nth * 20 + lateMs(nth) }],
  );
  for (const { levelDb, nth, arrivedAtMs } of arrivals.toSorted(
    (a, b) => a.arrivedAtMs - b.arrivedAtMs,
  )) {
    recorder.add(
      { sequence: (65_530 + nth) & 0xffff, timestamp: (nth * 960) >>> 0, ssrc: 1, arrivedAtMs },
      [0, 10].map((ms) => ({ atMs: arrivedAtMs + ms, levelDb, ms: 10 })),
    );
  }
  const { speech, gaps } = recorder.lane();
  const relative = ({ startMs, endMs }: { startMs: number; endMs: number }) => [
    Math.round(startMs - ORIGIN_MS),
    Math.round(endMs - ORIGIN_MS),
  ];
  return { speech: speech.map(relative), gaps: gaps.map(relative) };
}

const quiet = (packets: number): number[] => Array<number>(packets).fill(-90);
const loud = (packets: number): number[] => Array<number>(packets).fill(-20);

void t.test('the lane of the agent: speech without clicks, joined over short pauses', (t) => {
  const levels = [...quiet(50), ...loud(50), ...quiet(5), ...loud(50), ...quiet(50), -20];
  t.same(hear({ levels: [...levels, ...quiet(50)] }), { speech: [[1_000, 3_100]], gaps: [] });
  t.end();
});

void t.test('late packets of one moment do not move what is heard', (t) => {
  const levels = [...quiet(100), ...loud(100), ...quiet(100)];
  const { speech } = hear({ levels, lateMs: (nth) => (nth % 7 === 0 ? 30 : 0) });
  t.same(speech, [[2_000, 4_000]]);
  t.end();
});

void t.test('audio that arrives ahead of time is heard at its pace', (t) => {
  const levels = [...quiet(100), ...loud(100), ...quiet(100)];
  const { speech } = hear({
    levels,
    // The sender sends 2 s of speech in one burst.
    lateMs: (nth) => (nth >= 100 && nth < 200 ? (100 - nth) * 20 : 0),
  });
  const [[startMs = 0, endMs = 0] = []] = speech;
  t.ok(Math.abs(startMs - 2_000) <= 60, `starts at ${startMs} ms`);
  t.ok(Math.abs(endMs - 4_000) <= 60, `ends at ${endMs} ms`);
  t.end();
});

void t.test('lost and late packets within speech are gaps', (t) => {
  const lost = [...quiet(50), ...loud(50), undefined, undefined, undefined, undefined, ...loud(50)];
  t.same(hear({ levels: lost }).gaps, [[2_000, 2_080]]);
  const late = hear({
    levels: [...quiet(50), ...loud(100)],
    lateMs: (nth) => (nth >= 100 ? 300 : 0),
  });
  t.equal(late.gaps.length, 1);
  t.same(hear({ levels: [...loud(50), undefined, ...loud(50)] }).gaps, [], 'one lost packet');
  const stalled = hear({
    levels: [...quiet(50), ...loud(100)],
    lateMs: (nth) => (nth >= 100 && nth < 104 ? 80 - (nth - 100) * 20 : 0),
  });
  t.same(stalled.gaps, [], 'a stall that is heard for 40 ms');
  t.end();
});
