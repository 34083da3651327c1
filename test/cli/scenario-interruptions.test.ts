/** `scenario from-conversation` of a call where the user interrupted the agent. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { EvalDefinition, TurnTaking } from '../../src/contract/index.ts';
import { readYamlFile } from '../../library/input/documents.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { run } from '../support/commands/command.ts';
import { newOutcome, newRecording, newSimulatedSession } from '../support/database/rows.ts';
import { makeContainsEval } from '../support/services/service.ts';

const turnTaking: TurnTaking = {
  response_ms: { p50: 700, p95: 700, max: 700 },
  responses: [{ turn: 2, response_ms: 700 }],
  interruptions: [{ turn: 3, at_ms: 3_100, yield_ms: 300 }],
  backchannels: [],
  overlap_ms: 300,
  agent_interruptions: 0,
  false_endpoints: 0,
  missed_turns: 0,
  dead_air_ms: 0,
  gaps: 0,
  events: [],
};

/** The agent greets the user, who asks, interrupts the answer, and says thanks. */
const turns = [
  { userInput: '', agentResponse: 'Good morning.', scenarioLine: 1 },
  { userInput: 'When are you open?', agentResponse: 'We are open', scenarioLine: 2 },
  { userInput: 'On Sundays.', agentResponse: 'No.', scenarioLine: 2, interrupts: true },
  { userInput: 'Thanks.', agentResponse: 'Bye.', scenarioLine: 3 },
].map((turn, index) => ({ ...turn, sequence: index + 1, userReason: undefined }));

const lines = [
  { turn: 2, startMs: 500, endMs: 1_500 },
  { turn: 3, startMs: 3_100, endMs: 4_000 },
  { turn: 4, startMs: 6_000, endMs: 6_500 },
];

/** An eval about the reply of one turn. The index counts turns from 0, also interruptions. */
const makePathEval = (index: number): EvalDefinition => ({
  id: `turn${index}`,
  name: `Turn ${index}`,
  kind: 'json_path',
  params: { path: `$.turns[${index}].agent_response`, equals: 'No.' },
});

/** Returns a data directory with the call, with or without its recording. */
async function storeCall(t: Test, { isRecorded }: { isRecorded: boolean }): Promise<string> {
  const dataDir = t.testdir({});
  const store = await openStore({ file: join(dataDir, 'service.db') });
  const ownerId = await store.owners.ensure('development');
  const evals = [
    makeContainsEval('greets', 'morning', { params: { text: 'morning', turn: 1 } }),
    makeContainsEval('hours', 'open', { params: { text: 'open', turn: 2 } }),
    makeContainsEval('thanks', 'bye', { params: { text: 'bye', turn: 3 } }),
    ...[0, 1, 2, 3, 9, -1].map((index) => makePathEval(index)),
  ];
  for (const definition of evals) await store.evals.put(ownerId, definition);
  await store.sessions.add(
    newSimulatedSession(ownerId, 'ses_1', {
      turns,
      simulated: { channel: 'voice', turn_taking: turnTaking },
      outcomes: evals.map(({ id }) => newOutcome(id)),
    }),
  );
  const recording = newRecording();
  if (isRecorded) {
    const summary = { ...recording.summary, lines };
    await store.recordings.add(ownerId, 'ses_1', { ...recording, summary });
  }
  await store.close();
  return dataDir;
}

/** Returns the scenario of the call, and what the command writes to stderr. */
async function makeScenario(t: Test, isRecorded: boolean) {
  const dataDir = await storeCall(t, { isRecorded });
  const out = join(dataDir, 'call.scenario.yaml');
  const options = ['--data', dataDir, '--out', out];
  const made = await run(['scenario', 'from-conversation', 'ses_1', ...options]);
  t.equal(made.code, 0, made.stderr);
  const [scenario] = readYamlFile(out, { option: '--out', name: 'Scenario', problems: [] });
  const paths = (scenario?.value.evals ?? []).flatMap((each) =>
    typeof each !== 'string' && each.kind === 'json_path' ? [[each.id, each.params?.['path']]] : [],
  );
  const pathsById: unknown = Object.fromEntries(paths);
  const stderr = made.stderr.replaceAll(/\s+/g, ' ');
  return { scenario: scenario?.value, pathsById, stderr };
}

const opening = 'When are you open?';
/** What `turn: N` means in the scenario, which has no greeting. */
const renumbered = [
  { id: 'hours', params: { turn: 1 } },
  { id: 'thanks', params: { turn: 2 } },
];

void t.test('a recorded interruption stays an interruption', async (t) => {
  const { scenario, pathsById, stderr } = await makeScenario(t, true);
  t.match(scenario, {
    channel: 'voice',
    user: {
      opening,
      opening_delivery: { interrupt: { after_ms: 900, say: 'On Sundays.' } },
      steps: [{ say: 'Thanks.' }],
    },
    evals: renumbered,
  });
  t.equal(scenario?.user.steps?.length, 1);
  t.same(pathsById, {
    turn1: '$.turns[0].agent_response',
    turn2: '$.turns[1].agent_response',
    turn3: '$.turns[2].agent_response',
    turn9: '$.turns[9].agent_response',
    'turn-1': '$.turns[-1].agent_response',
  });
  t.notMatch(stderr, /leaves out \d+ interruption/);
  const reason = 'it is about a turn that the scenario does not have.';
  for (const id of ['greets', 'turn0']) t.match(stderr, `leaves out the eval ${id}: ${reason}`);
});

void t.test('an interruption without a recording is left out, with a note', async (t) => {
  const { scenario, pathsById, stderr } = await makeScenario(t, false);
  t.equal(scenario?.channel, undefined);
  t.match(scenario?.user, { opening, steps: [{ say: 'Thanks.' }] });
  t.equal(scenario?.user.steps?.length, 1, 'it is no step');
  t.equal(scenario?.user.opening_delivery, undefined);
  t.match(scenario?.evals, renumbered);
  t.same(
    pathsById,
    {
      turn1: '$.turns[0].agent_response',
      turn3: '$.turns[1].agent_response',
      turn9: '$.turns[9].agent_response',
      'turn-1': '$.turns[-1].agent_response',
    },
    'no turn of the interruption',
  );
  t.match(
    stderr,
    /leaves out 1 interruption by the user: no recording says when the user began to speak\./,
  );
});
