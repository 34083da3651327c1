/** The evals about the agent's tool calls. */
import type { OutcomeEvidence } from '../../contract/index.ts';
import { containsJson, isObject } from '../../platform/json.ts';
import { formatCount } from '../../report-kit/format.ts';
import { listToolCalls, type PlacedToolCall } from '../sessions/scored-session.ts';
import { UnreadableParams } from './params.ts';
import { formatSome, quote } from './quoting.ts';
import { createScore, type Score, type ScorerInput } from './score.ts';

/** `tool_called`: at least one turn calls the tool. */
export function scoreToolCalled({ params, session }: ScorerInput): Score {
  const name = params.readText('name');
  const calls = listToolCalls(session);
  const call = calls.find((candidate) => candidate.name === name);
  const search = `Looked for a call of the tool ${quote(name)}`;
  if (!call) return createScore(false, `${search}: ${describeCalls(calls)}`);
  return createScore(
    true,
    `${search}: turn ${call.turn} calls it with the arguments ${quote(call.arguments)}.`,
    [toEvidence(call)],
  );
}

const toEvidence = ({ turn, index }: PlacedToolCall): OutcomeEvidence => ({
  turn,
  part: 'tool_call',
  call: index,
});

/** `tool_args`: at least one call of the tool includes the given arguments. */
export function scoreToolArgs({ params, session }: ScorerInput): Score {
  const name = params.readText('name');
  const expected = params.readValue('arguments');
  if (!isObject(expected)) {
    throw new UnreadableParams(
      "The eval can't be scored: its parameter arguments is not an object.",
    );
  }
  const calls = listToolCalls(session);
  const callsOfTool = calls.filter((call) => call.name === name);
  const match = callsOfTool.find((call) => containsJson(call.arguments, expected));
  const search = `Looked for a call of the tool ${quote(name)} with ${quote(expected)}`;
  if (match) {
    return createScore(
      true,
      `${search}: turn ${match.turn} calls it with ${quote(match.arguments)}.`,
      [toEvidence(match)],
    );
  }
  if (callsOfTool.length === 0) return createScore(false, `${search}: ${describeCalls(calls)}`);
  const received = formatSome(callsOfTool.map((call) => quote(call.arguments)));
  return createScore(
    false,
    `${search}: ${formatCount(callsOfTool.length, 'call')} had ${received}.`,
    callsOfTool.map(toEvidence),
  );
}

/** `tool_order`: the tools are called in this order; other calls may come in between. */
export function scoreToolOrder({ params, session }: ScorerInput): Score {
  const names = params.readTexts('names');
  const calls = listToolCalls(session);
  const inOrder: PlacedToolCall[] = [];
  for (const call of calls) if (call.name === names[inOrder.length]) inOrder.push(call);
  const matched = inOrder.length;
  const evidence = inOrder.map(toEvidence);
  const search = `Looked for calls in the order ${formatSome(names.map(quote))}`;
  if (matched === names.length) {
    return createScore(
      true,
      `${search}: the session calls ${formatSome(calls.map(({ name }) => quote(name)))}.`,
      evidence,
    );
  }
  const missing = quote(names[matched]);
  const position = matched === 0 ? '' : ` after ${quote(names[matched - 1])}`;
  return createScore(
    false,
    `${search}: ${missing} is missing${position}; ${describeCalls(calls)}`,
    evidence,
  );
}

function describeCalls(calls: readonly { name: string }[]): string {
  if (calls.length === 0) return 'the session has no tool calls.';
  return `the session calls ${formatSome(calls.map(({ name }) => quote(name)))}.`;
}
