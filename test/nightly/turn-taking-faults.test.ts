/**
 * Each fault of turn-taking of the reference agent is found by the measure and the eval that it
 * concerns, and by no other. An agent without a fault passes all of them.
 */
import t, { type Test } from 'tap';
import type {
  AgentFault,
  EvalDefinition,
  Persona,
  Scenario,
  SimulatedSessionReport,
  TurnTaking,
} from '../../src/contract/index.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { makeContainsEval } from '../support/services/service.ts';
import { makeUserScenario } from '../support/sessions/scenarios.ts';
import { simulateSession } from '../support/sessions/simulated-sessions.ts';

/** A busy machine delays the replies of an agent without a fault, too. */
const SLOW_MS = 8_000;

const always: EvalDefinition[] = [
  { id: 'responds', name: 'Responds', kind: 'responds_within_ms', params: { ms: SLOW_MS } },
  { id: 'no_dead_air', name: 'Is not silent', kind: 'no_dead_air', params: { ms: SLOW_MS } },
];

const ofCall = { channel: 'voice', limits: { turn_timeout_ms: 20_000 } } as const;

/** The user interrupts the reply. */
const interrupting = makeUserScenario(
  {
    mode: 'scripted',
    opening: 'What are your opening hours?',
    opening_delivery: { interrupt: { after_ms: 600, say: 'Wait, where is order A-1002?' } },
  },
  {
    ...ofCall,
    evals: [
      { id: 'yields', name: 'Yields', kind: 'yields_within_ms', params: { ms: 500 } },
      makeContainsEval('answers', 'A-1002'),
      ...always,
    ],
  },
);

/** The user pauses within a line. */
const hesitating = makeUserScenario(
  {
    mode: 'scripted',
    opening: 'I want to return the blue kettle that I bought last week.',
    opening_delivery: { pause_ms: 1_200 },
  },
  {
    ...ofCall,
    evals: [
      { id: 'polite', name: 'Lets the user finish', kind: 'never_interrupts', params: {} },
      { id: 'waits', name: 'Waits in pauses', kind: 'no_false_endpoint', params: {} },
      ...always,
    ],
  },
);

const noise: Persona = {
  id: 'noise',
  name: 'Noise',
  voice: { noise: { kind: 'street', snr_db: 15 } },
};

/** Calls an agent that waits in pauses, apart from its fault. */
async function call(
  t: Test,
  scenario: Scenario,
  fault?: AgentFault,
): Promise<SimulatedSessionReport> {
  const { agent } = await withReferenceAgent(t, {
    voice: { hangOverMs: 1_500 },
    ...(fault && { faults: [fault] }),
  });
  const session = await simulateSession(t, agent.url, scenario, { voice: {} });
  t.comment(JSON.stringify({ ...session.turn_taking, events: undefined }));
  return session;
}

/** Asserts which evals fail. An eval without an outcome is right only if the kit was late. */
function assertFailures(
  t: Test,
  { eval_outcomes: outcomes, errored_evals: errors, turn_taking: measured }: SimulatedSessionReport,
  failing: readonly string[],
): void {
  t.ok(outcomes.length + errors.length > 0, 'the session is scored');
  for (const { eval: id, outcome, reasoning } of outcomes) {
    t.equal(outcome, failing.includes(String(id)) ? 'fail' : 'pass', `${String(id)}: ${reasoning}`);
  }
  if (!measured?.not_proven) t.same(errors, []);
}

interface FaultRow {
  scenario: Scenario;
  fault: AgentFault;
  /** The evals that fail because of it. */
  failing: readonly string[];
  /** Whether the measure of the fault shows it. */
  isMeasured: (measured: TurnTaking) => boolean;
}

const between = (min_ms: number, max_ms: number) => ({ latency: { min_ms, max_ms } });

const rows: FaultRow[] = [
  {
    scenario: interrupting,
    fault: { kind: 'never_yields' },
    failing: ['yields'],
    isMeasured: ({ interruptions }) => interruptions[0]?.yield_ms === null,
  },
  {
    scenario: interrupting,
    fault: { kind: 'slow_yield' },
    failing: ['yields'],
    isMeasured: ({ interruptions }) => Number(interruptions[0]?.yield_ms) > 500,
  },
  {
    scenario: interrupting,
    fault: { kind: 'forgets_after_barge_in' },
    failing: ['answers'],
    isMeasured: ({ interruptions }) => Number(interruptions[0]?.yield_ms) < 500,
  },
  {
    scenario: hesitating,
    fault: { kind: 'talks_over' },
    failing: ['polite'],
    isMeasured: ({ agent_interruptions: count, overlap_ms: ms }) => count > 0 && ms > 100,
  },
  {
    scenario: hesitating,
    // The usual delay of the fault is so short that it also mistakes the gaps between words.
    fault: { kind: 'eager_endpoint', ...between(200, 200) },
    failing: ['waits'],
    isMeasured: ({ false_endpoints: count }) => count > 0,
  },
  {
    scenario: hesitating,
    fault: { kind: 'late_reply', ...between(SLOW_MS, SLOW_MS) },
    failing: ['responds', 'no_dead_air'],
    isMeasured: ({ response_ms: ms, dead_air_ms: deadMs }) =>
      Number(ms?.max) > SLOW_MS && deadMs > SLOW_MS,
  },
  {
    scenario: hesitating,
    fault: { kind: 'jitter', ...between(0, 300) },
    failing: [],
    isMeasured: ({ gaps }) => gaps > 0,
  },
];

void t.test('an agent without a fault passes', async (t) => {
  for (const scenario of [interrupting, hesitating, { ...hesitating, persona: noise }]) {
    const session = await call(t, scenario);
    assertFailures(t, session, []);
    if (session.turn_taking?.not_proven) continue;
    t.match(session.turn_taking, {
      agent_interruptions: 0,
      false_endpoints: 0,
      missed_turns: 0,
      gaps: 0,
    });
  }
});

for (const { scenario, fault, failing, isMeasured } of rows) {
  void t.test(
    `${fault.kind} is measured, and fails ${failing.join(', ') || 'no eval'}`,
    async (t) => {
      const session = await call(t, scenario, fault);
      assertFailures(t, session, failing);
      const { turn_taking: measured } = session;
      if (measured && !measured.not_proven) t.ok(isMeasured(measured));
    },
  );
}

void t.test('deaf_after_noise: the line without a reply is a missed turn', async (t) => {
  const limits = { turn_timeout_ms: 5_000 };
  const deaf = { ...hesitating, persona: noise, limits };
  const { turn_taking: measured, ...session } = await call(t, deaf, { kind: 'deaf_after_noise' });
  t.match(session, { status: 'failed', end_reason: 'timeout', verdict: 'undecided' });
  t.ok((measured?.missed_turns ?? 0) > 0, 'missed');
});
