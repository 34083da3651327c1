import type { EvalDefinition } from '../../contract/index.ts';
import type { SessionTurn } from '../turns/turn-types.ts';
import type { ConversationLine } from './conversation-lines.ts';

/**
 * Gives the evals of a conversation the numbers that their lines (`turn: N`) and their turns (`$.turns[N]`)
 * have in the scenario. An eval about one that the scenario does not have is left out, with a note.
 */
export function renumberEvals(
  evals: readonly EvalDefinition[],
  turns: readonly SessionTurn[],
  lines: readonly ConversationLine[],
): { evals: EvalDefinition[]; notes: string[] } {
  const renumberLine = createLineRenumbering(turns, lines);
  const renumberPath = createPathRenumbering(turns, lines);
  const notes: string[] = [];
  const renumbered = evals.flatMap((definition): EvalDefinition[] => {
    const { id, kind, params = {} } = definition;
    const { turn, path } = params;
    const renumbering =
      typeof turn === 'number'
        ? { name: 'turn', value: renumberLine(turn) }
        : kind === 'json_path' && typeof path === 'string'
          ? { name: 'path', value: renumberPath(path) }
          : undefined;
    if (!renumbering) return [definition];
    const { name, value } = renumbering;
    if (value !== undefined) return [{ ...definition, params: { ...params, [name]: value } }];
    notes.push(
      `The scenario leaves out the eval ${id}: it is about a turn that the scenario does not have.`,
    );
    return [];
  });
  return { evals: renumbered, notes };
}

/** Returns the new N of a `turn: N`; undefined if it has none. One that never existed stays. */
function createLineRenumbering(
  turns: readonly SessionTurn[],
  lines: readonly ConversationLine[],
): (turn: number) => number | undefined {
  const known = new Set(turns.map(({ sequence, scenarioLine = sequence }) => scenarioLine));
  const positions = new Map<number, number>();
  for (const [index, { number }] of lines.entries()) {
    // Several turns can have the number of a line. The first one says it.
    if (!positions.has(number)) positions.set(number, index + 1);
  }
  return (turn) => (known.has(turn) ? positions.get(turn) : turn);
}

/** The start of a path to one turn. */
const TURN_INDEX = /^\$(?:\.turns|\["turns"\]|\['turns'\])\[(-?\d{1,9})\]/;

/**
 * Returns a path with the new N of its `$.turns[N]`; undefined if the turn has none. Unlike `turn: N`, it
 * counts every turn, also interruptions. One that never existed stays.
 */
function createPathRenumbering(
  turns: readonly SessionTurn[],
  lines: readonly ConversationLine[],
): (path: string) => string | undefined {
  // An interruption is the turn after the line whose reply it interrupts.
  const sequences = lines.flatMap(({ sequence, interrupt }) =>
    interrupt ? [sequence, sequence + 1] : [sequence],
  );
  const positions = new Map(sequences.map((sequence, index) => [sequence, index]));
  return (path) => {
    const digits = TURN_INDEX.exec(path)?.[1];
    const index = Number(digits);
    const turn = turns.at(index);
    if (digits === undefined || !turn) return path;
    const position = positions.get(turn.sequence);
    if (position === undefined) return undefined;
    const renumbered = index < 0 ? position - sequences.length : position;
    return path.replace(`[${digits}]`, `[${renumbered}]`);
  };
}
