import { cutText, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTranscript, type TextRange } from '../../../report-kit/transcript.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import { explainSession, listReasons } from '../../runs/reasons.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { linkToSession } from '../sessions/session-links.ts';
import { findChangedWords } from './changed-words.ts';
import type { ComparedSession, TranscriptPair } from './load-comparison.ts';

/** The most turns to show, around the first one that differs. */
const TURNS_MAX = 8;
/** The most characters of one text. */
const TEXT_LENGTH_MAX = 500;
/** The most reasons of a session. */
const REASONS_MAX = 10;

/**
 * Renders a regressed session next to the one before it. Of transcripts that say the same, only the
 * verdicts and reasons are shown; otherwise the first turn that differs is marked.
 */
export function renderPair(
  { scenarioId, before, after }: TranscriptPair,
  context: PageContext,
): Html {
  const index = findDifference(before?.turns ?? [], after.turns);
  const isSame = before !== undefined && index === undefined;
  return html`<details ${isSame ? '' : 'open'}>
    <summary><h3>${scenarioId}</h3></summary>
    ${isSame && html`<p class="soft">Both transcripts say the same.</p>`}
    <div class="pair">
      <div>
        <h4>Before</h4>
        ${
          before
            ? renderSide(before, { difference: index, other: after }, context)
            : html`<p class="soft">The run before has no session of this scenario.</p>`
        }
      </div>
      <div>
        <h4>After</h4>
        ${renderSide(after, { difference: before && index, other: before }, context)}
      </div>
    </div>
  </details>`;
}

/** Returns the index of the first turn where the lines or the tools differ. */
function findDifference(
  before: readonly SessionTurn[],
  after: readonly SessionTurn[],
): number | undefined {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index += 1) {
    if (describeTurn(before[index]) !== describeTurn(after[index])) return index;
  }
  return undefined;
}

function describeTurn(turn: SessionTurn | undefined): string {
  if (!turn) return '';
  const tools = (turn.toolCalls ?? []).map(({ name }) => name);
  return JSON.stringify([turn.userInput, turn.agentResponse, tools]);
}

function renderSide(
  { session, turns }: ComparedSession,
  { difference, other }: { difference: number | undefined; other: ComparedSession | undefined },
  context: PageContext,
): Html {
  const findChanges = (sequence: number, side: 'user' | 'agent'): readonly TextRange[] => {
    const index = turns.findIndex((turn) => turn.sequence === sequence);
    const [turn, counterpart] = [turns[index], other?.turns[index]];
    if (!turn || !counterpart) return [];
    const field = side === 'user' ? 'userInput' : 'agentResponse';
    const [text, otherText] = [turn[field], counterpart[field]].map((each) =>
      each.slice(0, TEXT_LENGTH_MAX),
    );
    return findChangedWords(text ?? '', otherText ?? '');
  };
  const isSame = other !== undefined && difference === undefined;
  const verdict = decideVerdict(session);
  const link = linkToSession(session, context);
  const sample = session.simulated?.sample;
  const name = sample === undefined ? session.id : `sample ${sample}`;
  const from = Math.max(0, Math.min((difference ?? 0) - 2, turns.length - TURNS_MAX));
  const shown = turns.slice(from, from + TURNS_MAX);
  const reasons = listReasons(explainSession(session));
  const omitted = turns.length - shown.length;
  return html`<p>
      ${renderVerdict(verdict)} ${link === undefined ? name : html`<a href="${link}">${name}</a>`}
    </p>
    <ul class="reasons">
      ${reasons
        .slice(0, REASONS_MAX)
        .map((reason) => html`<li>${cutText(reason, TEXT_LENGTH_MAX)}</li>`)}
    </ul>
    ${
      !isSame &&
      omitted > 0 &&
      html`<p class="soft">
        Turns ${from + 1} to ${from + shown.length} of ${formatNumber(turns.length)}.
      </p>`
    }
    ${
      !isSame &&
      renderTranscript(
        shown.map(({ evaluationMetadata, userReason, ...turn }) => turn),
        {
          textCharsMax: TEXT_LENGTH_MAX,
          findChanges,
          differingTurn: difference === undefined ? 0 : (turns[difference]?.sequence ?? 0),
        },
      )
    }`;
}

/** CSS rules of the transcripts. */
export const TRANSCRIPT_PAIR_CSS = `
.pair { display: grid; gap: 0 2rem; grid-template-columns: 1fr; }
@media (min-width: 48rem) { .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
h4 { font-size: 1rem; margin: 0.5rem 0 0; }
ul.reasons { list-style: disc; padding-left: 1.5rem; }
summary h3 { display: inline-block; margin: 0; }
mark.changed { border-color: var(--note); }
li.differs { border-left: 4px solid var(--warn); padding-left: 0.75rem; }
`;
