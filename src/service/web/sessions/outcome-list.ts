import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import { renderEvidence, type ExplainedOutcome } from './evidence.ts';
import { OUTCOME_LOOKS } from './outcome-looks.ts';
import { REVIEW_CSS } from './review-form.ts';

/** What a list of outcomes links to. */
export interface OutcomeListOptions {
  turns: readonly SessionTurn[];
  /** Returns the link to a turn; undefined if the page does not show it. */
  linkToTurn: (sequence: number) => string | undefined;
  /** Returns the link to the page of an eval; undefined if it was deleted. */
  linkToEditor: (evalId: string) => string | undefined;
  /** Renders what people think of an outcome that passed or failed, and the form to say it. */
  renderReview: (outcome: ExplainedOutcome) => Html;
  /** Why no eval has scored the session; undefined if one has, or may. */
  whyUnscored: Html | undefined;
  /** Returns the link to the sessions of an eval with an outcome. */
  linkToEval: (evalName: string, outcome: 'failed' | 'errored') => string;
}

/** Renders outcomes with their reasoning and evidence: failed ones first, errored ones apart. */
export function renderOutcomes(
  outcomes: readonly ExplainedOutcome[],
  options: OutcomeListOptions,
): Html {
  const errored = outcomes.filter(({ outcome }) => outcome === 'error');
  const judged = [
    ...outcomes.filter(({ outcome }) => outcome === 'fail'),
    ...outcomes.filter(({ outcome }) => outcome === 'pass'),
  ];
  return html`<h2>Outcomes</h2>
    ${
      judged.length === 0
        ? html`<p class="soft">
            No eval has passed or failed this session.
            ${errored.length === 0 && options.whyUnscored}
          </p>`
        : html`<ul>
            ${judged.map((outcome) => renderOutcome(outcome, options))}
          </ul>`
    }
    ${
      errored.length !== 0 &&
      html`<h2>Errored evals</h2>
        <p class="soft">${describeErrored(errored.length, judged.length)}</p>
        <ul>
          ${errored.map((outcome) => renderOutcome(outcome, options))}
        </ul>`
    }`;
}

function describeErrored(errored: number, judged: number): string {
  const count = errored === 1 ? '1 eval' : `${errored} evals`;
  const hidden = judged === 0 ? ' Results omit this session, because no other eval scored it.' : '';
  return `${count} errored. Errored evals count neither as passed nor as failed, and results omit them.${hidden}`;
}

function renderOutcome(explained: ExplainedOutcome, options: OutcomeListOptions): Html {
  const { anchor, evalId, evalName, category, outcome, required, reasoning } = explained;
  const { className, word } = OUTCOME_LOOKS[outcome];
  const editor = options.linkToEditor(evalId);
  const about = required ? category : `${category} · not required`;
  return html`<li class="outcome" id="${anchor}">
    ${renderVerdict(className, word)}
    <a href="${options.linkToEval(evalName, outcome === 'error' ? 'errored' : 'failed')}"
      >${evalName}</a
    >
    <span class="soft">${about}</span>
    ${editor !== undefined && html`<a class="soft" href="${editor}">edit the eval</a>`}
    <p class="reasoning">${reasoning}</p>
    ${renderEvidence(explained, options.turns, options.linkToTurn)}
    ${
      outcome === 'fail' &&
      html`<p class="evidence">
        <a href="${options.linkToEval(evalName, 'failed')}">All sessions that failed this eval</a>
      </p>`
    }
    ${outcome !== 'error' && options.renderReview(explained)}
  </li>`;
}

/** CSS rules of outcomes. */
export const OUTCOME_CSS = `${REVIEW_CSS}
li.outcome:target { background: var(--target); }
.reasoning { white-space: pre-line; }
.evidence { display: flex; flex-wrap: wrap; font-size: 0.875rem; gap: 0.1rem 0.75rem; }
`;
