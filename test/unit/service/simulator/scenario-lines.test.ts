/** Which line of its scenario a turn belongs to: `turn: N` of evals means the same line if users interrupt. */
import t from 'tap';
import type { Scenario } from '../../../../src/contract/index.ts';
import { readScenarioSet } from '../../../../library/input/scenario-files.ts';
import { assignPersona, readShippedPersonas } from '../../../../library/input/personas.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLog } from '../../../../src/platform/log.ts';
import { plainStyle } from '../../../../src/report-kit/terminal.ts';
import { decideVerdict } from '../../../../src/service/sessions/verdict.ts';
import { resolveScenarios } from '../../../../src/service/index.ts';
import { scoreSession } from '../../../../src/service/scoring/eval-kinds.ts';
import { toOutcome } from '../../../../src/service/scoring/score.ts';
import type { OpenChannel } from '../../../../src/service/simulator/channel.ts';
import { buildReport } from '../../../../src/service/simulator/report/report.ts';
import { buildSessionReport } from '../../../../src/service/simulator/report/session-report.ts';
import { terminalReport } from '../../../../src/service/simulator/report/terminal.ts';
import { runSession } from '../../../../src/service/simulator/run-session.ts';
import type { Sandbox } from '../../../../src/service/simulator/sandbox/sandbox.ts';
import { planSessions } from '../../../../src/service/simulator/session-plan.ts';
import type { Replied, TurnEnd } from '../../../../src/service/simulator/turn-end.ts';
import { makeUserScenario } from '../../../support/sessions/scenarios.ts';

/** Replies to the lines that the user has said so far, of which the last one is new. */
type Agent = (lines: readonly string[]) => string;

const closed = { reportsTools: true, notes: [], turnTaking: undefined, compareReplies: undefined };

/** Opens a channel whose user interrupts every reply by repeating the line, if turns are left for it. */
function interruptAll(agent: Agent, greeting?: string): OpenChannel {
  const lines: string[] = [];
  const say = (content: string): Replied => ({
    kind: 'replied',
    reply: { content, toolCalls: [], latencyMs: 1 },
  });
  const answer = (line: string): Replied => {
    lines.push(line);
    return say(agent(lines));
  };
  const reason = 'interrupts the agent, as the persona does';
  return () =>
    Promise.resolve({
      say({ text: line, canBeInterrupted }) {
        const { reply } = answer(line);
        const end: TurnEnd = canBeInterrupted
          ? { kind: 'interrupted', reply, line, reason }
          : { kind: 'replied', reply };
        return Promise.resolve(end);
      },
      resume: () => Promise.resolve({ ...answer(lines.at(-1) ?? ''), spokenBefore: undefined }),
      listen: () => Promise.resolve(greeting === undefined ? undefined : say(greeting)),
      close: () => Promise.resolve(closed),
      lineSentAtMs: undefined,
    });
}

const sandbox: Sandbox = {
  checkHealth: () => Promise.resolve(),
  createUser: () => Promise.resolve(true),
  chat: () => Promise.reject(new Error('The session is by voice.')),
  deleteUser: () => Promise.resolve(undefined),
  traceIds: [],
};

/** Runs a scenario by voice with a user who always interrupts, and returns the report of the run. */
async function runInterrupted(scenario: Scenario, openCall: OpenChannel) {
  const personas = readShippedPersonas();
  const assigned = assignPersona([scenario], personas, 'rushed');
  if ('problem' in assigned) throw new Error(assigned.problem);
  const { evals } = readScenarioSet('general');
  const scenarios = resolveScenarios(assigned.scenarios, { personas, evals });
  const [plan] = planSessions({ scenarios, seed: 's', channel: 'voice' });
  if (!plan) throw new Error('The plan has no session.');
  const clocks = { clock: systemClock, machineClock: systemClock };
  const deps = { ...clocks, connections: { inSession: () => sandbox }, model: undefined };
  const { signal } = new AbortController();
  const session = await runSession(plan, { ...deps, openCall, log: silentLog }, signal);
  const scored = { sessionId: plan.sessionId, turns: session.turns };
  const outcomes = await Promise.all(
    plan.evals.map(async (definition) =>
      toOutcome(definition, await scoreSession(definition, scored, undefined, signal)),
    ),
  );
  const verdict = decideVerdict({ status: session.status, outcomes });
  return buildReport({
    scenarios,
    blockedBy: undefined,
    sandbox: 'http://127.0.0.1:1',
    seed: 's',
    hasKey: false,
    isTranscribed: false,
    kitVersion: '0',
    startedAtMs: 0,
    endedAtMs: 0,
    sessions: [buildSessionReport(plan, session, { outcomes, verdict })],
  });
}

/** Returns the line of the scenario of each turn; a negative one is an interruption. */
const linesOf = ({ sessions }: Awaited<ReturnType<typeof runInterrupted>>): number[] =>
  (sessions[0]?.traces ?? []).map(({ scenario_line: line = 0, interrupts = false }) =>
    interrupts ? -line : line,
  );

const nameIn = (lines: readonly string[]): string =>
  lines.findLast((line) => /my name is \w/i.test(line))?.match(/name is (\w+)/i)?.[1] ?? 'unknown';

/** An agent that passes. */
const goodAgent: Agent = (lines) => {
  const line = lines.at(-1) ?? '';
  if (/what my name is/.test(line)) return `Your name is ${nameIn(lines)}.`;
  if (/Goodbye/.test(line)) return 'You are welcome. Have a nice day!';
  return `Hello ${nameIn(lines)}, I can help you with your orders.`;
};

/** The good agent, with another reply to the lines that match. */
const except =
  (pattern: RegExp, reply: string): Agent =>
  (lines) =>
    pattern.test(lines.at(-1) ?? '') ? reply : goodAgent(lines);

const { scenarios: general } = readScenarioSet('general');

function findGeneral(id: string): Scenario {
  const scenario = general.find((each) => each.id === id);
  if (!scenario) throw new Error(`The general set has no scenario ${id}.`);
  return scenario;
}

void t.test('interruptions do not fail a good agent', async (t) => {
  for (const id of ['greeting', 'what-it-can-do', 'remembers', 'correction', 'goodbye']) {
    const report = await runInterrupted(findGeneral(id), interruptAll(goodAgent));
    t.equal(
      report.verdict,
      'passed',
      `${id}: ${JSON.stringify(report.sessions[0]?.eval_outcomes)}`,
    );
  }
  const three = await runInterrupted(findGeneral('remembers'), interruptAll(goodAgent));
  t.same(linesOf(three), [1, -1, 2, -2, 3, -3]);
});

void t.test('a faulty agent fails at the line where it is wrong', async (t) => {
  const question = /what my name is/;
  const rows = [
    {
      // In turn 3, the second line, this agent knows the name.
      id: 'remembers',
      agent: except(question, 'I do not know that.'),
      failing: 'keeps-the-name',
      turn: 6,
      line: 3,
      reasoning: /of line 3 \(turns 5, 6\): none of 2 messages has it/,
    },
    {
      id: 'remembers',
      agent: except(question, 'Laura: what can you help me with?'),
      failing: 'answers-the-last-message',
      turn: 5,
      line: 3,
      reasoning: /of line 3 \(turns 5, 6\): turn 5 has it/,
    },
    {
      // In turn 3, the correction itself, this agent takes it.
      id: 'correction',
      agent: except(question, 'It is Laura.'),
      failing: 'takes-the-correction',
      turn: 6,
      line: 3,
      reasoning: /of line 3 \(turns 5, 6\): none/,
    },
    {
      // In turn 2, the first line, this agent is polite.
      id: 'goodbye',
      agent: ((lines) =>
        except(/Goodbye/, 'Anything else?')(lines).replace('I can', 'I am happy to')) as Agent,
      failing: 'ends-politely',
      turn: 4,
      line: 2,
      reasoning: /of line 2 \(turns 3, 4\): none/,
    },
  ];
  for (const { id, agent, failing, turn, line, reasoning } of rows) {
    const report = await runInterrupted(findGeneral(id), interruptAll(agent));
    const outcomes = report.sessions.flatMap((session) => session.eval_outcomes);
    const failed = outcomes.filter(({ outcome }) => outcome === 'fail');
    t.match(failed, [{ eval: failing, turn, reasoning }], `${id}, ${failing}`);
    t.equal(failed.length, 1, 'no other eval fails');
    const text = terminalReport(report, { style: plainStyle, width: 80 });
    t.match(text, `\n  - Turn ${turn} (line ${line} of the scenario):\n      user `);
  }
});

void t.test('what else counts turns leaves interruptions out', async (t) => {
  const steps = [{ say: 'Second.' }, { say: 'Third.' }];
  const evals = [
    { id: 'short', name: 'S', kind: 'max_turns', params: { max: 3 } } as const,
    { id: 'own', name: 'O', kind: 'no_repetition' } as const,
  ];
  const scripted = makeUserScenario({ mode: 'scripted', opening: 'First.', steps }, { evals });
  const byNumber: Agent = (lines) => `This is the answer to the line "${lines.at(-1)}".`;
  const short = await runInterrupted(
    { ...scripted, limits: { max_turns: 4 } },
    interruptAll(byNumber),
  );
  t.same(linesOf(short), [1, -1, 2, 3], 'an interruption does not take the turn of a line');
  t.equal(short.verdict, 'passed', JSON.stringify(short.sessions[0]?.eval_outcomes));
  const long = await runInterrupted(scripted, interruptAll(byNumber));
  t.same(linesOf(long), [1, -1, 2, -2, 3, -3]);
  t.equal(long.verdict, 'passed', JSON.stringify(long.sessions[0]?.eval_outcomes));
  const reacting = makeUserScenario({
    opening: 'First.',
    steps: [
      { when: { turn: 1 }, say: 'Second.' },
      { when: { turn: 2 }, say: 'Third.' },
    ],
  });
  t.same(linesOf(await runInterrupted(reacting, interruptAll(byNumber))), [1, -1, 2, -2, 3, -3]);
});

void t.test('a greeting is the first line, even if the agent does not say it', async (t) => {
  const scenario = makeUserScenario({
    mode: 'scripted',
    speaks_first: false,
    opening: 'First.',
    steps: [{ say: 'Second.' }],
  });
  const greeted = await runInterrupted(scenario, interruptAll(goodAgent, 'Welcome!'));
  t.same(linesOf(greeted), [1, 2, -2, 3, -3]);
  t.same(linesOf(await runInterrupted(scenario, interruptAll(goodAgent))), [2, -2, 3, -3]);
});
