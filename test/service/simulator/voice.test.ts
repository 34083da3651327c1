/** How voice sessions of simulated users end, with healthy and hostile sandboxes. */
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { Scenario, SimulatedSessionReport } from '../../../src/contract/index.ts';
import { assertCallsClosed, countCallResources } from '../../support/calls/open-resources.ts';
import {
  withVoiceDouble,
  type CallHandler,
  type DoubleCall,
} from '../../support/calls/voice-double.ts';
import { runOnQuietMachine } from '../../support/measurements/quiet-machine.ts';
import { isNightly } from '../../support/nightly.ts';
import { makeCallerScenario } from '../../support/sessions/scenarios.ts';
import {
  failedSession,
  listUserLines,
  simulateOn,
  simulateSession,
} from '../../support/sessions/simulated-sessions.ts';

const passing = { id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } } as const;
const toolEval = { id: 't', name: 'T', kind: 'tool_called', params: { name: 'look' } } as const;

/** A short turn timeout, for sandboxes that do not reply. */
const impatient: Partial<Scenario> = { limits: { turn_timeout_ms: 2_500 } };

/** Replies to a line with audio and text. */
async function reply(call: DoubleCall, text: string, more = {}): Promise<void> {
  call.update(text, more);
  await call.speak();
}

/** Connects, and acts after the first line of the user. */
const afterLine =
  (act: CallHandler): CallHandler =>
  async (call) => {
    await call.connect();
    await call.waitForEndOfSpeech();
    await act(call);
  };

/** Replies to each line until the caller hangs up. */
async function replyToAll(call: DoubleCall, more = {}): Promise<void> {
  for (let nth = 1; ; nth += 1) {
    await call.waitForEndOfSpeech();
    await reply(call, `Reply ${nth}.`, more);
  }
}

async function speakForever(call: DoubleCall): Promise<void> {
  while (call.socket.readyState === WebSocket.OPEN) await call.speak();
}

interface Row {
  act: CallHandler;
  scenario?: Partial<Scenario>;
  /** The expected session. */
  expected: { end_reason?: string; notes?: readonly unknown[] } & Record<string, unknown>;
  /** The shortest time in which the sandbox can reply to a line. */
  latencyMsMin?: number;
  /** The lines that the user says, if they depend on how soon the sandbox acts. */
  userLines?: readonly string[];
  verify?: (t: Test, session: SimulatedSessionReport) => void;
  /** Whether the sandbox is called only at night: another row shows almost the same at a push. */
  isNightly?: boolean;
}

/** Each sandbox is called by the scenario with its name; all calls run concurrently. */
const rows: Record<string, Row> = {
  'replies to each line': {
    act: async (call) => {
      await call.connect();
      await replyToAll(call);
    },
    scenario: { evals: [passing, toolEval] },
    expected: {
      end_reason: 'goal_achieved',
      verdict: 'passed',
      errored_evals: [],
      notes: [/^T: skipped, because this sandbox/],
    },
    // The sandbox waits for 200 ms of silence before it replies.
    latencyMsMin: 150,
    verify: (t, { traces }) =>
      void t.match(traces, [
        { user_input: 'Hi.', agent_response: 'Reply 1.' },
        { user_input: 'Yes.', agent_response: 'Reply 2.' },
      ]),
  },
  'greets, and reports tool calls': {
    act: async (call) => {
      await call.connect();
      await reply(call, 'Welcome.');
      const made = { name: 'look', arguments: '{"id":1}', result: { ok: true } };
      await replyToAll(call, { tool_calls: [{ function: made }] });
    },
    scenario: { evals: [toolEval], user: { opening: 'Hi.', stop_when: [{ contains: '1' }] } },
    expected: { end_reason: 'goal_achieved', verdict: 'passed' },
    verify: (t, { traces }) => {
      t.match(traces, [{ agent_response: 'Reply 1.', tool_calls: [{ name: 'look' }] }]);
      t.equal(traces.length, 1, 'the greeting replies to nothing, so it is not a turn');
    },
  },
  'speaks first': {
    act: async (call) => {
      await call.connect();
      await reply(call, 'Welcome.');
      await replyToAll(call);
    },
    scenario: { user: { opening: 'Hi.', speaks_first: false } },
    expected: { end_reason: 'goal_achieved', verdict: 'passed' },
    verify: (t, { traces }) =>
      void t.match(traces, [
        { user_input: '', agent_response: 'Welcome.' },
        { user_input: 'Hi.', agent_response: 'Reply 1.' },
      ]),
  },
  'sends its reply in parts': {
    act: afterLine(async (call) => {
      call.update('It is', { evaluation_metadata: { tone: 'kind' } });
      call.update('It is on its way.');
      await call.speak();
      await reply(call, 'Bye.');
    }),
    scenario: { user: { opening: 'Hi.', stop_when: [{ contains: 'way' }] } },
    expected: {
      end_reason: 'goal_achieved',
      traces: [{ agent_response: 'It is on its way. Bye.' }],
    },
  },
  'talks over the user': {
    act: async (call) => {
      await call.connect();
      for (let nth = 1; ; nth += 1) {
        await call.waitForSpeech();
        call.update(`Over ${nth}.`);
        await Promise.all([call.speak(), call.waitForEndOfSpeech()]);
      }
    },
    expected: {
      end_reason: 'goal_achieved',
      notes: [/spoke before the user had finished \(turn 1\)/, /turn 2/],
    },
  },
  'never ends its greeting': {
    isNightly: true,
    act: async (call) => {
      await call.connect();
      await speakForever(call);
    },
    scenario: impatient,
    expected: {
      ...failedSession('timeout', /did not finish its reply within 2500 ms/),
      notes: [/still speaking when turn 1 had to start/],
    },
  },
  'never ends its reply': {
    act: afterLine(async (call) => {
      call.update('And another thing.');
      await speakForever(call);
    }),
    scenario: impatient,
    expected: failedSession('timeout', /did not finish its reply within 2500 ms/),
  },
  'has no media': {
    isNightly: true,
    act: (call) => call.connect({ sends: false }),
    scenario: impatient,
    expected: failedSession('timeout', /No reply arrived, and no audio packet in the whole call/),
  },
  'reports a wrong transcript of the user': {
    act: async (call) => {
      await call.connect();
      for (const user of ['Oh, hi!', 'Cheese', '']) {
        await call.waitForEndOfSpeech();
        await reply(call, '', { transcript: { user, agent: 'Right.' } });
      }
    },
    expected: {
      verdict: 'passed',
      notes: [
        'In 1 of 2 turns the agent misunderstood the user: its transcript of the user differs ' +
          'from what was spoken.',
      ],
    },
  },
  'is silent': {
    act: afterLine(() => undefined),
    scenario: impatient,
    expected: failedSession('timeout', /neither audio nor conversation_update/),
    verify: (t, { traces, turn_latency_ms: latencies }) => {
      t.match(traces, [{ user_input: 'Hi.', agent_response: '' }]);
      t.ok((latencies[0] ?? 0) >= 2_400, `${latencies.join()} ms of 2500 ms`);
    },
  },
  'speaks without updates': {
    act: afterLine((call) => call.speak()),
    scenario: { limits: { turn_timeout_ms: 5_000 } },
    expected: failedSession('agent_error', /spoke, but sent no conversation_update/),
  },
  'sends updates without audio': {
    act: afterLine((call) => call.update('Hello?')),
    scenario: impatient,
    expected: failedSession('agent_error', /but spoke no audio/),
  },
  'sends an error, and then nothing': {
    isNightly: true,
    act: afterLine((call) => call.send({ type: 'error', error: { code: 'busy', message: 'No.' } })),
    scenario: impatient,
    expected: failedSession('agent_error', /sent an error busy/),
  },
  'hangs up after a reply': {
    act: afterLine(async (call) => {
      await reply(call, 'Goodbye.');
      call.socket.close(1000);
    }),
    expected: { status: 'completed', end_reason: 'agent_ended', verdict: 'passed' },
    // The next line is not sent.
    userLines: ['Hi.'],
  },
  'hangs up instead of a reply': {
    act: afterLine(async (call) => {
      await reply(call, 'Anything else?');
      await call.waitForEndOfSpeech();
      call.socket.close(1000);
    }),
    expected: { status: 'completed', end_reason: 'agent_ended' },
    verify: (t, { traces }) =>
      void t.match(traces, [{}, { user_input: 'Yes.', agent_response: '' }]),
  },
  'hangs up without a word': {
    isNightly: true,
    act: afterLine(({ socket }) => socket.close(1000)),
    expected: failedSession('agent_error', /closed the WebSocket \(1000/),
  },
  'drops the call': {
    isNightly: true,
    act: afterLine(({ socket }) => socket.terminate()),
    expected: failedSession('agent_error', /1006/),
  },
  'closes with an internal error': {
    act: afterLine(async (call) => {
      await reply(call, 'Wait.');
      call.socket.close(1011, 'oops');
    }),
    expected: failedSession('agent_error', /1011, oops/),
  },
  'responds to start_call with an error': {
    act: (call) => {
      call.send({ type: 'error', error: { code: 'busy', message: 'No.' } });
      call.socket.close(1011);
    },
    expected: { ...failedSession('agent_error', /busy/), traces: [] },
  },
  'has too many calls': {
    act: ({ socket }) => socket.close(4429),
    expected: failedSession('infrastructure_error', /4429/),
  },
  'sends an invalid offer': {
    act: (call) => call.send({ type: 'call_ready', webrtc_offer: { type: 'offer', sdp: 'v=0' } }),
    expected: failedSession('agent_error', /The call failed/),
  },
  'gets a line that cannot be spoken': {
    act: afterLine(() => undefined),
    scenario: { user: { opening: '...!' } },
    expected: failedSession('simulator_error', /The user can't speak/),
  },
};

/** Returns whether end, notes, lines, and latencies are as expected. A busy machine can change them. */
function isUndisturbed(
  { expected, userLines, latencyMsMin = 0 }: Row,
  session: SimulatedSessionReport,
) {
  const lines = listUserLines(session);
  const { end_reason: end = session.end_reason, notes = session.notes } = expected;
  return (
    session.end_reason === end &&
    (userLines ?? lines).join() === lines.join() &&
    session.notes.length === notes.length &&
    session.notes.every((note, nth) => isExpectedNote(note, notes[nth])) &&
    session.turn_latency_ms.every((ms) => ms >= latencyMsMin)
  );
}

const isExpectedNote = (note: string, expected: unknown): boolean =>
  expected instanceof RegExp ? expected.test(note) : note === expected;

const idOf = (name: string): string => name.replaceAll(/[^a-z_]+/g, '-');
const called = Object.entries(rows).filter(([, row]) => isNightly || !row.isNightly);
const rowsById = new Map(called.map(([name, row]) => [idOf(name), row]));

void t.test("the sandbox's behavior in a call decides how the session ends", async (t) => {
  const openBefore = countCallResources();
  const double = await withVoiceDouble(t, (call) => {
    const { scenario_id: id = '' } = call.start['metadata'] as { scenario_id?: string };
    return rowsById.get(id)?.act(call);
  });
  const scenarios = [...rowsById].map(([id, row]) => makeCallerScenario(id, row.scenario));
  const { sessions } = await simulateOn(t, double.url, scenarios, { concurrency: 4 });
  for (const [nth, [name, row]] of called.entries()) {
    const first = sessions[nth] as SimulatedSessionReport;
    const scenario = makeCallerScenario(idOf(name), row.scenario);
    const session = isUndisturbed(row, first)
      ? first
      : await runOnQuietMachine(
          t,
          () => simulateSession(t, double.url, scenario),
          (again) => isUndisturbed(row, again),
        );
    if (!session) continue;
    const { latencyMsMin = 0, userLines } = row;
    if (userLines) t.same(listUserLines(session), userLines, name);
    t.match(session, row.expected, `a sandbox that ${name}`);
    t.ok(
      session.turn_latency_ms.every((ms) => ms >= latencyMsMin),
      `latencies ${session.turn_latency_ms.join(', ')}`,
    );
    row.verify?.(t, session);
  }
  await double.waitForNoCalls();
  await assertCallsClosed(t, openBefore);
});
