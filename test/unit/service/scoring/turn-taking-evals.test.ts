/** The evals that measure how the two sides of a call took turns. */
import t from 'tap';
import { isMessage, type EvalDefinition, type TurnTaking } from '../../../../src/contract/index.ts';
import { scoreSession } from '../../../../src/service/scoring/eval-kinds.ts';
import { DEAD_AIR_MS_MIN } from '../../../../src/voice/turn-taking/measure.ts';

const calm: TurnTaking = {
  response_ms: { p50: 300, p95: 450, max: 450 },
  responses: [
    { turn: 1, response_ms: 300 },
    { turn: 2, response_ms: 450 },
  ],
  interruptions: [{ turn: 2, at_ms: 4_000, yield_ms: 250 }],
  backchannels: [],
  overlap_ms: 250,
  agent_interruptions: 0,
  false_endpoints: 0,
  missed_turns: 0,
  dead_air_ms: 0,
  gaps: 0,
  events: [
    { kind: 'pause', at_ms: 900, duration_ms: 800 },
    { kind: 'interruption', at_ms: 4_000, duration_ms: 1_500 },
  ],
};
const BUSY = { reason: 'sandbox-kit itself was 40 ms late', late_ms: 60 };
const deadAir = {
  dead_air_ms: 3_000,
  events: [...calm.events, { kind: 'dead_air' as const, at_ms: 6_000, duration_ms: 3_000 }],
};

/** The kind, its parameters, what differs from a calm call, the outcome, and its reasoning. */
const CASES: [
  EvalDefinition['kind'],
  Record<string, unknown>,
  Partial<TurnTaking>,
  'pass' | 'fail' | 'error',
  RegExp,
][] = [
  ['yields_within_ms', { ms: 250 }, {}, 'pass', /it stopped within 250 ms/],
  ['yields_within_ms', { ms: 249 }, {}, 'fail', /it took 250 ms in turn 2/],
  [
    'yields_within_ms',
    { ms: 9_000 },
    { interruptions: [{ turn: 2, at_ms: 1, yield_ms: null }] },
    'fail',
    /it did not stop in turn 2/,
  ],
  ['yields_within_ms', { ms: 500 }, { interruptions: [] }, 'error', /never interrupted/],
  ['yields_within_ms', { ms: 250 }, { not_proven: BUSY }, 'pass', /250 ms/],
  ['yields_within_ms', { ms: 190 }, { not_proven: BUSY }, 'error', /not proven.*40 ms late/],
  ['yields_within_ms', { ms: 189 }, { not_proven: BUSY }, 'fail', /it took 250 ms/],
  [
    'yields_within_ms',
    { ms: 9_000 },
    { interruptions: [{ turn: 2, at_ms: 1, yield_ms: null }], not_proven: BUSY },
    'fail',
    /it did not stop/,
  ],
  ['responds_within_ms', { ms: 450 }, {}, 'pass', /after 450 ms/],
  ['responds_within_ms', { ms: 400 }, {}, 'fail', /after 450 ms/],
  ['responds_within_ms', { ms: 450 }, { missed_turns: 1 }, 'fail', /1 line got no reply/],
  ['responds_within_ms', { ms: 1 }, { response_ms: null, responses: [] }, 'error', /no reply/],
  ['responds_within_ms', { ms: 400 }, { not_proven: BUSY }, 'error', /not proven/],
  ['responds_within_ms', { ms: 389 }, { not_proven: BUSY }, 'fail', /after 450 ms/],
  ['never_interrupts', {}, {}, 'pass', /it did\./],
  ['never_interrupts', {}, { agent_interruptions: 2 }, 'fail', /2 times/],
  ['never_interrupts', {}, { not_proven: BUSY }, 'error', /not proven/],
  [
    'never_interrupts',
    {},
    {
      agent_interruptions: 1,
      events: [{ kind: 'agent_interruption', at_ms: 900, duration_ms: 800 }],
      not_proven: BUSY,
    },
    'fail',
    /1 time/,
  ],
  ['no_false_endpoint', {}, {}, 'pass', /it waited/],
  ['no_false_endpoint', {}, { false_endpoints: 1 }, 'fail', /1 of 1 pause/],
  ['no_false_endpoint', {}, { events: [] }, 'error', /never paused/],
  ['no_false_endpoint', {}, { false_endpoints: 1, not_proven: BUSY }, 'error', /not proven/],
  ['no_dead_air', {}, {}, 'pass', /there was none/],
  ['no_dead_air', {}, deadAir, 'fail', /3000 ms at 6.0 s/],
  ['no_dead_air', { ms: 3_000 }, deadAir, 'pass', /there was none/],
  ['no_dead_air', { ms: 2_950 }, { ...deadAir, not_proven: BUSY }, 'error', /not proven/],
  ['no_dead_air', {}, { ...deadAir, not_proven: BUSY }, 'fail', /3000 ms/],
];

const score = (
  kind: EvalDefinition['kind'],
  params: Record<string, unknown>,
  turnTaking?: TurnTaking,
) =>
  scoreSession(
    { id: 'e', name: 'E', kind, params },
    { sessionId: 's', turns: [], ...(turnTaking && { turnTaking }) },
    undefined,
    new AbortController().signal,
  );

for (const [kind, params, change, outcome, reasoning] of CASES) {
  const about = `${kind} ${JSON.stringify(params)} with ${JSON.stringify(change)}: ${outcome}`;
  void t.test(about, async (t) => {
    t.match(await score(kind, params, { ...calm, ...change }), { outcome, reasoning });
  });
}

void t.test('a failed eval names the turns', async (t) => {
  const { evidence } = await score('yields_within_ms', { ms: 1 }, calm);
  t.same(evidence, [{ turn: 2, part: 'turn' }]);
  t.same((await score('responds_within_ms', { ms: 400 }, calm)).evidence, [
    { turn: 2, part: 'latency' },
  ]);
});

void t.test('a session without turn-taking, such as a chat, is not scored', async (t) => {
  for (const kind of new Set(CASES.map(([name]) => name))) {
    t.match(await score(kind, { ms: 5_000 }), { outcome: 'error', reasoning: /channel: voice/ });
  }
});

void t.test('no_dead_air cannot ask for a silence that is not measured', (t) => {
  const allow = (ms: number) => ({ id: 'e', name: 'E', kind: 'no_dead_air', params: { ms } });
  t.ok(isMessage('EvalDefinition', allow(DEAD_AIR_MS_MIN)));
  t.notOk(isMessage('EvalDefinition', allow(DEAD_AIR_MS_MIN - 1)));
  t.end();
});
