/** Which evals one reply of a session decides, when a turn is sent again. */
import type { EvalDefinition } from '../../contract/index.ts';
import { parsePath } from '../evals/json-path.ts';
import { findTurns, type ScoredSession } from '../sessions/scored-session.ts';
import type { ScoredTurn } from '../turns/turn-types.ts';
import { scoreSession } from './eval-kinds.ts';
import type { Score } from './score.ts';

/** A turn of a scored session whose reply is replaced. */
export interface ReplacedTurn {
  /** The session as it was scored. */
  session: ScoredSession;
  /** The turn with its new reply. */
  turn: ScoredTurn;
}

/** Whether an eval that failed passes with the new reply, or why one reply does not decide it. */
export type ReplyScore =
  | (Pick<Score, 'reasoning'> & { outcome: 'pass' | 'fail' | 'not_judged' })
  /** The eval failed at another turn; undefined if no single turn decides. */
  | { outcome: 'elsewhere'; turn: number | undefined };

/**
 * What decides an eval: each reply for itself, any of the replies, or more. `among` are the only turns that
 * the eval reads.
 */
type Scope =
  { by: 'each' | 'any'; among?: readonly ScoredTurn[] } | { by: 'session'; reason: string };

/**
 * Scores an eval that failed, with the new reply to a turn. An eval about each reply, such as a text that
 * must be absent, is scored if this reply failed it; one that any reply can meet, if this reply meets it
 * or is the last one.
 */
export async function scoreNewReply(
  definition: EvalDefinition,
  { session, turn }: ReplacedTurn,
  signal: AbortSignal,
): Promise<ReplyScore> {
  const scope = scopeOf(definition, session);
  if (scope.by === 'session') return { outcome: 'not_judged', reasoning: scope.reason };
  const { by, among = session.turns } = scope;
  if (among.every(({ sequence }) => sequence !== turn.sequence)) {
    return { outcome: 'elsewhere', turn: among.at(-1)?.sequence };
  }
  const scoreTurns = (turns: readonly ScoredTurn[]): Promise<Score> =>
    scoreSession(definition, { ...session, turns }, undefined, signal);
  const earlier = session.turns.filter(({ sequence }) => sequence < turn.sequence);
  const before = session.turns.filter(({ sequence }) => sequence === turn.sequence);
  const history = by === 'each' && definition.kind !== 'no_repetition' ? [] : earlier;
  if (by === 'each') {
    const recorded = await scoreTurns([...history, ...before]);
    const places = recorded.evidence ?? [];
    const isHere = places.some((place) => place.turn === turn.sequence);
    if (recorded.outcome !== 'error' && !(recorded.outcome === 'fail' && isHere)) {
      return { outcome: 'elsewhere', turn: places[0]?.turn };
    }
  }
  const { outcome, reasoning } = await scoreTurns([...history, turn]);
  if (outcome === 'error') return { outcome: 'not_judged', reasoning };
  const isLast = among.every(({ sequence }) => sequence <= turn.sequence);
  if (outcome === 'fail' && by === 'any' && !isLast) {
    return { outcome: 'not_judged', reasoning: `${reasoning} A later reply may have it.` };
  }
  return { outcome, reasoning };
}

const bySession = (reason: string): Scope => ({ by: 'session', reason });

function scopeOf({ kind, params = {} }: EvalDefinition, { turns }: ScoredSession): Scope {
  switch (kind) {
    case 'contains':
    case 'regex': {
      const { in: speaker, turn, absent } = params;
      if (speaker === 'user')
        return bySession('It is about what the user says, not about a reply.');
      const among = typeof turn === 'number' ? findTurns(turns, turn) : turns;
      return { by: absent === true ? 'each' : 'any', among };
    }
    case 'no_repetition':
    case 'max_latency':
      return { by: 'each' };
    case 'tool_called':
    case 'tool_args':
    case 'evaluation_metadata':
      return { by: 'any' };
    case 'json_path':
      return scopeOfPath(String(params['path']), turns);
    case 'tool_order':
      return turns.length === 1
        ? { by: 'any' }
        : bySession('It compares the tool calls of several replies.');
    case 'max_turns':
      return bySession('It counts the turns of the session.');
    case 'judge':
      return bySession('A model judges the whole session.');
    case 'yields_within_ms':
    case 'never_interrupts':
    case 'responds_within_ms':
    case 'no_false_endpoint':
    case 'no_dead_air':
      return bySession('It measures the turn-taking of the whole call.');
    case 'heard_word_error_rate_max':
      return bySession('It compares the audio of the whole call.');
  }
}

const NO_REPLY = bySession('Its path does not lead to a reply of the agent.');

function scopeOfPath(path: string, turns: readonly ScoredTurn[]): Scope {
  const steps = parsePath(path);
  if (typeof steps === 'string') return NO_REPLY;
  const [root, nth, field] = steps;
  if (typeof root !== 'object' || !('key' in root) || root.key !== 'turns') return NO_REPLY;
  if (typeof field === 'object' && 'key' in field && field.key === 'user_input') return NO_REPLY;
  if (nth === 'any') return { by: 'any' };
  if (nth === undefined || !('index' in nth)) return NO_REPLY;
  const turn = turns.at(nth.index);
  return turn ? { by: 'any', among: [turn] } : bySession('The session has no such turn.');
}
