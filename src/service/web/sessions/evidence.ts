import { isDeepStrictEqual } from 'node:util';
import type { OutcomeEvidence } from '../../../contract/index.ts';
import { cutText } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { ShownTurn, TurnMark } from '../../../report-kit/transcript.ts';
import { findCitedEvidence } from '../../evals/cited-evidence.ts';
import type { Transcript } from '../../sessions/transcripts.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import type { Outcome } from '../../store/store.ts';

/** An outcome with its place in the list of outcomes, and its evidence. */
export interface ExplainedOutcome extends Outcome {
  /** The id of its element on the page. */
  anchor: string;
  evidence: readonly OutcomeEvidence[];
}

/** Returns the id of the element of an outcome, by its place among those of its session. */
export const anchorOf = (index: number): string => `eval-${index + 1}`;

/** Adds evidence to outcomes. Those without any, such as uploaded ones, get what they cite. */
export function explainOutcomes(
  outcomes: readonly Outcome[],
  turns: readonly SessionTurn[],
): ExplainedOutcome[] {
  return outcomes.map((outcome, index) => ({
    ...outcome,
    anchor: anchorOf(index),
    evidence:
      outcome.outcome === 'error'
        ? []
        : (outcome.evidence ?? findCitedEvidence(outcome.reasoning, turns)),
  }));
}

/** Returns the places to highlight in the transcript. */
export function listMarks(
  outcomes: readonly ExplainedOutcome[],
  transcript: Transcript,
): TurnMark[] {
  return outcomes.flatMap(({ outcome, evalName: label, anchor, evidence }) =>
    outcome === 'error'
      ? []
      : evidence.map((place) => ({
          ...(isShownAsScored(place, transcript) ? place : { turn: place.turn, part: 'turn' }),
          outcome,
          label,
          href: `#${anchor}`,
        })),
  );
}

/** Returns whether the part of a turn is as evals saw it. Late spans can change what a turn says. */
function isShownAsScored(place: OutcomeEvidence, { scored, shown }: Transcript): boolean {
  const [before, after] = [scored, shown].map((turns) =>
    turns.find(({ sequence }) => sequence === place.turn),
  );
  return isDeepStrictEqual(readPart(before, place), readPart(after, place));
}

const FIELDS = {
  turn: 'sequence',
  user: 'userInput',
  agent: 'agentResponse',
  tool_call: 'toolCalls',
  latency: 'latencyMs',
  evaluation_metadata: 'evaluationMetadata',
} as const satisfies Record<OutcomeEvidence['part'], keyof ShownTurn>;

function readPart(turn: ShownTurn | undefined, { part, call }: OutcomeEvidence): unknown {
  return call === undefined ? turn?.[FIELDS[part]] : turn?.toolCalls?.[call];
}

const QUOTED_CHARS_MAX = 80;

/**
 * Renders the evidence of an outcome, with the quoted text or the part of the turn. It links to the turns
 * that the page shows.
 */
export function renderEvidence(
  { evidence }: ExplainedOutcome,
  turns: readonly SessionTurn[],
  linkToTurn: (sequence: number) => string | undefined,
): Html | undefined {
  if (evidence.length === 0) return undefined;
  return html`<p class="evidence">
    Evidence:
    ${evidence.map((place) => {
      const turn = turns.find(({ sequence }) => sequence === place.turn);
      const text = `turn ${place.turn}${describePlace(place, turn)}`;
      const link = linkToTurn(place.turn);
      return link === undefined ? html`<span>${text}</span>` : html`<a href="${link}">${text}</a>`;
    })}
  </p>`;
}

const PART_NAMES: Readonly<Record<OutcomeEvidence['part'], string>> = {
  turn: '',
  user: ', the user',
  agent: ', the agent',
  tool_call: ', tool call',
  latency: ', latency',
  evaluation_metadata: ', evaluation metadata',
};

function describePlace(
  { part, call, start, end }: OutcomeEvidence,
  turn: SessionTurn | undefined,
): string {
  const line = part === 'user' ? turn?.userInput : turn?.agentResponse;
  if ((part === 'user' || part === 'agent') && start !== undefined && line !== undefined) {
    return `: “${cutText(line.slice(start, end), QUOTED_CHARS_MAX).toWellFormed()}”`;
  }
  const name = call === undefined ? undefined : turn?.toolCalls?.[call]?.name;
  return `${PART_NAMES[part]}${name === undefined ? '' : ` ${cutText(name, QUOTED_CHARS_MAX)}`}`;
}
