/** Evals of a session whose user interrupts: `turn` is a line of the scenario, and interruptions don't count. */
import t from 'tap';
import { scoreSession } from '../../../../src/service/scoring/eval-kinds.ts';
import { makeEval, makeSession } from '../../../support/sessions/scoring.ts';

const REPLY = 'I can look up an order.';

/** Three turns of two lines of a scenario: the user interrupts the answer to the first one. */
const interrupted = makeSession(
  { agentResponse: 'I can look it', scenarioLine: 1 },
  { agentResponse: 'I can look it up.', scenarioLine: 1, interrupts: true },
  { agentResponse: 'Bye.', scenarioLine: 2 },
);

/** Returns a session with these replies, the last one after an interruption. */
const repeating = (...replies: string[]) =>
  makeSession(
    ...replies.map((agentResponse, nth) => ({
      agentResponse,
      interrupts: nth === replies.length - 1,
    })),
  );

const rows = [
  ['contains', { text: 'bye', turn: 2 }, interrupted, 'pass', /of line 2 \(turn 3\): turn 3 has/],
  ['contains', { text: 'up', turn: 1 }, interrupted, 'pass', /of line 1 \(turns 1, 2\): turn 2/],
  ['contains', { text: 'up', turn: 2 }, interrupted, 'fail', /of line 2 \(turn 3\): none of 1/],
  ['contains', { text: 'bye', turn: 3 }, interrupted, 'fail', /of line 3: there are no messages/],
  ['regex', { pattern: 'Bye', turn: 2 }, interrupted, 'pass', /of line 2 \(turn 3\): turn 3 has/],
  ['max_turns', { max: 2 }, interrupted, 'pass', /has 2, not counting 1 interruption\./],
  ['max_turns', { max: 1 }, interrupted, 'fail', /has 2, not counting 1 interruption\./],
  ['no_repetition', {}, repeating(REPLY, REPLY), 'pass', /none repeats anything/],
  ['no_repetition', {}, repeating(REPLY, 'Which one?', REPLY), 'fail', /turn 3 repeats turn 1/],
] as const;

void t.test('interruptions do not move what an eval is about', async (t) => {
  const { signal } = new AbortController();
  for (const [kind, params, session, outcome, reasoning] of rows) {
    const result = await scoreSession(makeEval(kind, params), session, undefined, signal);
    t.match(result, { outcome, reasoning }, `${kind} ${JSON.stringify(params)}`);
  }
});
