/** Sharded load tests: the split of the schedule, and the merge of the reports. */
import t from 'tap';
import { MergeError, mergeReports, parseThresholds, planLoad } from '../../../load/index.ts';
import type { RequestRun } from '../../../load/phases/request-run.ts';
import { stretchesOf } from '../../../load/phases/plan.ts';
import { createTraffic } from '../../../load/profiles/traffic.ts';
import { createRecorder } from '../../../load/record/recorder.ts';
import type { CompletedRequest } from '../../../load/record/stream-log.ts';
import { buildBlockedReport, buildReport } from '../../../load/report/report.ts';
import { dueTimes } from '../../../load/schedule/due-times.ts';
import { createPositions, selectPart } from '../../../load/schedule/shard.ts';
import { createBreachTests } from '../../../load/thresholds/stream-thresholds.ts';
import {
  findViolations,
  type FaultKind,
  type LoadReport,
  type StreamName,
} from '../../../src/contract/index.ts';
import { seededRandom, type Random } from '../../../src/platform/random.ts';
import { loadOptions } from '../../support/measurements/run-load.ts';

const shardsOf = (count: number): { index: number; count: number }[] =>
  Array.from({ length: count }, (_, nth) => ({ index: nth + 1, count }));

void t.test('every arrival is in exactly one shard, for any rate and number of shards', (t) => {
  const chance = seededRandom('split');
  for (let round = 0; round < 60; round++) {
    const count = chance.integer(1, 12);
    const rate = chance.integer(1, 300) / chance.integer(1, 3);
    const stretches = stretchesOf(rate, chance.integer(0, 2_000), chance.integer(1_000, 5_000));
    const arrivals = chance.integer(0, 1) === 0 ? 'uniform' : 'poisson';
    const draw = (): Generator<number> => dueTimes(stretches, arrivals, seededRandom(`r${round}`));
    const parts = shardsOf(count).map((shard) => [...selectPart(draw(), shard)]);
    const name = `${arrivals}, ${rate}/s, ${count} shards`;
    t.same(
      parts.flat().sort((left, right) => left - right),
      [...draw()],
      name,
    );
    const sizes = parts.map((part) => part.length);
    t.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${name}: equal parts`);
  }
  t.end();
});

void t.test('a request has the same ids and content in its shard as in the whole run', (t) => {
  for (const profile of ['mixed', 'health', 'chat'] as const) {
    const create = (shard?: { index: number; count: number }) =>
      createTraffic({
        profile,
        ratePerSecond: 10,
        simulatedUsers: 0,
        apiKey: undefined,
        hasUsers: true,
        shard,
        random: seededRandom('same'),
      });
    const describe = (traffic: ReturnType<typeof create>, stream: StreamName, times: number) =>
      Array.from({ length: times }, () => {
        const request = traffic.open.find((each) => each.stream === stream)?.nextRequest();
        const { traceparent } = traffic.createHeaders(request?.name ?? '');
        return { outgoing: request?.outgoing, session: request?.session, traceparent };
      });
    for (const stream of create().streams) {
      const whole = describe(create(), stream, 12);
      for (const shard of shardsOf(3)) {
        t.same(
          describe(create(shard), stream, 4),
          [...selectPart(whole, shard)],
          `${profile}: ${stream} of shard ${shard.index}`,
        );
      }
      t.equal(new Set(whole.map(({ traceparent }) => traceparent)).size, 12, 'separate traces');
    }
  }
  const next = createPositions({ index: 2, count: 5 });
  t.same([next(), next(), next()], [1, 6, 11]);
  t.end();
});

const WINDOW_MS = 20_000;
const RATE = 60;
const thresholdTexts = ['chat.p95<300ms', 'chat.error_rate<5%', 'chat.rate>=50/s', 'chat.max<2s'];
const thresholds = parseThresholds([...thresholdTexts, 'health.p50<100ms']);
const options = loadOptions('http://127.0.0.1:1', {
  profile: 'mixed',
  ratePerSecond: RATE,
  windowMs: WINDOW_MS,
  warmUpMs: 0,
  thresholds,
});
const plan = planLoad(options);
const traffic = { main: 'chat', streams: ['chat', 'health'] } as const;

interface Sample {
  stream: 'chat' | 'health';
  request: CompletedRequest;
}

const KINDS = ['timeout', 'server_error', 'reset', 'rate_limited', 'mixed_up'] as const;

/** Draws the requests of a run: slow times, bursts of failures, and lag. */
function drawSamples(chance: Random, failedShare: number): Sample[] {
  const streams = [
    ['chat', RATE],
    ['health', 5],
  ] as const;
  return streams.flatMap(([stream, perSecond]) => {
    const stretches = stretchesOf(perSecond, plan.rampMs, WINDOW_MS);
    return [...dueTimes(stretches, 'poisson', chance.fork(stream))].map((atMs): Sample => {
      const dueMs = atMs - plan.rampMs;
      const sentMs = dueMs + chance.fraction() * 3;
      const isBurst = dueMs > 4_000 && dueMs < 5_500;
      const hasFailed = chance.fraction() < (isBurst ? 10 : 1) * failedShare;
      const fault: FaultKind | undefined = hasFailed ? KINDS[chance.integer(0, 4)] : undefined;
      const endedMs = sentMs + 2 ** (chance.fraction() * 11);
      return {
        stream,
        request: {
          dueMs,
          sentMs,
          endedMs,
          deadlineMs: 15_000,
          firstByteMs: endedMs - 0.5,
          hasResponse: fault !== 'timeout' && fault !== 'reset',
          echoed: stream === 'chat' && fault === undefined,
          ...(fault && { fault }),
          ...(fault === 'mixed_up' && { findings: ['CHAT-024'] }),
          ...(fault === 'rate_limited' && { retryAfterS: chance.integer(1, 9) }),
        },
      };
    });
  });
}

/** Records samples as a load generator does: sends and ends in the order of time. */
function record(samples: readonly Sample[]): RequestRun {
  const recorder = createRecorder({
    windowMs: WINDOW_MS,
    streams: traffic.streams,
    main: traffic.main,
    breachTests: createBreachTests(thresholds),
  });
  const events = samples.flatMap(({ stream, request }) => {
    const { dueMs, sentMs, endedMs } = request;
    const traceId = `${Math.round(dueMs * 1_000)}`.padStart(32, '0');
    return [
      {
        atMs: sentMs,
        run: () => {
          recorder.recordDue(stream, dueMs);
          recorder.recordSend(stream, dueMs, sentMs);
        },
      },
      {
        atMs: endedMs,
        run: () => {
          recorder.recordArrival(stream, endedMs);
          recorder.recordResult(stream, request, { detail: `at ${endedMs}`, traceId });
        },
      },
    ];
  });
  for (const { run } of events.sort((left, right) => left.atMs - right.atMs)) run();
  return {
    record: recorder,
    ranMs: WINDOW_MS,
    missed: 0,
    earlyEnd: undefined,
    cost: { cpuPercent: 5, loopBusy: 0.1 },
    windowStartedAtMs: 1_800_000_000_000,
  };
}

type Shard = { index: number; count: number; startAtMs?: number };

function reportOf(samples: readonly Sample[], shard?: Shard, over: Partial<RequestRun> = {}) {
  const run = {
    plan,
    startedAtMs: 1_800_000_000_000,
    engine: 'test',
    warmUp: undefined,
    traffic: { ...traffic, streams: [...traffic.streams] } as never,
    requests: { ...record(samples), ...over },
  };
  const report = buildReport({ ...options, ...(shard && { shard }) }, run);
  // As read from a file.
  return JSON.parse(JSON.stringify(report)) as LoadReport;
}

/** Returns the parts of samples, by the position of each request in its stream. */
const split = (samples: readonly Sample[], count: number): Sample[][] =>
  shardsOf(count).map((shard) =>
    traffic.streams.flatMap((stream) => [
      ...selectPart(
        samples.filter((sample) => sample.stream === stream),
        shard,
      ),
    ]),
  );

const merge = (reports: readonly LoadReport[]): LoadReport =>
  mergeReports(
    reports.map((report, nth) => ({ name: `${nth + 1}.json`, report })),
    { acceptNotProven: false },
  );

/** The fields that a merge computes exactly. */
function measuredFields(report: LoadReport): object {
  const { verdict, exitCode, targets, chat, health, streams, outages, trend, curve } = report;
  const timeline = report.timeline.map((row) => ({ ...row, inFlight: 0 }));
  const { slowest, faultSamples, heatBoundsMs } = report;
  return {
    verdict,
    exitCode,
    targets,
    chat,
    health,
    streams,
    outages,
    trend,
    curve,
    timeline,
    slowest,
    faultSamples,
    heatBoundsMs,
  };
}

void t.test('a merged report is exactly that of one load generator with the same samples', (t) => {
  const chance = seededRandom('merge');
  for (const [count, failedShare] of [
    [1, 0.02],
    [2, 0],
    [2, 0.02],
    [3, 0.002],
    [5, 0.05],
    [7, 0.3],
  ] as const) {
    const samples = drawSamples(chance.fork(`${count} ${failedShare}`), failedShare);
    const whole = reportOf(samples);
    const parts = split(samples, count);
    const shards = parts.map((part, nth) => reportOf(part, { index: nth + 1, count }));
    for (const shard of shards) {
      t.same(findViolations('LoadReport', shard), []);
      t.match(shard, { verdict: 'NOT TESTED', exitCode: 0 });
      t.ok(shard.targets.every(({ verdict }) => verdict === 'NOT TESTED'));
    }
    const merged = merge(shards.toReversed());
    const name = `${count} shards, ${failedShare * 100}% failed: ${whole.verdict}`;
    t.strictSame(
      measuredFields(JSON.parse(JSON.stringify(merged)) as LoadReport),
      measuredFields(whole),
      name,
    );
    t.equal(merged.sentence, whole.sentence);
    t.same(
      merged.mergedFrom?.map(({ index }) => index),
      shardsOf(count).map(({ index }) => index),
    );
    t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(merged))), []);
    for (const [nth, row] of merged.timeline.entries()) {
      t.ok(row.inFlight >= (whole.timeline[nth]?.inFlight ?? 0), 'an upper bound');
    }
  }
  t.end();
});

const samples = drawSamples(seededRandom('refusals'), 0.01);
const [left, right] = split(samples, 2).map((part, nth) =>
  reportOf(part, { index: nth + 1, count: 2 }),
) as [LoadReport, LoadReport];

/** Returns a shard whose steady state began later. */
function delay(report: LoadReport, ms: number): LoadReport {
  const changed = structuredClone(report);
  const measurements = changed.shard?.measurements;
  if (measurements) {
    const atMs = Date.parse(measurements.windowStartedAt) + ms;
    measurements.windowStartedAt = new Date(atMs).toISOString();
  }
  return changed;
}

void t.test('reports that are not all shards of one run are refused', (t) => {
  const { shard } = left;
  if (!shard) throw new Error('A shard has no identity.');
  const { measurements } = shard;
  if (!measurements) throw new Error('A shard has no measurements.');
  const firstOf3: LoadReport = { ...left, shard: { ...shard, count: 3 } };
  const damagedStreams = measurements.streams.map((stream) => ({
    ...stream,
    lag: { ...stream.lag, encoded: 'HISTFAAA' },
  }));
  const cases: [reports: LoadReport[], message: RegExp][] = [
    [[], /^There is no report to merge\.$/],
    [[left], /^Shard 2\/2 is missing\. Merge the reports of all 2 shards of the run\.$/],
    [[firstOf3], /^Shards 2\/3 and 3\/3 are missing\./],
    [[left, left], /^1\.json and 2\.json are both shard 1\/2\. Merge each shard once\.$/],
    [[left, reportOf(samples)], /^2\.json is the report of a whole run, not of a shard\. Run load/],
    [[merge([left, right]), right], /^1\.json is already a merged report\. Merge the reports of/],
    [[firstOf3, right], /the number of shards is 3 in 1\.json, but 2 in 2\.json\./],
    [
      [left, { ...right, sandbox: 'http://127.0.0.1:2' }],
      /^1\.json and 2\.json are shards of different runs: the sandbox is http:\/\/127\.0\.0\.1:1 in 1\.json, but http:\/\/127\.0\.0\.1:2 in 2\.json\. Give all shards/,
    ],
    [
      [left, { ...right, kitVersion: '9.9.9' }],
      /the kit version is 0\.1\.0 in 1\.json, but 9\.9\.9/,
    ],
    [[left, { ...right, seed: 'other' }], /the seed is test in 1\.json, but other in 2\.json/],
    [[left, { ...right, plan: { ...plan, ratePerSecond: 61 } }], /the rate is 60 in/],
    [[left, { ...right, plan: { ...plan, windowMs: 5_000 } }], /the duration is 20 s in/],
    [[left, { ...right, plan: { ...plan, arrivals: 'poisson' } }], /the spacing of requests is/],
    [[left, { ...right, targets: right.targets.slice(0, -1) }], /the list of thresholds is/],
    [
      [left, { ...right, shard: { ...shard, index: 2, messagesDigest: 'a'.repeat(64) } }],
      /the set of messages is not set in 1\.json/,
    ],
    [
      [left, { ...right, shard: { ...shard, index: 2, startAt: '2026-11-22T23:30:00Z' } }],
      /the requested start is not set in 1\.json, but 2026-/,
    ],
    [
      [left, { ...right, streams: ['chat'] }],
      /sent different requests: chat and health in 1\.json, but chat in/,
    ],
    [
      [left, delay(right, 1_001)],
      /^The steady states of 1\.json and 2\.json began 1 s apart, but at most 1 s is allowed: the sandbox gets the planned rate only while all shards send\. Start all shards with the same --start-at/,
    ],
    [
      [left, { ...right, shard: { ...shard, index: 3 } }],
      /^2\.json is damaged: it claims to be shard 3\/2\.$/,
    ],
    [
      [
        {
          ...left,
          shard: { ...shard, measurements: { ...measurements, streams: damagedStreams } },
        },
        right,
      ],
      /^1\.json is damaged: the measurements of shard 1\/2 can't be read\./,
    ],
    [
      [{ ...left, chat: { ...(left.chat as never as object), ok: 1 } as never }, right],
      /^1\.json is damaged/,
    ],
  ];
  for (const [reports, message] of cases) {
    let error: unknown;
    try {
      merge(reports);
    } catch (thrown) {
      error = thrown;
    }
    t.ok(error instanceof MergeError, String(message));
    t.match((error as Error | undefined)?.message, message);
  }
  t.doesNotThrow(() => merge([left, delay(right, 1_000)]), 'one second apart');
  t.end();
});

void t.test('the self-checks of all shards must hold', (t) => {
  const [first = [], second = []] = split(samples, 2);
  const slow = reportOf(second, { index: 2, count: 2 }, { missed: 3 });
  t.match(slow, { verdict: 'INVALID RUN', exitCode: 3 });
  const merged = merge([reportOf(first, { index: 1, count: 2 }), slow]);
  t.match(merged, { verdict: 'INVALID RUN', exitCode: 3 });
  t.match(merged.selfCheck.reasons, [
    /^Shard 2\/2: The load generator could not keep up: requests not sent 3/,
  ]);
  const missed = merged.selfCheck.figures.find(({ name }) => name === 'requests not sent');
  t.match(missed, { value: 3, holds: false });
  t.ok(merged.targets.every(({ verdict }) => ['INVALID RUN', 'NOT TESTED'].includes(verdict)));
  t.end();
});

void t.test('a shard that could not start or stopped early makes the run invalid', (t) => {
  const shard = { index: 2, count: 2 };
  const cause = { message: 'Nothing listens.', cure: 'Start the sandbox.' };
  const blocked = buildBlockedReport(
    { ...options, shard },
    { plan, startedAtMs: 1_800_000_000_000 },
    cause,
  );
  const merged = merge([left, blocked]);
  t.match(merged, {
    verdict: 'INVALID RUN',
    exitCode: 3,
    blockedBy: { message: 'Shard 2/2: Nothing listens.', cure: cause.cure },
  });
  t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(merged))), []);
  const [, second = []] = split(samples, 2);
  const earlyEnd = { kind: 'down', detail: '11 of 20 requests failed' } as const;
  const down = (ranMs: number): LoadReport => reportOf(second, shard, { ranMs, earlyEnd });
  t.match(down(12_000), { verdict: 'NOT TESTED', exitCode: 3, sentence: / ended early\. / });
  const early = merge([left, down(12_000)]);
  t.equal(early.verdict, 'INVALID RUN');
  t.match(early.selfCheck.reasons, [/^Shard 2\/2 ended 8 s before the last shard/]);
  const together = merge([left, down(18_000)]);
  t.not(together.verdict, 'INVALID RUN', 'all shards noticed it');
  t.match(together.aborted, /^Shard 2\/2: The run was aborted because the sandbox is down/);
  const interrupted = reportOf(second, shard, {
    ranMs: 3_000,
    earlyEnd: { kind: 'interrupted' },
  });
  t.match(merge([left, interrupted]).selfCheck.reasons, [/^Shard 2\/2: The run was interrupted/]);
  t.end();
});
