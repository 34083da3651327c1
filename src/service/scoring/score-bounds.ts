import { counted, listed } from './quoting.ts';
import { unscored, verdict, type Score, type Scoring } from './score.ts';

/** `max_turns`: the session has at most so many turns. */
export function scoreMaxTurns({ params, session }: Scoring): Score {
  const max = params.number('max');
  const count = session.turns.length;
  const looked = `Looked for at most ${counted(max, 'turn')}`;
  return verdict(count <= max, `${looked}: the session has ${count}.`);
}

/**
 * `max_latency`: each turn took at most so long. A turn that nobody measured proves nothing: when no
 * other is too slow, the eval is an error.
 */
export function scoreMaxLatency({ params, session }: Scoring): Score {
  const max = params.number('ms');
  const looked = `Looked for turns of at most ${max} ms`;
  const slow = session.turns.filter(({ latencyMs = 0 }) => latencyMs > max);
  if (slow.length > 0) {
    const slower = slow.map(({ sequence, latencyMs = 0 }) => `turn ${sequence} (${latencyMs} ms)`);
    return verdict(false, `${looked}: slower are ${listed(slower)}.`);
  }
  const unmeasured = session.turns.filter(({ latencyMs }) => latencyMs === undefined);
  if (session.turns.length === 0) return unscored(`${looked}: the session has no turns.`);
  if (unmeasured.length > 0) {
    const which = listed(unmeasured.map(({ sequence }) => String(sequence)));
    return unscored(`${looked}: no latency is known of turn ${which}. Live traces have one.`);
  }
  const slowest = session.turns.reduce((most, { latencyMs = 0 }) => Math.max(most, latencyMs), 0);
  return verdict(true, `${looked}: the slowest took ${slowest} ms.`);
}
