/** The user's lines of a conversation as lines of a scenario. */
import type { ScenarioStep } from '../../contract/index.ts';
import { formatCount } from '../../report-kit/format.ts';
import type { SessionTurn } from '../turns/turn-types.ts';
import type { Session, Store } from '../store/store.ts';

const LINE_CHARS_MAX = 10_000;
/** The longest `after_ms` of a scenario. */
const INTERRUPT_AFTER_MS_MAX = 60_000;

type Interrupt = NonNullable<ScenarioStep['interrupt']>;

/** A line of the user, and how the user interrupts the reply to it. */
export interface ConversationLine {
  say: string;
  interrupt: Interrupt | undefined;
  sequence: number;
  /** Its number in evals of the conversation. */
  number: number;
}

/** By turn of an interruption: how long after the agent began to reply the user spoke. */
export type InterruptionTimes = ReadonlyMap<number, number>;

/** Returns what the recording of a call says about its interruptions; empty without a recording. */
export async function findInterruptionTimes(
  { recordings }: Pick<Store, 'recordings'>,
  session: Session | undefined,
): Promise<InterruptionTimes> {
  const times = new Map<number, number>();
  const turnTaking = session?.simulated?.turn_taking;
  if (!session || !turnTaking || turnTaking.interruptions.length === 0) return times;
  const recording = await recordings.find(session.ownerId, session.id);
  const lines = new Map((recording?.summary.lines ?? []).map((line) => [line.turn, line]));
  const responses = new Map(
    turnTaking.responses.map(({ turn, response_ms: ms }) => [turn, ms] as const),
  );
  for (const { turn } of turnTaking.interruptions) {
    const [line, interruption] = [lines.get(turn - 1), lines.get(turn)];
    const responseMs = responses.get(turn - 1);
    if (!line || !interruption || responseMs === undefined) continue;
    const afterMs = Math.max(0, interruption.startMs - line.endMs - responseMs);
    if (afterMs <= INTERRUPT_AFTER_MS_MAX) times.set(turn, afterMs);
  }
  return times;
}

/** Returns the user's lines, each with its interruption, and a note about those without a time. */
export function readLines(
  turns: readonly SessionTurn[],
  times: InterruptionTimes,
): { lines: ConversationLine[]; notes: string[] } {
  const lines: ConversationLine[] = [];
  let leftOut = 0;
  for (const { userInput, sequence, scenarioLine = sequence, interrupts = false } of turns) {
    const say = userInput.trim().slice(0, LINE_CHARS_MAX).toWellFormed();
    if (say === '') continue;
    if (!interrupts) {
      lines.push({ say, sequence, number: scenarioLine, interrupt: undefined });
      continue;
    }
    const interrupted = lines.at(-1);
    const afterMs = times.get(sequence);
    if (interrupted?.sequence === sequence - 1 && afterMs !== undefined) {
      interrupted.interrupt = { after_ms: afterMs, say };
    } else leftOut += 1;
  }
  const what = `${formatCount(leftOut, 'interruption')} by the user`;
  const reason = 'no recording says when the user began to speak';
  const notes = leftOut === 0 ? [] : [`The scenario leaves out ${what}: ${reason}.`];
  return { lines, notes };
}
