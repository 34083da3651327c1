/** Callers who interrupt, pause, listen aloud, and stay silent; how the call took turns is reported. */
import t from 'tap';
import type { Scenario, SimulatedSessionReport } from '../../../src/contract/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { completePersona } from '../../../src/service/scenarios/complete-scenario.ts';
import {
  planDelivery,
  type PlannedInterruption,
} from '../../../src/service/simulator/calls/delivery.ts';
import { Interjections } from '../../../src/service/simulator/calls/interjections.ts';
import { withVoiceDouble, type DoubleCall } from '../../support/calls/voice-double.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeUserScenario } from '../../support/sessions/scenarios.ts';
import {
  listUserLines,
  simulateOn,
  simulateSession,
} from '../../support/sessions/simulated-sessions.ts';

t.jobs = 3;

const LONG_LINE = 'What are your opening hours?';
const yields = {
  id: 'yields',
  name: 'Yields',
  kind: 'yields_within_ms',
  params: { ms: 5_000 },
} as const;

/** Returns a scenario by voice of a user with these lines. */
const spoken = (user: Scenario['user'], more: Partial<Scenario> = {}): Scenario =>
  makeUserScenario(user, { channel: 'voice', evals: [yields], ...more });

/** Returns what was measured, without events that a busy machine adds. */
const turnTakingOf = ({ turn_taking: measured }: SimulatedSessionReport) => {
  if (!measured) throw new Error('The turn-taking was not measured.');
  return measured;
};

void t.test('calls with an agent that yields are measured', { timeout: 90_000 }, async (t) => {
  const { agent } = await withReferenceAgent(t);
  const interrupt = { after_ms: 600, say: 'Wait, only the order, please.' };
  const barge: Scenario['user'] = {
    mode: 'scripted',
    opening: LONG_LINE,
    opening_delivery: { interrupt },
  };
  const listening: Scenario['user'] = {
    mode: 'scripted',
    opening: 'Hello.',
    opening_delivery: { backchannel: 'uh-huh' },
    steps: [{ say: 'I want to return it.', pause_ms: 400, silence_s: 2.5 }],
  };
  const { sessions, heard } = await simulateOn(
    t,
    agent.url,
    [spoken(barge), spoken(listening, { id: 'listening' })],
    { voice: {} },
  );
  const [barged, listened] = sessions;
  if (!barged || !listened) throw new Error('A session is missing.');

  await t.test('an interruption counts as a separate turn, and the agent yields', (t) => {
    t.same(listUserLines(barged), [LONG_LINE, interrupt.say]);
    const { interruptions, not_proven: reason } = turnTakingOf(barged);
    t.match(interruptions, [{ turn: 2, corrected: true }]);
    const [said = ''] = barged.traces.map(({ agent_response: reply }) => reply);
    // On a busy machine, the agent has said less when the user interrupts.
    t.ok(/^We\b/.test(said) && !/Saturdays/.test(said), `heard: ${said}`);
    t.ok(barged.review.followed_scenario, 'the interruption is in the scenario');
    t.ok(interruptions.length === 1);
    const ms = interruptions[0]?.yield_ms ?? null;
    if (!reason) t.ok(ms !== null && ms < 5_000, `${ms} ms`);
    t.end();
  });

  await t.test('pauses, backchannels, and silences are in the report', (t) => {
    t.match(listened, { status: 'completed' });
    const { backchannels, events, dead_air_ms: deadAirMs } = turnTakingOf(listened);
    t.equal(backchannels.length, 1);
    t.equal(events.filter(({ kind }) => kind === 'pause').length, 1);
    t.ok(deadAirMs >= 2_000, `${deadAirMs} ms of dead air`);
    t.end();
  });

  t.match(heard, {
    calls: 0,
    skipped: /^Nothing was transcribed\. Set SANDBOX_KIT_TRANSCRIBE_URL/,
  });
});

/** Says nothing before the caller does, and nothing that ends soon. */
async function answerLateAndLong(call: DoubleCall): Promise<void> {
  await call.connect();
  await call.waitForEndOfSpeech();
  call.update('Good morning.');
  // Longer than the user takes to interrupt, whatever clip the double speaks.
  for (let clip = 0; clip < 8; clip += 1) await call.speak();
  // A shorter silence would be a pause of the same answer.
  await systemClock.sleep(600);
  call.update('What can I do for you?');
  await call.speak();
}

/** Evals that a silent agent fails, and one that its silence does not decide. */
const answering: Scenario['evals'] = [
  { id: 'responds', name: 'Responds', kind: 'responds_within_ms', params: { ms: 2_500 } },
  { id: 'not_silent', name: 'Not silent', kind: 'no_dead_air', params: { ms: 2_500 } },
  { id: 'polite', name: 'Polite', kind: 'never_interrupts', params: {} },
];

for (const [title, user] of [
  ['never replies', { mode: 'scripted', opening: 'Hello?' }],
  ['never greets', { mode: 'scripted', opening: 'Hello?', speaks_first: false }],
] as const) {
  void t.test(`an agent that ${title} fails`, { timeout: 90_000 }, async (t) => {
    const { url } = await withVoiceDouble(t, (call) => call.connect());
    const limits = { turn_timeout_ms: 3_000 };
    const session = await simulateSession(t, url, spoken(user, { evals: answering, limits }), {
      voice: {},
    });
    t.match(session, {
      status: 'failed',
      end_reason: 'timeout',
      verdict: 'failed',
      error: /^No reply arrived/,
      turn_taking: { missed_turns: 1 },
    });
    t.match(
      session.eval_outcomes.map(({ outcome, reasoning }) => [outcome, reasoning]),
      [
        ['fail', /1 line got no reply/],
        ['fail', /3\d\d\d ms without a reply to the last line/],
      ],
      'an eval that did not fail is left out',
    );
    t.equal(session.eval_outcomes.length, 2);
  });
}

void t.test('a call with an agent that never yields is judged', { timeout: 90_000 }, async (t) => {
  const { url } = await withVoiceDouble(t, answerLateAndLong);
  const user: Scenario['user'] = {
    mode: 'scripted',
    opening: 'Hello?',
    speaks_first: false,
    hello_after_s: 1,
    opening_delivery: { interrupt: { after_ms: 300, say: 'Wait.' } },
  };
  const session = await simulateSession(t, url, spoken(user), { voice: {} });
  t.match(session, { status: 'completed' });
  t.same(listUserLines(session), ['Hello?', 'Wait.'], 'the user says hello if the agent does not');
  const {
    missed_turns: missed,
    events,
    interruptions,
    not_proven: notProven,
  } = turnTakingOf(session);
  t.equal(missed, 1, 'the greeting');
  const missing = events.find(({ kind }) => kind === 'missed_turn');
  t.ok((missing?.duration_ms ?? 0) >= 1_000);
  t.match(interruptions, [{ turn: 2, yield_ms: null }], 'it never yields');
  t.equal(interruptions.length, 1);
  if (!notProven) {
    t.match(session.eval_outcomes, [{ outcome: 'fail', reasoning: /did not stop in turn 2/ }]);
  }
});

void t.test('the user interrupts at a time or at a word, and says that it listens', async (t) => {
  let nowMs = 0;
  const heard = { lastSpeechAtMs: -Infinity };
  const updates = { agentText: '', toolCalls: [] };
  let backchannels = 0;
  const make = (interruption: PlannedInterruption) =>
    new Interjections({
      clock: { ...systemClock, monotonicMs: () => nowMs },
      activity: heard,
      updates,
      countedTurn: 1,
      lineEndMs: 1_000,
      planned: { interruption, backchannel: { say: 'uh-huh', afterMs: 600 } },
      sayBackchannel: () => (backchannels += 1),
    });
  const { signal } = new AbortController();
  const [say, reason] = ['Wait.', 'interrupts'];
  const timed = make({ say, reason, afterMs: 800 });
  const worded = make({ say, reason, when: { contains: 'refund' } });
  const ask = async (atMs: number, speechMs: number): Promise<[boolean, boolean]> => {
    [nowMs, heard.lastSpeechAtMs] = [atMs, speechMs];
    return [await timed.isInterruptionDue(signal), await worded.isInterruptionDue(signal)];
  };
  t.same(await ask(1_500, 900), [false, false], 'the agent has not begun');
  t.same(await ask(2_000, 2_000), [false, false], 'it begins');
  t.equal(backchannels, 0);
  t.same(await ask(2_620, 2_600), [false, false]);
  t.equal(backchannels, 2);
  updates.agentText = 'You get a refund.';
  t.same(await ask(2_790, 2_780), [false, true], 'it says the word');
  t.same(await ask(2_900, 2_650), [false, false], 'it pauses');
  t.same(await ask(2_950, 2_940), [true, true]);
  t.equal(backchannels, 2, 'each once');
});

void t.test('by chat, ways to say a line are refused', async (t) => {
  const user = {
    opening: 'Hello there',
    opening_delivery: { pause_ms: 400 },
    steps: [{ say: 'Bye', interrupt: { after_ms: 1, say: 'No' } }],
  };
  const [url, voice] = ['http://127.0.0.1:1', { channel: 'voice' } as const];
  await t.rejects(
    simulateOn(t, url, makeUserScenario(user)),
    /opening_delivery\/pause_ms needs `channel: voice` in the scenario, as do steps\/0\/interrupt\./,
  );
  await t.rejects(
    simulateOn(t, url, makeUserScenario(user, voice), { channel: 'chat' }),
    /opening_delivery\/pause_ms needs a call, as do steps\/0\/interrupt\./,
  );
  const short = makeUserScenario({ opening: 'Hello', opening_delivery: { pause_ms: 400 } }, voice);
  await t.rejects(simulateOn(t, url, short), /pause_ms needs a line of at least two words/);
});

void t.test('how a line is said depends only on the session and the line', (t) => {
  const persona = completePersona({
    id: 'p',
    name: 'P',
    voice: { interruptions: 'often', pauses: 'many' },
  });
  const plan = (sessionId: string, countedTurn: number) =>
    planDelivery({ sessionId, persona }, { countedTurn, text: LONG_LINE, canBeInterrupted: true });
  t.same(plan('one', 1), plan('one', 1));
  const numbers = Array.from({ length: 40 }, (_, nth) => nth);
  const interrupted = numbers.filter((nth) => plan('one', nth).interruption);
  t.ok(interrupted.length > 8 && interrupted.length < 32, `${interrupted.length} of 40`);
  t.ok(
    numbers.every((nth) => plan('one', nth).parts.length > 1),
    'many pauses: in every line',
  );
  t.notSame(
    numbers.map((nth) => plan('two', nth)),
    numbers.map((nth) => plan('one', nth)),
  );
  t.end();
});
