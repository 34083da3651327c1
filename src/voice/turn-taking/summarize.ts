import type { RunTurnTaking, TurnTaking } from '../../contract/index.ts';
import { summarizeMs } from './measure.ts';

/** Returns the turn-taking of all calls of a run; undefined without calls. */
export function summarizeTurnTaking(calls: readonly TurnTaking[]): RunTurnTaking | undefined {
  if (calls.length === 0) return undefined;
  const sum = (count: (call: TurnTaking) => number): number =>
    calls.reduce((total, call) => total + count(call), 0);
  const yields = calls.flatMap(({ interruptions }) =>
    interruptions.flatMap(({ yield_ms: ms }) => ms ?? []),
  );
  const yieldMs = summarizeMs(yields);
  return {
    calls: calls.length,
    response_ms: summarizeMs(
      calls.flatMap(({ responses }) => responses.map(({ response_ms: ms }) => ms)),
    ),
    yield_ms: yieldMs && { p50: yieldMs.p50, p95: yieldMs.p95 },
    interruptions: sum(({ interruptions }) => interruptions.length),
    yielded: yields.length,
    overlap_ms: sum(({ overlap_ms: ms }) => ms),
    agent_interruptions: sum(({ agent_interruptions: count }) => count),
    false_endpoints: sum(({ false_endpoints: count }) => count),
    missed_turns: sum(({ missed_turns: count }) => count),
    dead_air_ms: sum(({ dead_air_ms: ms }) => ms),
    gaps: sum(({ gaps }) => gaps),
    not_proven: sum(({ not_proven: reason }) => (reason === undefined ? 0 : 1)),
  };
}
