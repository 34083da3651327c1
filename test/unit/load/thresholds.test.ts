/** Thresholds of load runs: their syntax and their judgment. */
import t from 'tap';
import { checkThresholds, parseThresholds, ThresholdError } from '../../../load/index.ts';
import { judgeCallThreshold } from '../../../load/thresholds/judge-call-threshold.ts';
import { judgeThreshold } from '../../../load/thresholds/judge-threshold.ts';
import { applySelfCheck } from '../../../load/verdict/run-verdict.ts';
import { isLowerBetter } from '../../../load/verdict/target.ts';
import type { CallOutcome } from '../../../load/voice/fleet-messages.ts';
import type { InFlightTrend, LoadTarget } from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';

function parse(text: string): ReturnType<typeof parseThresholds>[number] {
  const [threshold] = parseThresholds([text]);
  if (!threshold) throw new Error(`Not a threshold: ${text}`);
  return threshold;
}

void t.test('a threshold is a metric, a comparison, and a value with its unit', (t) => {
  const rows: [text: string, row: object][] = [
    [
      'chat.p95<800ms',
      {
        id: 'chat.p95<800ms',
        metric: 'chat.p95',
        target: 800,
        unit: 'ms',
        statement: 'Chat response time (p95) is under 800 ms.',
      },
    ],
    [
      ' health.max <= 1.5s ',
      {
        id: 'health.max<=1.5s',
        target: 1_500,
        statement: 'Health response time (max) is at most 1.5 s.',
      },
    ],
    [
      'users.error_rate<0.5%',
      { target: 0.5, unit: '%', statement: 'Users error rate is under 0.5%.' },
    ],
    [
      'chat.rate>=50/s',
      { target: 50, unit: 'requests/s', statement: 'Chat rate is at least 50 requests/s.' },
    ],
    ['chat.rate>50/s', { statement: 'Chat rate is more than 50 requests/s.' }],
    ['voice.setup.p95<2s', { target: 2_000, statement: 'Time to connect (p95) is under 2 s.' }],
    ['voice.turn_response.p99.9<=3s', { metric: 'voice.turn_response.p99.9' }],
    ['voice.error_rate<1%', { statement: 'Voice call error rate is under 1%.' }],
  ];
  for (const [text, row] of rows) t.match(parse(text).row, row, text);
  t.end();
});

void t.test('the message about an invalid threshold says how to correct it', (t) => {
  const time = /needs < or <= and a time in ms or s, such as chat\.p95<800ms, got "/;
  const share =
    /needs < or <= and a percentage above 0% and below 100%, such as chat\.error_rate<1%/;
  const rate = /needs > or >= and a number of requests per second, such as chat\.rate>=50\/s/;
  const rows: [texts: string[], message: RegExp][] = [
    [
      ['chat.p95'],
      /^A threshold has the form METRIC<VALUE or METRIC>=VALUE, such as chat\.p95<800ms, got "chat\.p95"\.$/,
    ],
    [['chat.p95==800ms'], /^A threshold has the form/],
    [['chat.p95<800ms and more'], /^A threshold has the form/],
    [[''], /^A threshold has the form .* got ""/],
    [
      ['chat.p59<1s'],
      /^Unknown metric "chat\.p59"\. Did you mean chat\.p50\? Metrics of chat: chat\.p50, chat\.p90, /,
    ],
    [
      ['chat.latency<1s'],
      /^Unknown metric "chat\.latency"\..* Metrics of chat: chat\.p50, .* chat\.error_rate, chat\.rate\.$/,
    ],
    [
      ['tokens.p95<1s'],
      /^Unknown metric "tokens\.p95"\. Metrics begin with chat, health, users, voice, for example chat\.p95\.$/,
    ],
    [['chat.p95<800'], time],
    [['chat.p95>800ms'], time],
    [['chat.p95<0ms'], time],
    [['chat.p95<1m'], time],
    [['chat.p95<1%'], time],
    [['chat.error_rate<1'], share],
    [['chat.error_rate<0%'], share],
    [['chat.error_rate<100%'], share],
    [['chat.error_rate>1%'], share],
    [['chat.rate<50/s'], rate],
    [['chat.rate>=50'], rate],
    [['chat.rate>=0/s'], rate],
    [['chat.p95<1s', 'chat.p95 < 1s'], /^The threshold chat\.p95<1s occurs twice\. Remove one\.$/],
  ];
  for (const [texts, message] of rows) {
    t.throws(() => parseThresholds(texts), { name: 'ThresholdError', message }, texts.join());
  }
  t.ok(new ThresholdError('x') instanceof Error);
  t.end();
});

void t.test('a run must be able to measure its thresholds', (t) => {
  const plan = { profile: 'chat' as const, ratePerSecond: 20 };
  t.doesNotThrow(() => checkThresholds(parseThresholds(['chat.rate>=20/s']), plan));
  const rows: [text: string, plan: Parameters<typeof checkThresholds>[1], message: RegExp][] = [
    [
      'voice.setup.p95<2s',
      plan,
      /^The threshold voice\.setup\.p95<2s needs a profile with voice \(voice, all\), got chat\.$/,
    ],
    [
      'chat.p95<2s',
      { ...plan, profile: 'health' },
      /needs a profile with chat \(chat, conversation, mixed, all\), got health/,
    ],
    [
      'chat.rate>=21/s',
      plan,
      /needs a rate of at least 21 requests per second, but the run sends 20\.$/,
    ],
  ];
  for (const [text, options, message] of rows) {
    t.throws(() => checkThresholds(parseThresholds([text]), options), { message });
  }
  t.end();
});

const steady: InFlightTrend = {
  perSecond: 0,
  range95: [0, 0],
  atStart: 1,
  atEnd: 1,
  rising: false,
};

/** Judges a threshold on chat from the number of requests, breaches, and failures. */
function judge(
  text: string,
  { samples = 400, breaches = 0, failures = 0, offered = 20, trend = steady } = {},
): LoadTarget {
  const times = {
    response: { count: samples, atRank: () => 700, percentile: () => 600 },
    misses: [],
    breaches: [{ samples, hits: breaches }],
    failures: [{ samples, hits: failures }],
  };
  return judgeThreshold(
    parse(text),
    { ...times, offered: samples, echoed: 0, errors: {}, offeredPerSecond: offered, trend },
    seededRandom('a'),
  );
}

void t.test('thresholds on requests use the statistics of the targets', (t) => {
  const rows: [target: LoadTarget, verdict: string, reason: RegExp][] = [
    [
      judge('chat.p95<800ms'),
      'PASS',
      /^The p95 is 600 ms\. All 400 responses met the target; the slowest took 700 ms\.$/,
    ],
    [judge('chat.p95<800ms', { breaches: 50 }), 'FAIL', /50 of 400 responses missed/],
    [
      judge('chat.p95<800ms', { breaches: 18 }),
      'NOT PROVEN',
      /18 of 400 is too close to the limit\.$/,
    ],
    [judge('chat.p95<800ms', { samples: 0 }), 'NOT PROVEN', /No response time was measured/],
    [
      judge('chat.p99<800ms', { samples: 100 }),
      'NOT PROVEN',
      /100 samples are too few to prove it; at least 299/,
    ],
    [
      judge('chat.max<800ms'),
      'PASS',
      /^The slowest response of 400 took 700 ms; 0 missed the limit of 800 ms\.$/,
    ],
    [judge('chat.max<500ms', { breaches: 1 }), 'FAIL', /1 missed the limit of 500 ms/],
    [judge('chat.error_rate<1%'), 'PASS', /^0 of 400 requests failed \(0%\)\.$/],
    [judge('chat.error_rate<1%', { failures: 20 }), 'FAIL', /^20 of 400 requests failed \(5%\)\.$/],
    [
      judge('chat.error_rate<1%', { failures: 2 }),
      'NOT PROVEN',
      /2 of 400 is too close to the limit/,
    ],
    [
      judge('chat.rate>=20/s'),
      'PASS',
      /^Offered rate: 20 requests\/s; 20 requests\/s succeeded\.$/,
    ],
    [judge('chat.rate>=10/s', { failures: 100 }), 'PASS', /15 requests\/s succeeded/],
    [judge('chat.rate>=18/s', { failures: 100 }), 'FAIL', /15 requests\/s succeeded/],
    [
      judge('chat.rate>=20/s', { offered: 12 }),
      'NOT PROVEN',
      /The offered rate was only 12 requests\/s\.$/,
    ],
    [
      judge('chat.rate>=20/s', { trend: { ...steady, rising: true, perSecond: 5 } }),
      'FAIL',
      /15 requests\/s succeeded\. A backlog grew by 5 requests per second\.$/,
    ],
  ];
  for (const [target, verdict, reason] of rows) {
    t.equal(target.verdict, verdict, `${target.id}: ${target.reason}`);
    t.match(target.reason, reason, target.id);
  }
  t.end();
});

function call(nth: number, change: Partial<CallOutcome> = {}): CallOutcome {
  return {
    nth,
    session: `s${nth}`,
    isConnected: true,
    isHeld: true,
    isClosed: true,
    setupMs: 300,
    readyMs: 100,
    roundTripsMs: [],
    turnResponsesMs: [400, 500],
    turns: 2,
    unansweredTurns: 0,
    sent: 0,
    received: 0,
    lost: 0,
    reordered: 0,
    gaps: 0,
    longestGapMs: 0,
    ...change,
  };
}

void t.test('thresholds on calls count failed calls and turns without a response', (t) => {
  const good = Array.from({ length: 60 }, (_, nth) => call(nth));
  const fault = { kind: 'no_path' as const, detail: 'none', atMs: 0 };
  const { setupMs, ...unconnected } = call(60, { isHeld: false, isConnected: false, fault });
  const silent = call(60, { turnResponsesMs: [], unansweredTurns: 40 });
  const of = (text: string, calls: readonly CallOutcome[]): LoadTarget =>
    judgeCallThreshold(parse(text), calls, seededRandom('a'));
  const rows: [target: LoadTarget, verdict: string, reason: RegExp][] = [
    [
      of('voice.setup.p95<2s', good),
      'PASS',
      /^The p95 over 60 calls is 300 ms; 0 missed the limit\.$/,
    ],
    [
      of('voice.setup.max<2s', [...good, unconnected]),
      'FAIL',
      /slowest call of 61 had no result; 1 missed/,
    ],
    [of('voice.setup.p95<200ms', good), 'FAIL', /60 missed the limit/],
    [of('voice.setup.p99<2s', good), 'NOT PROVEN', /60 samples are too few/],
    [of('voice.turn_response.p95<2s', good), 'PASS', /^The p95 over 120 turns is 500 ms/],
    [
      of('voice.turn_response.p95<2s', [...good, silent]),
      'FAIL',
      /40 missed the limit \(40 of them without a result\)/,
    ],
    [of('voice.first_packet.p95<2s', good), 'NOT PROVEN', /^Nothing was measured\./],
    [of('voice.error_rate<5%', good), 'PASS', /^0 of 60 calls failed \(0%\)\.$/],
    [
      of('voice.error_rate<5%', [...good, ...Array.from({ length: 20 }, () => unconnected)]),
      'FAIL',
      /^20 of 80 calls failed/,
    ],
  ];
  for (const [target, verdict, reason] of rows) {
    t.equal(target.verdict, verdict, `${target.id}: ${target.reason}`);
    t.match(target.reason, reason, target.id);
  }
  t.equal(setupMs, 300);
  t.end();
});

void t.test(
  'the self-check applies; only response times can pass although the generator was late',
  (t) => {
    const check = { valid: false, isOnlyLate: true, reasons: [], figures: [] };
    const targets = [
      judge('chat.p95<800ms'),
      judge('chat.error_rate<1%'),
      judge('chat.rate>=20/s'),
    ];
    t.same(
      applySelfCheck(targets, check).map(({ verdict }) => verdict),
      ['PASS', 'INVALID RUN', 'INVALID RUN'],
    );
    t.same(targets.map(isLowerBetter), [true, true, false]);
    t.end();
  },
);
