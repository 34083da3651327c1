/** The evals that measure how the two sides of a call took turns. */
import type { EvalDefinition, TurnTaking } from '../../contract/index.ts';
import { formatCount } from '../../report-kit/format.ts';
import { DEAD_AIR_MS_MIN, YIELD_AFTER_MS_MAX } from '../../voice/turn-taking/measure.ts';
import { formatSome } from './quoting.ts';
import {
  createErrorScore,
  createScore,
  type Score,
  type Scorer,
  type ScorerInput,
} from './score.ts';

/** `yields_within_ms`: at every interruption, the agent fell silent within `ms`. */
function scoreYieldsWithinMs({ params, session }: ScorerInput): Score {
  const max = params.readNumber('ms');
  const expectation = `Expected the agent to stop within ${max} ms when the user interrupts`;
  return scoreCall(session.turnTaking, expectation, ({ interruptions, not_proven: notProven }) => {
    if (interruptions.length === 0) {
      return createErrorScore(`${expectation}: the user never interrupted the agent.`);
    }
    const slow = interruptions.filter(({ yield_ms: ms }) => ms === null || ms > max);
    if (slow.length === 0) {
      const slowestMs = Math.max(...interruptions.map(({ yield_ms: ms }) => ms ?? 0));
      return createScore(true, `${expectation}: it stopped within ${slowestMs} ms.`);
    }
    // A delay of the kit makes a measured time longer. An agent that did not yield spoke for at least
    // YIELD_AFTER_MS_MAX after the interruption.
    const lateMs = lateMsOf(notProven);
    const isProven = slow.some(({ yield_ms: ms }) =>
      ms === null ? lateMs < YIELD_AFTER_MS_MAX : ms - lateMs > max,
    );
    if (!isProven) return createUnproven(expectation, notProven);
    const described = slow.map(({ turn, yield_ms: ms }) =>
      ms === null ? `it did not stop in turn ${turn}` : `it took ${ms} ms in turn ${turn}`,
    );
    return createScore(
      false,
      `${expectation}: ${formatSome(described)}.`,
      slow.map(({ turn }) => ({ turn, part: 'turn' })),
    );
  });
}

/** `responds_within_ms`: every line got a reply, and its first sound came within `ms`. */
function scoreRespondsWithinMs({ params, session }: ScorerInput): Score {
  const max = params.readNumber('ms');
  const expectation = `Expected replies to start within ${max} ms`;
  return scoreCall(session.turnTaking, expectation, (call) => {
    const { response_ms: response, responses, missed_turns: missed, not_proven: notProven } = call;
    if (missed === 0 && response && response.max <= max) {
      return createScore(true, `${expectation}: the slowest started after ${response.max} ms.`);
    }
    if (missed > 0) {
      return createScore(false, `${expectation}: ${formatCount(missed, 'line')} got no reply.`);
    }
    if (response && response.max - lateMsOf(notProven) <= max) {
      return createUnproven(expectation, notProven);
    }
    const slow = responses.filter(({ response_ms: ms }) => ms > max);
    return response
      ? createScore(
          false,
          `${expectation}: the slowest started after ${response.max} ms.`,
          slow.map(({ turn }) => ({ turn, part: 'latency' })),
        )
      : createErrorScore(`${expectation}: no reply started after the end of a line.`);
  });
}

/** `never_interrupts`: the agent never started to speak while the user spoke. */
function scoreNeverInterrupts({ session }: ScorerInput): Score {
  const expectation = 'Expected the agent to let the user finish';
  return scoreCall(session.turnTaking, expectation, (call) => {
    if (!isCountProven(call, 'agent_interruption')) {
      return createUnproven(expectation, call.not_proven);
    }
    const count = call.agent_interruptions;
    const result = count === 0 ? 'it did' : `it interrupted ${formatCount(count, 'time')}`;
    return createScore(count === 0, `${expectation}: ${result}.`);
  });
}

/** `no_false_endpoint`: the agent never mistook a pause within a line for the end of the turn. */
function scoreNoFalseEndpoint({ session }: ScorerInput): Score {
  const expectation = 'Expected the agent to wait while the user pauses';
  return scoreCall(session.turnTaking, expectation, (call) => {
    const pauses = call.events.filter(({ kind }) => kind === 'pause').length;
    const count = call.false_endpoints;
    if (pauses === 0 && count === 0) {
      return createErrorScore(`${expectation}: the user never paused within a line.`);
    }
    if (!isCountProven(call, 'false_endpoint')) return createUnproven(expectation, call.not_proven);
    const all = formatCount(pauses, 'pause');
    const result = count === 0 ? `it waited in ${all}` : `it replied in ${count} of ${all}`;
    return createScore(count === 0, `${expectation}: ${result}.`);
  });
}

/** `no_dead_air`: there was no silence of both sides of more than `ms`. */
function scoreNoDeadAir({ params, session }: ScorerInput): Score {
  const max = params.readOptionalNumber('ms') ?? DEAD_AIR_MS_MIN;
  const expectation = `Expected no silence over ${max} ms`;
  return scoreCall(session.turnTaking, expectation, (call) => {
    const silences = call.events.filter(
      ({ kind, duration_ms: ms }) => kind === 'dead_air' && ms > max,
    );
    // No sound ended the silence after the last line, so no event records it.
    const last = session.turns.at(-1);
    if (call.missed_turns > 0 && last?.failed === true && (last.latencyMs ?? 0) > max) {
      const waited = `${Math.round(last.latencyMs ?? 0)} ms without a reply to the last line`;
      return createScore(false, `${expectation}: ${waited}.`, [
        { turn: last.sequence, part: 'latency' },
      ]);
    }
    if (silences.length === 0) return createScore(true, `${expectation}: there was none.`);
    const longestMs = Math.max(...silences.map(({ duration_ms: ms }) => ms));
    if (longestMs - lateMsOf(call.not_proven) <= max) {
      return createUnproven(expectation, call.not_proven);
    }
    const described = silences.map(
      ({ at_ms: at, duration_ms: ms }) => `${ms} ms at ${(at / 1000).toFixed(1)} s`,
    );
    return createScore(false, `${expectation}: ${formatSome(described)}.`);
  });
}

/** How each of these kinds is scored. */
export const turnTakingScorers = {
  yields_within_ms: scoreYieldsWithinMs,
  never_interrupts: scoreNeverInterrupts,
  responds_within_ms: scoreRespondsWithinMs,
  no_false_endpoint: scoreNoFalseEndpoint,
  no_dead_air: scoreNoDeadAir,
} satisfies Partial<Record<EvalDefinition['kind'], Scorer>>;

/** Scores the turn-taking of a call; a session without one can't be scored. */
function scoreCall(
  turnTaking: TurnTaking | undefined,
  expectation: string,
  score: (call: TurnTaking) => Score,
): Score {
  if (turnTaking) return score(turnTaking);
  return createErrorScore(
    `${expectation}: the session has no measured turn-taking. Only simulated calls have it: set ` +
      '`channel: voice` in the scenario.',
  );
}

/** How far a measured time can be from the true one. */
const lateMsOf = (notProven: TurnTaking['not_proven']): number => notProven?.late_ms ?? 0;

/**
 * Whether the number of these events is certain: no delay could hide one, or one of them lasted too
 * long to be the result of a delay.
 */
const isCountProven = ({ events, not_proven: notProven }: TurnTaking, kind: string): boolean =>
  !notProven ||
  events.some((event) => event.kind === kind && event.duration_ms > lateMsOf(notProven));

/** Creates the score of an eval whose outcome a delay of the kit could change. */
const createUnproven = (expectation: string, notProven: TurnTaking['not_proven']): Score =>
  createErrorScore(
    `${expectation}: not proven, because ${notProven?.reason ?? 'sandbox-kit itself was late'}. ` +
      'Run it on an idle machine.',
  );
