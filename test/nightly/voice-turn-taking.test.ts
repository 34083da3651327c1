/** Calls of agents with planted habits: what is measured is true, or the report says why it may not be. */
import { spawn } from 'node:child_process';
import t, { type Test } from 'tap';
import type { EvalDefinition, Scenario, TurnTaking } from '../../src/contract/index.ts';
import { makeUserScenario, simulateSession } from '../helpers/simulation.ts';
import { takeTurns, type TurnTakingHabits } from '../helpers/turn-taking-agent.ts';
import { withVoiceDouble } from '../helpers/voice-double.ts';

const PRECISION_MS = 60;

const within = (kind: EvalDefinition['kind'], ms: number): EvalDefinition => ({
  ...{ id: `${kind}-${ms}`, name: `${kind} ${ms}`, kind, params: { ms } },
});

/** Calls an agent with these habits; returns what was measured, and the outcomes of the evals. */
async function measureAgent(
  t: Test,
  habits: TurnTakingHabits,
  user: Omit<Scenario['user'], 'mode'>,
  evals: EvalDefinition[],
) {
  const { url } = await withVoiceDouble(t, takeTurns(habits));
  const scenario = makeUserScenario({ mode: 'scripted', ...user }, { channel: 'voice', evals });
  const session = await simulateSession(t, url, scenario, { voice: {} });
  t.match(session, { status: 'completed' });
  const outcomes = new Map(
    session.eval_outcomes.map(({ eval: id = '', outcome }) => [id, outcome] as const),
  );
  return { measured: session.turn_taking as TurnTaking, outcomes };
}

const isProven = ({ not_proven: reason }: TurnTaking): boolean => reason === undefined;

/** Asserts a time, unless the report says that it is not proven. */
function assertNear(t: Test, measured: TurnTaking, ms: number | null | undefined, truth: number) {
  const about = `${ms} ms, is ${truth} ms; ${measured.not_proven?.reason ?? 'proven'}`;
  t.comment(about);
  if (isProven(measured)) t.ok(Math.abs((ms ?? NaN) - truth) <= PRECISION_MS, about);
}

/** Tries agents with different yield times. */
async function tryYields(t: Test): Promise<void> {
  for (const truth of [100, 300, 800, undefined]) {
    const ms = truth ?? 5_000;
    const evals = [
      within('yields_within_ms', ms + 2 * PRECISION_MS),
      ...(truth === undefined ? [] : [within('yields_within_ms', ms - PRECISION_MS)]),
    ];
    const { measured, outcomes } = await measureAgent(
      t,
      { endpointMs: 300, ...(truth !== undefined && { yieldMs: truth }) },
      {
        opening: 'Where is my order?',
        opening_delivery: {
          interrupt: { after_ms: 1_500, say: 'Wait, it is a gift, and I have no receipt.' },
        },
      },
      evals,
    );
    t.equal(measured.interruptions.length, 1);
    const [interruption] = measured.interruptions;
    const [loose = '', strict = ''] = evals.map(({ id }) => id);
    if (truth === undefined) {
      t.comment(`${interruption?.yield_ms} ms, never yields; ${measured.not_proven?.late_ms}`);
      if (isProven(measured)) t.equal(interruption?.yield_ms, null, 'never yields');
      t.not(outcomes.get(loose), 'pass');
      continue;
    }
    assertNear(t, measured, interruption?.yield_ms, truth);
    t.not(outcomes.get(loose), 'fail', 'never the wrong word');
    t.not(outcomes.get(strict), 'pass', 'never the wrong word');
  }
}

/** Tries agents with different endpoint delays on a line with a pause of 700 ms. */
async function tryEndpoints(t: Test): Promise<void> {
  for (const truth of [200, 500, 900]) {
    const isEager = truth < 700;
    const evals: EvalDefinition[] = [
      { id: 'waits', name: 'Waits', kind: 'no_false_endpoint', params: {} },
      within('responds_within_ms', truth + 2 * PRECISION_MS),
    ];
    const { measured, outcomes } = await measureAgent(
      t,
      { endpointMs: truth, yieldMs: 200 },
      {
        opening: 'Where is my order?',
        steps: [
          { say: 'I want to return the blue kettle that I bought last week.', pause_ms: 700 },
        ],
      },
      evals,
    );
    assertNear(t, measured, measured.responses[0]?.response_ms, truth);
    if (isProven(measured)) t.equal(measured.false_endpoints, isEager ? 1 : 0, `${truth} ms`);
    t.not(outcomes.get('waits'), isEager ? 'pass' : 'fail', 'never the wrong word');
    t.not(outcomes.get(evals[1]?.id ?? ''), 'fail', 'never the wrong word');
  }
}

void t.test('yield times', { timeout: 300_000 }, tryYields);

void t.test('endpoint delays, and pauses that are taken for the end', { timeout: 300_000 }, (t) =>
  tryEndpoints(t),
);

void t.test('an agent that talks over the caller', { timeout: 60_000 }, async (t) => {
  const { measured, outcomes } = await measureAgent(
    t,
    { endpointMs: 300, yieldMs: 200, talksOverAfterMs: 800 },
    { opening: 'I want to return the blue kettle that I bought last week.' },
    [{ id: 'polite', name: 'Polite', kind: 'never_interrupts', params: {} }],
  );
  if (isProven(measured)) t.equal(measured.agent_interruptions, 1);
  t.not(outcomes.get('polite'), 'pass');
  t.ok(measured.overlap_ms > 200 && measured.overlap_ms < 700, `${measured.overlap_ms} ms`);
});

void t.test('on a busy machine: right, or not proven', { timeout: 600_000 }, async (t) => {
  const loops = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);']));
  t.teardown(() => loops.forEach((loop) => loop.kill('SIGKILL')));
  await tryYields(t);
  await tryEndpoints(t);
});
