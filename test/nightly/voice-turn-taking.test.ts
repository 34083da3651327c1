/**
 * Calls of agents with planted habits, on werift and on libwebrtc: what is measured is true, or the
 * report says why it may not be. The last test prints measured and true values as a table.
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

/** Where a call is made. */
interface Setting {
  stack: string;
  /** Whether other programs need the machine, too. */
  isBusy: boolean;
}

/** A row of the table of measured and true values. */
interface TruthRow extends Setting {
  habit: string;
  measured: string;
  truth: string;
  /** The outcomes of the evals, or the reason they were not scored. */
  words: string;
}

const rows: TruthRow[] = [];

const formatMs = (ms: number | null | undefined): string =>
  typeof ms === 'number' && !Number.isNaN(ms) ? `${Math.round(ms)} ms` : 'none';

/** A measured call. */
interface MeasuredCall {
  setting: Setting;
  measured: TurnTaking;
  outcomes: Map<string, string>;
  /** The lines of the user. */
  lines: readonly Span[];
  own: OwnSpeech | undefined;
}

/** Calls an agent with these habits. Undefined if a busy machine could not complete the call. */
async function measureAgent(
  t: Test,
  setting: Setting,
  habits: TurnTakingHabits,
  user: Omit<Scenario['user'], 'mode'>,
  evals: EvalDefinition[],
): Promise<MeasuredCall | undefined> {
  const { stack, isBusy } = setting;
  const agent = await STACKS[stack]?.(t, habits);
  if (!agent) throw new Error(`Unknown stack ${stack}.`);
  const scenario = makeUserScenario({ mode: 'scripted', ...user }, { channel: 'voice', evals });
  const lines: Span[] = [];
  const session = await simulateSession(t, agent.url, scenario, {
    voice: { onRecorded: (_plan, call) => void lines.push(...call.lines) },
  });
  if (isBusy && session.status !== 'completed') {
    const words = `${session.verdict}: ${session.error}`;
    rows.push({ ...setting, habit: 'any', measured: 'none', truth: 'none', words });
    t.match(session, { verdict: 'undecided', eval_outcomes: [] }, words);
    return undefined;
  }
  t.match(session, { status: 'completed' });
  const outcomes = new Map(
    session.eval_outcomes.map(({ eval: id, outcome }) => [String(id), outcome] as const),
  );
  const measured = session.turn_taking as TurnTaking;
  return { setting, measured, outcomes, lines, own: await agent.readSpeech() };
}

/** When the agent stopped after this time, by its own account. */
const findStopMs = ({ spoken }: OwnSpeech, afterMs: number): number =>
  spoken.find(({ endMs }) => endMs > afterMs)?.endMs ?? NaN;

const findStartMs = ({ spoken }: OwnSpeech, afterMs: number): number =>
  spoken.find(({ startMs }) => startMs > afterMs)?.startMs ?? NaN;

const isProven = ({ not_proven: reason }: TurnTaking): boolean => reason === undefined;

/** Adds what was measured to the table. */
function addRow(
  t: Test,
  { setting, measured: { not_proven: notProven }, outcomes }: MeasuredCall,
  row: Pick<TruthRow, 'habit' | 'measured' | 'truth'>,
): void {
  const proven = notProven ? `NOT PROVEN (${notProven.late_ms} ms late)` : 'proven';
  const words = [proven, ...[...outcomes].map(([id, outcome]) => `${id} ${outcome}`)].join(', ');
  rows.push({ ...setting, ...row, words });
  t.comment(`${row.habit}: ${row.measured}, is ${row.truth}; ${words}`);
}

/** Asserts a time and the outcomes of evals on it, unless the report says that it is not proven. */
function assertTime(
  t: Test,
  call: MeasuredCall,
  habit: string,
  ms: number | null | undefined,
  truth: number,
  evals: readonly EvalDefinition[],
) {
  const { measured, outcomes, own } = call;
  // A process of the agent that was late sends later than it says.
  const precisionMs = PRECISION_MS + Math.max(0, (own?.lateMs ?? 0) - PRECISION_MS / 2);
  addRow(t, call, { habit, measured: formatMs(ms), truth: formatMs(truth) });
  if (isProven(measured)) {
    t.ok(Math.abs((ms ?? NaN) - truth) <= precisionMs, `${formatMs(ms)}, is ${formatMs(truth)}`);
  }
  for (const { id, params } of evals) {
    const limitMs = Number(params?.['ms']);
    if (truth < limitMs - precisionMs) t.not(outcomes.get(id), 'fail', `${id}: never wrong`);
    if (truth > limitMs + precisionMs) t.not(outcomes.get(id), 'pass', `${id}: never wrong`);
  }
}

/** Tries agents with different yield times. */
async function tryYields(t: Test, setting: Setting): Promise<void> {
  for (const yieldMs of [100, 300, 800, undefined]) {
    const limits =
      yieldMs === undefined ? [5_000] : [-1, 2, 4].map((each) => yieldMs + each * PRECISION_MS);
    const evals = limits.map((ms) => within('yields_within_ms', ms));
    const call = await measureAgent(
      t,
      setting,
      { endpointMs: 300, ...(yieldMs !== undefined && { yieldMs }) },
      {
        opening: 'Where is my order?',
        opening_delivery: {
          interrupt: { after_ms: 1_500, say: 'Wait, it is a gift, and I have no receipt.' },
        },
      },
      evals,
    );
    if (!call) continue;
    const { measured, own, lines, outcomes } = call;
    t.equal(measured.interruptions.length, 1);
    const ms = measured.interruptions[0]?.yield_ms;
    if (yieldMs === undefined) {
      addRow(t, call, { habit: 'never yields', measured: formatMs(ms), truth: formatMs(null) });
      if (isProven(measured)) t.equal(ms, null, 'never yields');
      t.not(outcomes.get(evals[0]?.id ?? ''), 'pass');
      continue;
    }
    const startMs = lines[1]?.startMs ?? NaN;
    const truth = own ? findStopMs(own, startMs) - startMs : yieldMs;
    assertTime(t, call, `yields after ${yieldMs} ms`, ms, truth, evals);
  }
}

/** Tries agents with different endpoint delays on a line with a pause of 700 ms. */
async function tryEndpoints(t: Test, setting: Setting): Promise<void> {
  for (const endpointMs of [200, 500, 900]) {
    const isEager = endpointMs < 700;
    const evals = [-1, 2, 4].map((each) =>
      within('responds_within_ms', endpointMs + each * PRECISION_MS),
    );
    const call = await measureAgent(
      t,
      setting,
      { endpointMs, yieldMs: 200 },
      {
        opening: 'Where is my order?',
        steps: [
          { say: 'I want to return the blue kettle that I bought last week.', pause_ms: 700 },
        ],
      },
      [{ id: 'waits', name: 'Waits', kind: 'no_false_endpoint', params: {} }, ...evals],
    );
    if (!call) continue;
    const { measured, own, lines, outcomes } = call;
    const [first, second] = lines;
    const truth = own && first ? findStartMs(own, first.endMs) - first.endMs : endpointMs;
    const slowestMs = Math.max(
      truth,
      own && second ? findStartMs(own, second.endMs) - second.endMs : endpointMs,
    );
    const habit = `endpoint delay ${endpointMs} ms`;
    assertTime(t, call, `${habit}, first reply`, measured.responses[0]?.response_ms, truth, []);
    assertTime(t, call, `${habit}, slowest`, measured.response_ms?.max, slowestMs, evals);
    addRow(t, call, {
      habit: `${habit}, false endpoints`,
      measured: String(measured.false_endpoints),
      truth: String(Number(isEager)),
    });
    if (isProven(measured)) t.equal(measured.false_endpoints, isEager ? 1 : 0, `${endpointMs} ms`);
    t.not(outcomes.get('waits'), isEager ? 'pass' : 'fail', 'never the wrong word');
  }
}

/** Tries an agent that speaks for 400 ms within a line. */
async function tryOverlap(t: Test, setting: Setting): Promise<void> {
  const call = await measureAgent(
    t,
    setting,
    { endpointMs: 300, yieldMs: 200, talksOverAfterMs: 800 },
    { opening: 'I want to return the blue kettle that I bought last week.' },
    [{ id: 'polite', name: 'Polite', kind: 'never_interrupts', params: {} }],
  );
  if (!call) return;
  const { measured, outcomes, own, lines } = call;
  const [line] = lines;
  const over = line && own?.spoken.find(({ startMs }) => startMs > line.startMs);
  const truth = over ? over.endMs - over.startMs : 400;
  const { overlap_ms: ms } = measured;
  addRow(t, call, { habit: 'overlap', measured: formatMs(ms), truth: formatMs(truth) });
  if (isProven(measured)) {
    t.equal(measured.agent_interruptions, 1);
    t.ok(Math.abs(ms - truth) <= PRECISION_MS + (own?.lateMs ?? 0), `${ms} ms of ${truth} ms`);
  }
  t.not(outcomes.get('polite'), 'pass');
}

for (const stack of Object.keys(STACKS)) {
  const canRun = stack !== 'libwebrtc' || HAS_EXTERNAL_INTERFACE;
  const [quiet, busy] = [false, true].map((isBusy) => ({ stack, isBusy })) as [Setting, Setting];
  const skip = canRun ? {} : { skip: 'libwebrtc needs a network interface besides loopback' };

  void t.test(`${stack}: yield times`, { timeout: 300_000, ...skip }, (t) => tryYields(t, quiet));

  void t.test(
    `${stack}: endpoint delays, and pauses that are mistaken for the end`,
    { timeout: 300_000, ...skip },
    (t) => tryEndpoints(t, quiet),
  );

  void t.test(`${stack}: an agent that talks over the caller`, { timeout: 60_000, ...skip }, (t) =>
    tryOverlap(t, quiet),
  );

  void t.test(
    `${stack}: on a busy machine: right, or not proven`,
    { timeout: 600_000, ...skip },
    async (t) => {
      const loops = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);']));
      t.teardown(() => loops.forEach((loop) => loop.kill('SIGKILL')));
      await tryYields(t, busy);
      await tryEndpoints(t, busy);
      await tryOverlap(t, busy);
    },
  );
}

void t.test('measured and true values', (t) => {
  for (const { stack, isBusy, habit, measured, truth, words } of rows) {
    const cells = [
      stack,
      isBusy ? 'busy' : 'quiet',
      habit,
      `measured ${measured}`,
      `true ${truth}`,
    ];
    t.comment(`| ${[...cells, words].join(' | ')} |`);
  }
  t.not(rows.length, 0);
  t.end();
});
