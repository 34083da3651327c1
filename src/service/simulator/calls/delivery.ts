import type { ReplyCondition, ScenarioStep } from '../../../contract/index.ts';
import { seededRandom, type Random } from '../../../platform/random.ts';
import { canPause, countWords, splitAtPauses } from '../../scenarios/line-pauses.ts';
import type { SessionPlan } from '../session-plan.ts';

/** How a scenario says that a line is spoken. */
export type Delivery = Pick<ScenarioStep, 'interrupt' | 'pause_ms' | 'backchannel' | 'silence_s'>;

/** Returns how a step of a scenario, or its opening, is spoken. */
export const deliveryOf = ({
  interrupt,
  pause_ms,
  backchannel,
  silence_s,
}: Delivery): Delivery => ({
  ...(interrupt && { interrupt }),
  ...(pause_ms !== undefined && { pause_ms }),
  ...(backchannel !== undefined && { backchannel }),
  ...(silence_s !== undefined && { silence_s }),
});

/** When the user interrupts the reply to a line, and what the user says then. */
export interface PlannedInterruption {
  say: string;
  reason: string;
  /** How long after the agent began to reply, or at which reply; one of the two is defined. */
  afterMs?: number | undefined;
  when?: ReplyCondition | undefined;
}

/** How a line is spoken. */
export interface PlannedDelivery {
  /** The parts of the line in order; only the last one has no pause after it. */
  parts: readonly { text: string; pauseMs: number }[];
  interruption: PlannedInterruption | undefined;
  /** Said while the agent replies, this long after it began. */
  backchannel: { say: string; afterMs: number } | undefined;
  /** How long the user says nothing before the line. */
  silenceMs: number;
}

/** How often a persona interrupts a reply, and hesitates in a line. */
const INTERRUPTION_SHARES = { never: 0, rare: 0.2, often: 0.5 } as const;
const PAUSE_SHARES = { none: 0, some: 1 / 3, many: 1 } as const;

const PAUSE_MS = [300, 1_500] as const;
/** When a persona interrupts, and when the user says its backchannel, after the agent began. */
const INTERRUPTION_MS = [500, 2_500] as const;
const BACKCHANNEL_MS = [600, 1_200] as const;
/** A persona does not hesitate in shorter lines. */
const PAUSE_WORDS_MIN = 4;
/** In a line of this many words, a persona that hesitates a lot does so twice. */
const TWO_PAUSES_WORDS_MIN = 12;

const INTERRUPTION_REASON = 'interrupts the agent';
/** The user repeats its line, so the new reply is as useful to the scenario as the interrupted one. */
const PERSONA_REASON = `${INTERRUPTION_REASON}, as the persona does`;

/**
 * Decides how a line is spoken: as the scenario says, and otherwise as the persona does. The choices
 * depend only on the session and on the number of the line's turn.
 */
export function planDelivery(
  { sessionId, persona }: Pick<SessionPlan, 'sessionId' | 'persona'>,
  line: { countedTurn: number; text: string; canBeInterrupted: boolean },
  delivery: Delivery = {},
): PlannedDelivery {
  const random = seededRandom(sessionId).fork('delivery').fork(String(line.countedTurn));
  const { interruptions, pauses } = persona.voice;
  const { interrupt, pause_ms: pauseMs, backchannel, silence_s: silenceS = 0 } = delivery;
  const interruption = interrupt
    ? toPlanned(interrupt)
    : drawInterruption(line.text, INTERRUPTION_SHARES[interruptions], random.fork('interruption'));
  const pausesMs =
    pauseMs === undefined ? drawPauses(line.text, pauses, random.fork('pauses')) : [pauseMs];
  return {
    parts: splitLine(line.text, pausesMs),
    interruption: line.canBeInterrupted ? interruption : undefined,
    backchannel:
      backchannel === undefined
        ? undefined
        : { say: backchannel, afterMs: random.fork('backchannel').integer(...BACKCHANNEL_MS) },
    silenceMs: silenceS * 1_000,
  };
}

const toPlanned = ({
  say,
  after_ms: afterMs,
  when,
}: NonNullable<Delivery['interrupt']>): PlannedInterruption => ({
  say,
  afterMs,
  when,
  reason: INTERRUPTION_REASON,
});

function drawInterruption(
  say: string,
  share: number,
  random: Random,
): PlannedInterruption | undefined {
  if (random.fraction() >= share) return undefined;
  return { say, reason: PERSONA_REASON, afterMs: random.integer(...INTERRUPTION_MS) };
}

function drawPauses(line: string, pauses: keyof typeof PAUSE_SHARES, random: Random): number[] {
  const words = countWords(line);
  if (random.fraction() >= PAUSE_SHARES[pauses] || words < PAUSE_WORDS_MIN) return [];
  const count = pauses === 'many' && words >= TWO_PAUSES_WORDS_MIN ? 2 : 1;
  return Array.from({ length: count }, () => random.integer(...PAUSE_MS));
}

function splitLine(line: string, pausesMs: readonly number[]): PlannedDelivery['parts'] {
  if (pausesMs.length === 0 || !canPause(line)) return [{ text: line, pauseMs: 0 }];
  const texts = splitAtPauses(line, pausesMs.length);
  return texts.map((text, nth) => ({
    text,
    pauseMs: nth === texts.length - 1 ? 0 : (pausesMs[nth] ?? 0),
  }));
}
