import { containsJson, isObject } from '../../platform/json.ts';
import { UnreadableParams } from './params.ts';
import { counted, listed, quote } from './quoting.ts';
import { verdict, type Score, type Scoring } from './score.ts';
import { toolCallsOf } from './scored-session.ts';

/** `tool_called`: some turn calls the tool of this name. */
export function scoreToolCalled({ params, session }: Scoring): Score {
  const name = params.text('name');
  const calls = toolCallsOf(session);
  const found = calls.find((call) => call.name === name);
  const looked = `Looked for a call of the tool ${quote(name)}`;
  if (!found) return verdict(false, `${looked}: ${calledInstead(calls)}`);
  return verdict(
    true,
    `${looked}: turn ${found.turn} calls it with the arguments ${quote(found.arguments)}.`,
  );
}

/** `tool_args`: some call of the tool has at least the arguments that are wanted. */
export function scoreToolArgs({ params, session }: Scoring): Score {
  const name = params.text('name');
  const wanted = params.value('arguments');
  if (!isObject(wanted)) {
    throw new UnreadableParams('The eval cannot be scored: its arguments are not an object.');
  }
  const calls = toolCallsOf(session);
  const named = calls.filter((call) => call.name === name);
  const found = named.find((call) => containsJson(call.arguments, wanted));
  const looked = `Looked for a call of the tool ${quote(name)} with ${quote(wanted)}`;
  if (found) {
    return verdict(true, `${looked}: turn ${found.turn} calls it with ${quote(found.arguments)}.`);
  }
  if (named.length === 0) return verdict(false, `${looked}: ${calledInstead(calls)}`);
  const given = listed(named.map((call) => quote(call.arguments)));
  return verdict(false, `${looked}: ${counted(named.length, 'call')} had ${given}.`);
}

/** `tool_order`: the tools are called in this order; calls of others may stand between. */
export function scoreToolOrder({ params, session }: Scoring): Score {
  const names = params.texts('names');
  const calls = toolCallsOf(session);
  let met = 0;
  for (const call of calls) if (call.name === names[met]) met++;
  const looked = `Looked for calls in the order ${listed(names.map(quote))}`;
  if (met === names.length) {
    return verdict(
      true,
      `${looked}: the session calls ${listed(calls.map(({ name }) => quote(name)))}.`,
    );
  }
  const missing = quote(names[met]);
  const after = met === 0 ? '' : ` after ${quote(names[met - 1])}`;
  return verdict(false, `${looked}: ${missing} is missing${after}; ${calledInstead(calls)}`);
}

function calledInstead(calls: readonly { name: string }[]): string {
  if (calls.length === 0) return 'the session has no tool calls.';
  return `the session calls ${listed(calls.map(({ name }) => quote(name)))}.`;
}
