/** Audio latency: stream statistics, onsets, response latencies, and the verdict. */
import t from 'tap';
import { findOnsets } from '../../../src/voice/activity/index.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';
import {
  computePathLatencyMs,
  judgeAudioLatency,
  explainLocalDelay,
  ReceivedStream,
  measureTransitDelays,
  findResponseLatencies,
  monitorLocalDelay,
  dropBacklog,
  type StreamStatistics,
} from '../../../src/voice/latency/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { systemClock } from '../../../src/platform/clock.ts';

/** Returns the statistics of a stream whose n-th packet is `lateMs(n)` late; undefined means lost. */
function computeStatistics(
  packets: number,
  lateMs: (nth: number) => number | undefined,
  change: { firstTimestamp?: number; firstSequence?: number } = {},
): StreamStatistics {
  const { firstTimestamp = 0, firstSequence = 0 } = change;
  const arrivals = Array.from({ length: packets }, (_, nth) => ({
    sequence: (firstSequence + nth) & 0xffff,
    timestamp: (firstTimestamp + nth * 960) >>> 0,
    ssrc: 1,
    arrivedAtMs: 5_000 + nth * 20 + (lateMs(nth) ?? NaN),
  })).filter(({ arrivedAtMs }) => !Number.isNaN(arrivedAtMs));
  const stream = new ReceivedStream();
  const ordered = arrivals.toSorted((a, b) => a.arrivedAtMs - b.arrivedAtMs);
  for (const arrival of ordered) stream.add(arrival);
  return stream.statistics();
}

void t.test('a percentile is the measured value of the nearest rank', (t) => {
  const values = [5, 1, 4, 2, 3];
  t.same(
    [0, 20, 21, 50, 95, 100].map((percent) => findPercentile(values, percent)),
    [1, 1, 2, 3, 5, 5],
  );
  t.equal(findPercentile([], 50), undefined);
  t.end();
});

void t.test('the path latency is half a round trip plus a packet plus the jitter', (t) => {
  t.equal(computePathLatencyMs({ roundTripP95Ms: 30, packetMs: 20, transitP99Ms: 7 }), 42);
  t.end();
});

void t.test(
  'punctual packets have no jitter, even when timestamps and sequence numbers wrap',
  (t) => {
    const statistics = computeStatistics(200, () => 3, {
      firstTimestamp: 2 ** 32 - 9_600,
      firstSequence: 65_500,
    });
    t.same(statistics, {
      packets: 200,
      lost: 0,
      reordered: 0,
      transitP99Ms: 0,
      intervalMaxMs: 20,
    });
    t.end();
  },
);

void t.test('jitter is the 99th percentile of the delays, without smoothing', (t) => {
  const chance = seededRandom('jitter');
  const spread = computeStatistics(1_000, () => chance.fraction() * 60);
  t.ok(Math.abs((spread.transitP99Ms ?? NaN) - 59) < 2, `${spread.transitP99Ms} of 60 ms`);
  const few = computeStatistics(1_000, (nth) => (nth % 50 === 7 ? 90 : 0));
  t.equal(few.transitP99Ms, 90, '2% of late packets count');
  t.equal(
    computeStatistics(1_000, (nth) => (nth % 200 === 7 ? 90 : 0)).transitP99Ms,
    0,
    '0.5% do not',
  );
  t.end();
});

void t.test('a stall delays all packets that wait for it', (t) => {
  // Packets 100 to 129 arrive together, 600 ms after packet 100 was due.
  const statistics = computeStatistics(500, (nth) =>
    nth >= 100 && nth < 130 ? (130 - nth) * 20 : 0,
  );
  t.equal(statistics.transitP99Ms, 500);
  t.equal(statistics.intervalMaxMs, 620);
  t.equal(statistics.lost, 0);
  t.end();
});

const delaysOf = (lateMs: (nth: number) => number): number[] =>
  measureTransitDelays(
    Array.from({ length: 100 }, (_, nth) => ({
      mediaMs: nth * 20,
      arrivedAtMs: nth * 20 + lateMs(nth),
    })),
  );

void t.test('late packets at the start and the end of a stream count too', (t) => {
  t.equal(Math.max(...delaysOf((nth) => (nth === 0 ? 80 : 0))), 80);
  t.equal(Math.max(...delaysOf((nth) => (nth === 99 ? 80 : 0))), 80);
  t.end();
});

void t.test('the backlog from before the connection is dropped; later delays are kept', (t) => {
  const packets = (arrivedAtMs: (nth: number) => number) =>
    Array.from({ length: 100 }, (_, nth) => ({ mediaMs: nth * 20, arrivedAtMs: arrivedAtMs(nth) }));
  // When the call connects, a second of audio is waiting, and arrives within 45 ms.
  const burst = packets((nth) => (nth < 50 ? nth * 0.9 : (nth - 50) * 20 + 50));
  t.same(dropBacklog(burst), burst.slice(50), 'a burst at the start');
  for (const [name, stream] of Object.entries({
    punctual: packets((nth) => nth * 20),
    jitter: packets((nth) => nth * 20 + (nth % 5 === 0 ? 60 : 0)),
    'a late first packet': packets((nth) => nth * 20 + (nth === 0 ? 19 : 0)),
    'a later stall': packets((nth) => (nth >= 40 && nth < 70 ? 1_400 : nth * 20)),
    'a slow clock': packets((nth) => nth * 22),
  })) {
    t.same(dropBacklog(stream), stream, name);
  }
  t.same(dropBacklog([]), []);
  t.end();
});

void t.test('a shift of the whole stream is not jitter', (t) => {
  const pause = computeStatistics(1_000, (nth) => (nth < 500 ? 0 : 3_000));
  t.ok((pause.transitP99Ms ?? NaN) < 1, 'timestamps that do not advance during a pause');
  const drift = computeStatistics(3_000, (nth) => nth * 0.004);
  t.ok((drift.transitP99Ms ?? NaN) < 1, 'a clock that is off by 200 ppm for a minute');
  const stepBack = computeStatistics(1_000, (nth) => (nth < 500 ? 400 : 0));
  t.ok((stepBack.transitP99Ms ?? NaN) < 1, 'a path that becomes faster');
  t.end();
});

void t.test('lost and reordered packets are counted; duplicates are ignored', (t) => {
  const lossy = computeStatistics(100, (nth) => (nth % 10 === 3 ? undefined : 0));
  t.match(lossy, { packets: 90, lost: 10, reordered: 0, transitP99Ms: 0 });
  t.match(
    computeStatistics(100, (nth) => (nth === 50 ? 30 : 0)),
    { lost: 0, reordered: 1 },
  );
  const stream = new ReceivedStream();
  for (const sequence of [1, 2, 2, 3]) {
    stream.add({ sequence, timestamp: sequence * 960, ssrc: 1, arrivedAtMs: sequence * 20 });
  }
  t.match(stream.statistics(), { packets: 3, lost: 0, reordered: 0 });
  t.end();
});

void t.test('another sender, or a jump of the timestamps, starts a new segment', (t) => {
  const stream = new ReceivedStream();
  const add = (ssrc: number, sequence: number, timestamp: number, arrivedAtMs: number): void =>
    stream.add({ ssrc, sequence, timestamp, arrivedAtMs });
  for (let nth = 0; nth < 50; nth += 1) add(1, nth, nth * 960, nth * 20);
  for (let nth = 0; nth < 50; nth += 1) add(2, 9_000 + nth, 77 + nth * 960, 1_000 + nth * 20);
  for (let nth = 0; nth < 50; nth += 1) add(2, nth, 2 ** 31 + nth * 960, 2_000 + nth * 20);
  t.match(stream.statistics(), { packets: 150, lost: 0, reordered: 0, transitP99Ms: 0 });
  t.match(new ReceivedStream().statistics(), { packets: 0, lost: 0, transitP99Ms: undefined });
  t.end();
});

const SILENT = -Infinity;

/** Creates windows of 10 ms: `count` windows of each level. */
const createWindows = (...parts: [levelDb: number, count: number][]) =>
  parts
    .flatMap(([levelDb, count]) => Array<number>(count).fill(levelDb))
    .map((levelDb, nth) => ({ atMs: nth * 10, levelDb, ms: 10 }));

void t.test('an onset starts at least 20 ms of sound after 200 ms of silence', (t) => {
  t.same(findOnsets([]), []);
  t.same(findOnsets(createWindows([SILENT, 30], [-20, 10], [SILENT, 30], [-20, 2])), [300, 700]);
  t.same(
    findOnsets(createWindows([SILENT, 30], [-20, 10], [SILENT, 10], [-20, 10])),
    [300],
    'a pause',
  );
  t.same(findOnsets(createWindows([SILENT, 30], [-20, 1], [SILENT, 30])), [], 'a click');
  t.same(
    findOnsets(createWindows([SILENT, 15], [-20, 1], [SILENT, 15], [-20, 10])),
    [310],
    'a click does not interrupt the silence',
  );
  t.same(findOnsets(createWindows([-20, 10])), [0], 'silence is assumed before the first window');
  t.end();
});

void t.test('onsets must exceed the noise level; steady speech is not noise', (t) => {
  t.same(findOnsets(createWindows([-47, 50], [-25, 20], [-47, 50])), [500]);
  t.same(findOnsets(createWindows([-70, 50], [-55, 20], [-70, 50])), [], 'too quiet to be speech');
  t.same(findOnsets(createWindows([-20, 100], [SILENT, 5])), [0], 'speech is not noise');
  t.end();
});

void t.test('a response is the first onset after the start of a turn', (t) => {
  const turns = [
    { startMs: 1_000, endMs: 2_000 },
    { startMs: 4_000, endMs: 5_000 },
    { startMs: 7_000, endMs: 8_000 },
  ];
  t.same(findResponseLatencies(turns, [900, 2_150, 2_500, 8_300]), [150, undefined, 300]);
  t.same(
    findResponseLatencies(turns, [1_900, 2_150]),
    [-100, undefined, undefined],
    'the agent interrupts',
  );
  t.end();
});

void t.test('a path latency of 200 ms or more misses the target, unless the kit was late', (t) => {
  const judge = (pathMs: number | undefined, localDelay?: string) =>
    judgeAudioLatency({ pathMs, turnResponsesMs: [150], localDelay });
  t.equal(judge(199.9).verdict, 'met');
  t.match(judge(200), { verdict: 'missed', reason: /alone is 200 ms/ });
  t.match(judge(230, 'the kit itself was late'), {
    verdict: 'not_proven',
    reason: /230 ms, but the kit itself was late/,
  });
  t.equal(judge(12, 'the kit itself was late').verdict, 'met', 'local delays only add latency');
  t.match(judge(undefined), { verdict: 'not_proven', reason: /not measured/ });
  t.end();
});

void t.test('an agent that buffers 600 ms of audio never meets the target', (t) => {
  const pathMs = 12;
  for (const turnResponsesMs of [[], [740, 760, 745], [660, 150, 655], [-300, 120, 130, 140]]) {
    const evidence = { pathMs, turnResponsesMs };
    t.equal(judgeAudioLatency(evidence).verdict, 'not_proven', JSON.stringify(evidence));
  }
  t.match(judgeAudioLatency({ pathMs, turnResponsesMs: [740] }), {
    reason:
      "path 12 ms; how long the agent buffers audio before it sends it can't be measured from outside",
  });
  t.end();
});

void t.test('a median response latency under 200 ms meets the target', (t) => {
  t.match(judgeAudioLatency({ pathMs: 12, turnResponsesMs: [160, 170, 400] }), {
    verdict: 'met',
    reason: 'path 12 ms; half of the turns took 170 ms or less',
  });
  t.end();
});

void t.test('a late kit is reported as the cause', async (t) => {
  t.equal(
    explainLocalDelay({ loopLateP99Ms: 20, loopLateMaxMs: 90, sendLateP99Ms: 10 }),
    undefined,
  );
  t.match(explainLocalDelay({ loopLateP99Ms: 21, loopLateMaxMs: 90 }), /itself was 21 ms late/);
  const lateSends = { loopLateP99Ms: 1, loopLateMaxMs: 2, sendLateP99Ms: 11 };
  t.match(explainLocalDelay(lateSends), /itself sent packets 11 ms late/);
  const stopMonitor = monitorLocalDelay();
  // The monitor compares two turns of the event loop: some before the delay, and some after it.
  const turnLoop = async (): Promise<void> => {
    for (let turns = 0; turns < 4; turns += 1) await systemClock.sleep(10);
  };
  await turnLoop();
  const untilMs = systemClock.monotonicMs() + 60;
  while (systemClock.monotonicMs() < untilMs);
  await turnLoop();
  const { loopLateMaxMs } = stopMonitor();
  t.ok(loopLateMaxMs >= 50, `${loopLateMaxMs} ms`);
});
