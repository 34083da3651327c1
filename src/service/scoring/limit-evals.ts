/** The evals that limit the turns of a session: `max_turns` and `max_latency`. */
import { formatCount } from '../../report-kit/format.ts';
import { listCountedTurns } from '../sessions/scored-session.ts';
import { formatSome } from './quoting.ts';
import { createErrorScore, createScore, type Score, type ScorerInput } from './score.ts';

/** `max_turns`: the session has at most `max` turns, not counting interruptions by the user. */
export function scoreMaxTurns({ params, session }: ScorerInput): Score {
  const max = params.readNumber('max');
  const counted = listCountedTurns(session.turns);
  const [firstBeyond] = counted.slice(max);
  const others = session.turns.length - counted.length;
  const uncounted = others === 0 ? '' : `, not counting ${formatCount(others, 'interruption')}`;
  return createScore(
    counted.length <= max,
    `Expected at most ${formatCount(max, 'turn')}: the session has ${counted.length}${uncounted}.`,
    firstBeyond && [{ turn: firstBeyond.sequence, part: 'turn' }],
  );
}

/**
 * `max_latency`: every turn took at most `ms`. A turn without a measured latency proves nothing: unless
 * another turn is too slow, the outcome is an error.
 */
export function scoreMaxLatency({ params, session }: ScorerInput): Score {
  const max = params.readNumber('ms');
  const expectation = `Expected turns of at most ${max} ms`;
  const slow = session.turns.filter(({ latencyMs = 0 }) => latencyMs > max);
  if (slow.length > 0) {
    const turns = slow.map(({ sequence, latencyMs = 0 }) => `turn ${sequence} (${latencyMs} ms)`);
    return createScore(
      false,
      `${expectation}: these are slower: ${formatSome(turns)}.`,
      slow.map(({ sequence }) => ({ turn: sequence, part: 'latency' })),
    );
  }
  const unmeasured = session.turns.filter(({ latencyMs }) => latencyMs === undefined);
  if (session.turns.length === 0)
    return createErrorScore(`${expectation}: the session has no turns.`);
  if (unmeasured.length > 0) {
    const numbers = formatSome(unmeasured.map(({ sequence }) => String(sequence)));
    return createErrorScore(
      `${expectation}: turn ${numbers} has no measured latency. Only live traces and simulations have one.`,
    );
  }
  const slowestMs = Math.max(...session.turns.map(({ latencyMs = 0 }) => latencyMs));
  return createScore(true, `${expectation}: the slowest took ${slowestMs} ms.`);
}
