import { renderFactList } from '../../../report-kit/fact-list.ts';
import { cutText, formatCount, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderTime } from '../../../report-kit/time.ts';
import { REVIEWS_MIN, type Agreement } from '../../evals/agreement.ts';
import type { ReviewedOutcome } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import { OUTCOME_LOOKS } from '../sessions/outcome-looks.ts';
import { linkToSession, nameSession } from '../sessions/session-links.ts';

/** Where the page of an eval shows its reviews. */
export const REVIEWS_ANCHOR = 'reviews';
/** Path of the export of the reviews of an eval. */
export const REVIEWS_PATH = '/evals/reviews';
/** The most disagreements on a page. */
export const DISAGREEMENTS_MAX = 50;

/** The most characters of the reasoning of an eval in the list. */
const REASONING_CHARS_MAX = 500;

/** What people think of the outcomes of an eval. */
export interface EvalReviewSummary {
  id: string;
  /** The current version of the eval. */
  version: string;
  /** Agreement about outcomes of the current version. */
  agreement: Agreement;
  /** Reviews of all versions, and those that mark an outcome wrong. */
  total: number;
  wrong: number;
  /** The newest outcomes that are marked wrong, of all versions. */
  disagreements: readonly ReviewedOutcome[];
}

/** Renders the agreement of an eval with people, and the outcomes that they mark wrong. */
export function renderReviews(summary: EvalReviewSummary, context: PageContext): Html {
  const { id, version, agreement, total, wrong, disagreements } = summary;
  if (total === 0) {
    return html`<h2>Agreement with people</h2>
      <p class="soft">
        No outcome was reviewed. On the page of a session, mark the outcome of this eval as right or
        wrong.
      </p>`;
  }
  const omitted = wrong - disagreements.length;
  return html`<h2 id="${REVIEWS_ANCHOR}">Agreement with people</h2>
    <p>${describeAgreement(agreement)}</p>
    ${
      total > agreement.reviewed &&
      html`<p class="soft">
        ${formatCount(total - agreement.reviewed, 'review')} of earlier versions of the eval
        ${total - agreement.reviewed === 1 ? 'does' : 'do'} not count.
      </p>`
    }
    <p><a href="${linkTo(context, REVIEWS_PATH, { id })}">All reviews as JSON</a></p>
    ${
      disagreements.length > 0 &&
      html`<h3>Marked wrong</h3>
        <ul class="disagreements">
          ${disagreements.map((review) => renderDisagreement(review, version, context))}
        </ul>
        ${omitted > 0 && html`<p class="soft">and ${formatNumber(omitted)} more in the JSON</p>`}`
    }`;
}

function renderDisagreement(
  { session, evalId, outcome, evalVersion, note, atMs }: ReviewedOutcome,
  version: string,
  context: PageContext,
): Html {
  const { className, word } = OUTCOME_LOOKS[outcome];
  const opposite = OUTCOME_LOOKS[outcome === 'pass' ? 'fail' : 'pass'].word;
  const scored = session.outcomes.find((each) => each.evalId === evalId);
  const isEarlier = evalVersion !== undefined && evalVersion !== version;
  return html`<li class="outcome">
    ${renderVerdict(className, word)} ${renderSession(session, context)}
    <span class="soft"
      >a person says ${opposite}${isEarlier && ', of an earlier version of the eval'},
      ${renderTime(atMs)}</span
    >
    ${renderFactList([
      ['The eval', scored && cutText(scored.reasoning, REASONING_CHARS_MAX)],
      ['The person', note === '' ? undefined : note],
    ])}
  </li>`;
}

function describeAgreement({ reviewed, right, kappa }: Agreement): string {
  if (reviewed === 0) return 'No outcome of the current version was reviewed.';
  const share = `People agree with ${formatNumber(right)} of ${formatCount(reviewed, 'reviewed outcome')} (${formatShare(right / reviewed, 1)}).`;
  if (kappa !== undefined) {
    return `${share} Cohen's kappa is ${kappa.toFixed(2)}: 1 is complete agreement, and 0 is what chance gives.`;
  }
  return reviewed < REVIEWS_MIN
    ? `${share} Not enough reviews for Cohen's kappa: it needs ${REVIEWS_MIN}.`
    : `${share} Cohen's kappa needs outcomes that passed and outcomes that failed.`;
}

function renderSession(session: ReviewedOutcome['session'], context: PageContext): Html | string {
  const link = linkToSession(session, context);
  const name = nameSession(session);
  return link === undefined ? name : html`<a href="${link}">${name}</a>`;
}

/** CSS rules of the reviews of an eval. */
export const REVIEWS_CSS = `
.disagreements dl { margin: 0.2rem 0; }
.disagreements dd { white-space: pre-line; }
`;
