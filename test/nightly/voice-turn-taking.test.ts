/**
 * Calls of agents with planted habits, on werift and on libwebrtc: what is measured is true, or the
 * report says why it may not be.
 */
import { spawn } from 'node:child_process';
import t, { type Test } from 'tap';
import type { EvalDefinition, Scenario, TurnTaking } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { withLibwebrtcAgent } from '../support/calls/libwebrtc-agent.ts';
import { HAS_EXTERNAL_INTERFACE } from '../support/calls/libwebrtc-peer.ts';
import { takeTurns, type TurnTakingHabits } from '../support/calls/turn-taking-agent.ts';
import { withVoiceDouble } from '../support/calls/voice-double.ts';
import { makeUserScenario } from '../support/sessions/scenarios.ts';
import { simulateSession } from '../support/sessions/simulated-sessions.ts';

const PRECISION_MS = 60;

const within = (kind: EvalDefinition['kind'], ms: number): EvalDefinition => ({
  id: `${kind}-${ms}`,
  name: `${kind} ${ms}`,
  kind,
  params: { ms },
});

interface Span {
  startMs: number;
  endMs: number;
}

/** What the agent logged about its own speech. */
interface OwnSpeech {
  spoken: Span[];
  /** How late the agent's process was at most. */
  lateMs: number;
}

interface StartedAgent {
  url: string;
  readSpeech: () => Promise<OwnSpeech | undefined>;
}

/** How an agent with these habits is started, by the name of its stack. */
const STACKS: Record<string, (t: Test, habits: TurnTakingHabits) => Promise<StartedAgent>> = {
  async werift(t, habits) {
    const { url } = await withVoiceDouble(t, takeTurns(habits));
    return { url, readSpeech: () => Promise.resolve(undefined) };
  },
  async libwebrtc(t, habits) {
    const { url, peers } = await withLibwebrtcAgent(t, { habits });
    // The agent's times are on the clock of the machine.
    const clockMs = Number(process.hrtime.bigint()) / 1e6 - systemClock.monotonicMs();
    const toOwn = (ms: number): number => ms - clockMs;
    const readSpeech = async (): Promise<OwnSpeech | undefined> => {
      const report = await peers[0]?.reportSpeech();
      return (
        report && {
          lateMs: report.lateMs,
          spoken: report.spoken.map(({ startMs, endMs }) => ({
            startMs: toOwn(startMs),
            endMs: toOwn(endMs),
          })),
        }
      );
    };
    return { url, readSpeech };
  },
};

/** A measured call. */
interface MeasuredCall {
  measured: TurnTaking;
  outcomes: Map<string, string>;
  /** The lines of the user. */
  lines: readonly Span[];
  own: OwnSpeech | undefined;
}

/** Calls an agent with these habits. */
async function measureAgent(
  t: Test,
  stack: string,
  habits: TurnTakingHabits,
  user: Omit<Scenario['user'], 'mode'>,
  evals: EvalDefinition[],
): Promise<MeasuredCall> {
  const agent = await STACKS[stack]?.(t, habits);
  if (!agent) throw new Error(`Unknown stack ${stack}.`);
  const scenario = makeUserScenario({ mode: 'scripted', ...user }, { channel: 'voice', evals });
  const lines: Span[] = [];
  const session = await simulateSession(t, agent.url, scenario, {
    voice: { onRecorded: (_plan, call) => void lines.push(...call.lines) },
  });
  t.match(session, { status: 'completed' });
  const outcomes = new Map(
    session.eval_outcomes.map(({ eval: id, outcome }) => [String(id), outcome] as const),
  );
  const measured = session.turn_taking as TurnTaking;
  return { measured, outcomes, lines, own: await agent.readSpeech() };
}

/** When the agent stopped after this time, by its own account. */
const findStopMs = ({ spoken }: OwnSpeech, afterMs: number): number =>
  spoken.find(({ endMs }) => endMs > afterMs)?.endMs ?? NaN;

const findStartMs = ({ spoken }: OwnSpeech, afterMs: number): number =>
  spoken.find(({ startMs }) => startMs > afterMs)?.startMs ?? NaN;

const isProven = ({ not_proven: reason }: TurnTaking): boolean => reason === undefined;

/** Asserts a time and the outcomes of evals on it, unless the report says that it is not proven. */
function assertTime(
  t: Test,
  { measured, outcomes, own }: MeasuredCall,
  ms: number | null | undefined,
  truth: number,
  evals: readonly EvalDefinition[],
) {
  // A process of the agent that was late sends later than it says.
  const precisionMs = PRECISION_MS + Math.max(0, (own?.lateMs ?? 0) - PRECISION_MS / 2);
  const about = `${ms} ms, is ${Math.round(truth)} ms; ${measured.not_proven?.reason ?? 'proven'}`;
  t.comment(about);
  if (isProven(measured)) t.ok(Math.abs((ms ?? NaN) - truth) <= precisionMs, about);
  for (const { id, params } of evals) {
    const limitMs = Number(params?.['ms']);
    if (truth < limitMs - precisionMs) t.not(outcomes.get(id), 'fail', `${id}: never wrong`);
    if (truth > limitMs + precisionMs) t.not(outcomes.get(id), 'pass', `${id}: never wrong`);
  }
}

/** Tries agents with different yield times. */
async function tryYields(t: Test, stack: string): Promise<void> {
  for (const yieldMs of [100, 300, 800, undefined]) {
    const limits =
      yieldMs === undefined ? [5_000] : [-1, 2, 4].map((each) => yieldMs + each * PRECISION_MS);
    const evals = limits.map((ms) => within('yields_within_ms', ms));
    const call = await measureAgent(
      t,
      stack,
      { endpointMs: 300, ...(yieldMs !== undefined && { yieldMs }) },
      {
        opening: 'Where is my order?',
        opening_delivery: {
          interrupt: { after_ms: 1_500, say: 'Wait, it is a gift, and I have no receipt.' },
        },
      },
      evals,
    );
    const { measured, own, lines, outcomes } = call;
    t.equal(measured.interruptions.length, 1);
    const ms = measured.interruptions[0]?.yield_ms;
    if (yieldMs === undefined) {
      t.comment(`${ms} ms, never yields; ${measured.not_proven?.late_ms}`);
      if (isProven(measured)) t.equal(ms, null, 'never yields');
      t.not(outcomes.get(evals[0]?.id ?? ''), 'pass');
      continue;
    }
    const startMs = lines[1]?.startMs ?? NaN;
    assertTime(t, call, ms, own ? findStopMs(own, startMs) - startMs : yieldMs, evals);
  }
}

/** Tries agents with different endpoint delays on a line with a pause of 700 ms. */
async function tryEndpoints(t: Test, stack: string): Promise<void> {
  for (const endpointMs of [200, 500, 900]) {
    const isEager = endpointMs < 700;
    const evals = [-1, 2, 4].map((each) =>
      within('responds_within_ms', endpointMs + each * PRECISION_MS),
    );
    const call = await measureAgent(
      t,
      stack,
      { endpointMs, yieldMs: 200 },
      {
        opening: 'Where is my order?',
        steps: [
          { say: 'I want to return the blue kettle that I bought last week.', pause_ms: 700 },
        ],
      },
      [{ id: 'waits', name: 'Waits', kind: 'no_false_endpoint', params: {} }, ...evals],
    );
    const { measured, own, lines, outcomes } = call;
    const [first, second] = lines;
    const truth = own && first ? findStartMs(own, first.endMs) - first.endMs : endpointMs;
    const slowestMs = Math.max(
      truth,
      own && second ? findStartMs(own, second.endMs) - second.endMs : endpointMs,
    );
    assertTime(t, call, measured.responses[0]?.response_ms, truth, []);
    assertTime(t, call, measured.response_ms?.max, slowestMs, evals);
    if (isProven(measured)) t.equal(measured.false_endpoints, isEager ? 1 : 0, `${endpointMs} ms`);
    t.not(outcomes.get('waits'), isEager ? 'pass' : 'fail', 'never the wrong word');
  }
}

/** Tries an agent that speaks for 400 ms within a line. */
async function tryOverlap(t: Test, stack: string): Promise<void> {
  const { measured, outcomes, own, lines } = await measureAgent(
    t,
    stack,
    { endpointMs: 300, yieldMs: 200, talksOverAfterMs: 800 },
    { opening: 'I want to return the blue kettle that I bought last week.' },
    [{ id: 'polite', name: 'Polite', kind: 'never_interrupts', params: {} }],
  );
  const [line] = lines;
  const over = line && own?.spoken.find(({ startMs }) => startMs > line.startMs);
  const truth = over ? over.endMs - over.startMs : 400;
  const about = `${measured.overlap_ms} ms, is ${Math.round(truth)} ms`;
  t.comment(about);
  if (isProven(measured)) {
    t.equal(measured.agent_interruptions, 1);
    t.ok(Math.abs(measured.overlap_ms - truth) <= PRECISION_MS + (own?.lateMs ?? 0), about);
  }
  t.not(outcomes.get('polite'), 'pass');
}

for (const stack of Object.keys(STACKS)) {
  const canRun = stack !== 'libwebrtc' || HAS_EXTERNAL_INTERFACE;
  const skip = canRun ? {} : { skip: 'libwebrtc needs a network interface besides loopback' };

  void t.test(`${stack}: yield times`, { timeout: 300_000, ...skip }, (t) => tryYields(t, stack));

  void t.test(
    `${stack}: endpoint delays, and pauses that are mistaken for the end`,
    { timeout: 300_000, ...skip },
    (t) => tryEndpoints(t, stack),
  );

  void t.test(`${stack}: an agent that talks over the caller`, { timeout: 60_000, ...skip }, (t) =>
    tryOverlap(t, stack),
  );

  void t.test(
    `${stack}: on a busy machine: right, or not proven`,
    { timeout: 600_000, ...skip },
    async (t) => {
      const loops = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);']));
      t.teardown(() => loops.forEach((loop) => loop.kill('SIGKILL')));
      await tryYields(t, stack);
      await tryEndpoints(t, stack);
      await tryOverlap(t, stack);
    },
  );
}
