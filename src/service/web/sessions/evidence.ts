import type { OutcomeEvidence } from '../../../contract/index.ts';
import { cutText } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { TurnMark } from '../../../report-kit/transcript.ts';
import { findCitedEvidence } from '../../domain/cited-evidence.ts';
import type { SessionTurn } from '../../domain/sessions.ts';
import type { Outcome } from '../../store/store.ts';

/** An outcome with its place in the list of outcomes, and its evidence. */
export interface ExplainedOutcome extends Outcome {
  /** The id of its element on the page. */
  anchor: string;
  evidence: readonly OutcomeEvidence[];
}

/**
 * Adds evidence to outcomes. Those without any, such as uploaded ones, get what they cite. Evidence counts
 * the turns without those that arrived after the close.
 */
export function explainOutcomes(
  outcomes: readonly Outcome[],
  turns: readonly SessionTurn[],
): ExplainedOutcome[] {
  const scored = turns.filter(({ late }) => late !== 'all');
  const renumbered = scored.map((turn, index) => ({ ...turn, sequence: index + 1 }));
  const cite = (reasoning: string): readonly OutcomeEvidence[] =>
    findCitedEvidence(reasoning, scored.length === turns.length ? turns : renumbered);
  const locate = (place: OutcomeEvidence): OutcomeEvidence =>
    scored.length === turns.length
      ? place
      : { ...place, turn: scored[place.turn - 1]?.sequence ?? place.turn };
  return outcomes.map((outcome, index) => ({
    ...outcome,
    anchor: `eval-${index + 1}`,
    evidence:
      outcome.outcome === 'error' ? [] : (outcome.evidence ?? cite(outcome.reasoning)).map(locate),
  }));
}

/** Returns the places to highlight in the transcript. */
export function listMarks(outcomes: readonly ExplainedOutcome[]): TurnMark[] {
  return outcomes.flatMap(({ outcome, evalName: label, anchor, evidence }) =>
    outcome === 'error'
      ? []
      : evidence.map((place) => ({ ...place, outcome, label, href: `#${anchor}` })),
  );
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
