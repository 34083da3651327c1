/** Concurrent calls against a healthy agent and against each fault, which has its own error kind. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { htmlReport, junitReport, markdownReport, type LoadProgress } from '../../load/index.ts';
import { WebSocketServer } from 'ws';
import { targetTable } from '../../load/verdict/targets.ts';
import { judgeConnections, judgeVoiceLatency } from '../../load/verdict/voice.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import { findTarget, testedVerdicts } from '../support/measurements/run-load.ts';
import { runVoiceLoad, waitForNoCalls, getVoice } from '../support/measurements/voice-load.ts';
import { atNight, isNightly, nightOnly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const bounds = { errorCounts: '', ranMs: 60_000 };
const chance = () => seededRandom('test');
const latencies = (met: number, unknown: number, missed: number) => [
  ...Array.from({ length: met }, () => ({ pathMs: 25, verdict: 'met' as const })),
  ...Array.from({ length: unknown }, () => ({ pathMs: 25, verdict: 'not_proven' as const })),
  ...Array.from({ length: missed }, () => ({ pathMs: 250, verdict: 'missed' as const })),
];

void t.test('connections: 100 calls held for a minute pass; a single lost call fails', (t) => {
  const judged = (calls: number, held: number, ranMs = 60_000) =>
    judgeConnections(targetTable.voiceConnections.row, {
      ...bounds,
      calls,
      held,
      ranMs,
      latencies: [],
    });
  t.match(judged(100, 100), { verdict: 'PASS', measured: 100, samples: 100 });
  t.match(judged(100, 100).reason, /at least 97% of further calls would be held/);
  t.match(judged(100, 99), { verdict: 'FAIL', measured: 99 });
  t.match(judged(5, 4), { verdict: 'FAIL' }, 'a smaller run does not excuse it');
  t.match(judged(5, 5), { verdict: 'NOT PROVEN', reason: /The run placed only 5 calls\./ });
  t.match(judged(100, 100, 30_000), {
    verdict: 'NOT PROVEN',
    reason: /held for 30 s .* A PASS requires that the calls are held for 60 s\./,
  });
  t.match(judged(150, 150), { verdict: 'PASS', target: 150 });
  t.match(judged(150, 149), { verdict: 'FAIL', target: 150 });
  t.end();
});

void t.test('latency: judges the 95th percentile over calls with 95% confidence', (t) => {
  const judged = (met: number, unknown: number, missed: number) =>
    judgeVoiceLatency(
      targetTable.voiceLatency.row,
      { ...bounds, calls: 100, held: 100, latencies: latencies(met, unknown, missed) },
      chance(),
    );
  t.equal(judged(100, 0, 0).verdict, 'PASS');
  t.equal(judged(59, 0, 0).verdict, 'PASS', 'the minimum number of calls');
  t.match(judged(58, 0, 0), { verdict: 'NOT PROVEN', reason: /59 without a miss/ });
  t.equal(judged(99, 0, 1).verdict, 'PASS');
  t.equal(judged(97, 0, 3).verdict, 'NOT PROVEN');
  t.match(judged(85, 0, 15), { verdict: 'FAIL', reason: /15 of 100 calls missed the target/ });
  t.match(judged(0, 100, 0), {
    verdict: 'NOT PROVEN',
    reason: /Buffering inside the agent cannot be ruled out\./,
  });
  t.match(judged(0, 0, 0), { verdict: 'NOT PROVEN', measured: null, bound95: null });
  t.end();
});

void t.test(
  'a healthy agent holds its calls, with audio in both directions, and none is left',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const report = await runOnQuietMachine(
      t,
      () => runVoiceLoad(agent.url, { windowMs: 9_000 }),
      ({ exitCode, voice }) => exitCode === 3 && (voice?.turnResponseMs.p50 ?? 0) >= 100,
    );
    if (!report) return;
    const voice = getVoice(report);
    t.same(testedVerdicts(report), {
      'voice-latency': 'NOT PROVEN',
      'voice-connections': 'NOT PROVEN',
    });
    t.equal(report.exitCode, 3);
    t.match(voice, { calls: 3, connected: 3, held: 3, lost: 0, errors: {} });
    t.equal(voice.packets.lost, 0);
    t.ok(voice.packets.received > 3 * 200, `${voice.packets.received} packets received`);
    t.ok(voice.packets.sent > 3 * 200, `${voice.packets.sent} packets sent`);
    t.ok(voice.turns >= 3, `${voice.turns} turns`);
    t.equal(voice.unansweredTurns, 0);
    t.ok((voice.audioPathLatencyMs.p50 ?? 0) >= 20, 'one packet takes 20 ms');
    t.ok(
      (voice.turnResponseMs.p50 ?? 0) >= 100,
      'the end of a turn is detected after some silence',
    );
    t.ok((voice.setupMs.p50 ?? 0) > (voice.readyMs.p50 ?? 0));
    t.equal(voice.perCall.length, 3);
    t.ok(voice.timeline.some(({ up }) => up === 3));
    await waitForNoCalls(agent.url);
  },
);

void t.test(
  'the time left covers the placing of the calls, and only decreases',
  nightOnly(),
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const ticks: LoadProgress[] = [];
    const onTick = (live: LoadProgress): void => void ticks.push(live);
    const voice = { calls: 5, callsPerSecond: 2 };
    const report = await runVoiceLoad(agent.url, { windowMs: 2_000, onTick }, voice);
    t.equal(getVoice(report).calls, 5);
    t.match(ticks[0], { phase: 'preflight', leftMs: 1_500 + 2_000 + 2_000 });
    const lefts = ticks.map(({ leftMs }) => leftMs);
    t.ok(
      lefts.every((leftMs, nth) => leftMs >= 0 && leftMs <= (lefts[nth - 1] ?? Infinity)),
      lefts.join(', '),
    );
    const ramp = ticks.filter(({ phase }) => phase === 'ramp').map(({ leftMs }) => leftMs);
    t.ok(Math.max(...ramp) > 2_000, 'calls are still to be placed');
  },
);

/** The faults and the kinds of errors that they cause; the last two cause the same. */
const MEDIA_FAULTS = [
  ['no media', { kind: 'no_media' }, /errors: 3 no_media/, { connected: 3, held: 0 }],
  [
    'a dropped call',
    { kind: 'dropped_call' },
    /errors: 3 dropped/,
    { connected: 3, held: 0, lost: 3 },
  ],
  [
    'an offer without keys',
    { kind: 'bad_sdp' },
    /errors: 3 bad_offer/,
    { connected: 0, held: 0, lost: 0 },
  ],
  ['no Opus', { kind: 'wrong_codec' }, /errors: 3 bad_offer/, { connected: 0, held: 0, lost: 0 }],
] as const;

for (const [title, fault, errorCounts, figures] of MEDIA_FAULTS.slice(0, atNight(4, 3))) {
  void t.test(`${title}: FAIL, with the kind of error`, async (t) => {
    const { agent } = await withReferenceAgent(t, { faults: [fault] });
    const report = await runVoiceLoad(agent.url);
    t.equal(report.verdict, 'FAIL', report.sentence);
    t.equal(report.exitCode, 1);
    t.match(findTarget(report, 'voice-connections'), { verdict: 'FAIL', reason: errorCounts });
    t.match(getVoice(report), figures);
    t.ok(getVoice(report).perCall.every(({ verdict }) => verdict === 'FAIL'));
    t.ok(getVoice(report).faultSamples.every(({ detail }) => detail.length > 10));
    await waitForNoCalls(agent.url);
  });
}

void t.test('a late offer is awaited, and counts as setup time', nightOnly(), async (t) => {
  const latency = { min_ms: 1_500, max_ms: 1_500 };
  const { agent } = await withReferenceAgent(t, {
    faults: [{ kind: 'latency', route: 'voice', latency }],
  });
  const voice = getVoice(await runVoiceLoad(agent.url));
  t.match(voice, { connected: 3, held: 3, lost: 0 });
  t.ok((voice.readyMs.p50 ?? 0) >= 1_500, `${voice.readyMs.p50} ms`);
});

void t.test(
  '600 ms of buffering inside the agent never meets the target',
  nightOnly(),
  async (t) => {
    const { agent } = await withReferenceAgent(t, { faults: [{ kind: 'buffered_audio' }] });
    const report = await runVoiceLoad(agent.url, { windowMs: 10_000 });
    const voice = getVoice(report);
    t.match(voice, { held: 3, latencyVerdicts: { met: 0 } });
    t.ok(voice.turns > 0);
    t.ok((voice.turnResponseMs.p50 ?? 0) >= 600, `${voice.turnResponseMs.p50} ms`);
    t.not(findTarget(report, 'voice-latency').verdict, 'PASS');
  },
);

void t.test('audio that is delayed on the network path misses the target', async (t) => {
  const latency = { min_ms: 0, max_ms: 500 };
  const { agent } = await withReferenceAgent(t, { faults: [{ kind: 'jitter', latency }] });
  // On a busy machine, the delay may be the load test's own, and proves nothing.
  const report = await runOnQuietMachine(
    t,
    () => runVoiceLoad(agent.url, { windowMs: 5_000 }),
    (each) => findTarget(each, 'voice-latency').verdict === 'FAIL',
  );
  if (!report) return;
  t.match(findTarget(report, 'voice-latency'), {
    verdict: 'FAIL',
    reason: /3 of 3 calls missed the target/,
  });
  t.ok((findTarget(report, 'voice-latency').measured ?? 0) >= 200);
});

void t.test(
  'too many calls, and a missing key, have their own error kinds in every report',
  async (t) => {
    const { agent: small } = await withReferenceAgent(t, { voice: { callsMax: 2 } });
    const few = await runVoiceLoad(small.url);
    t.match(getVoice(few), { connected: 2, held: 2, errors: { too_many_calls: 1 } });
    t.equal(few.verdict, 'FAIL');
    const page = htmlReport(few);
    t.match(page, /<h2[^>]*>Voice<\/h2>/);
    t.match(page, /3 calls: 2 connected, 2 held, 0 lost/);
    t.notMatch(page, /<(img|link|iframe)\b|<script[^>]* src=/i);
    t.match(markdownReport(few), /### 3 calls: 2 connected, 2 held, 0 lost/);
    t.match(junitReport(few), /name="voice-connections">\s*<failure message="FAIL: 2 of 3/);
    const { agent: locked } = await withReferenceAgent(t, { apiKey: 'a-key' });
    t.match(getVoice(await runVoiceLoad(locked.url)).errors, { unauthorized: 3 });
    if (isNightly) t.equal(getVoice(await runVoiceLoad(locked.url, { apiKey: 'a-key' })).held, 3);
  },
);

void t.test(
  'a sandbox that opens the WebSocket but never sends an offer is given up',
  nightOnly(),
  async (t) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.teardown(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const voice = getVoice(await runVoiceLoad(`http://127.0.0.1:${port}`, {}, { calls: 1 }));
    t.match(voice, { connected: 0, held: 0, lost: 0, errors: { no_offer: 1 } });
    t.match(voice.faultSamples, [{ detail: /no call_ready within 15 s/ }]);
  },
);

void t.test('profile all: concurrent requests and calls, in one report', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const report = await runVoiceLoad(agent.url, { profile: 'all', ratePerSecond: 20 });
  t.match(getVoice(report), { connected: 3, held: 3, lost: 0 });
  t.match(report.chat, { offered: 60, sent: 60, ok: 60 });
  t.equal(findTarget(report, 'chat-sessions').verdict, 'PASS');
  t.equal(findTarget(report, 'voice-connections').verdict, 'NOT PROVEN');
  t.match(report.streams, ['chat', 'health', 'users']);
});
