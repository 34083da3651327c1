import { isoTime } from '../../../platform/clock.ts';
import {
  formatCount,
  formatInstant,
  formatNumber,
  formatShare,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { REVIEWS_MIN, type Agreement } from '../../domain/agreement.ts';
import type { ReviewedOutcome } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import { OUTCOME_LOOKS } from '../sessions/outcome-looks.ts';
import { linkToSession, nameSession } from '../sessions/session-links.ts';

/** Path of the export of the reviews of an eval. */
export const REVIEWS_PATH = '/evals/reviews';
/** The most disagreements on a page. */
export const DISAGREEMENTS_MAX = 50;

/** What people think of the outcomes of an eval. */
export interface EvalReviewSummary {
  id: string;
  /** The current version of the eval. */
  version: string;
  /** Of the current version. */
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
  return html`<h2>Agreement with people</h2>
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
        ${renderItems({
          ...{ label: 'Outcomes marked wrong', className: 'disagreements' },
          items: disagreements,
          columns: [
            { name: 'session', content: ({ session }) => renderSession(session, context) },
            {
              name: 'the eval says',
              content: ({ outcome, evalVersion = version }) =>
                html`<span class="mark ${OUTCOME_LOOKS[outcome].className}"
                    >${OUTCOME_LOOKS[outcome].word}</span
                  >
                  ${evalVersion !== version && html`<span class="soft">earlier version</span>`}`,
            },
            {
              name: 'the person says',
              content: ({ outcome }) => OUTCOME_LOOKS[outcome === 'pass' ? 'fail' : 'pass'].word,
            },
            { name: 'note', content: ({ note }) => note },
            { name: 'marked', content: ({ atMs }) => formatInstant(isoTime(atMs)) },
          ],
        })}
        ${omitted > 0 && html`<p class="soft">and ${formatNumber(omitted)} more in the JSON</p>`}`
    }`;
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
.disagreements td:nth-child(4) { min-width: 14rem; white-space: pre-line; }
h3 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
`;
