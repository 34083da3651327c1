import { type Clock } from '../../../platform/clock.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTime } from '../../../report-kit/time.ts';
import { RequestError } from '../../requests/errors.ts';
import type { Review, Session, Store } from '../../store/store.ts';
import { renderField } from '../frame/fields.ts';
import { readText, renderForm } from '../frame/forms.ts';
import type { PageContext } from '../frame/page-frame.ts';
import type { Answer, Pages, SentForm } from '../frame/pages.ts';
import { anchorOf } from './evidence.ts';
import { linkToSession } from './session-links.ts';

const MARK_PATH = '/sessions/review';
const CLEAR_PATH = '/sessions/clear-review';
/** The most characters of a note. */
const NOTE_LENGTH_MAX = 2_000;

/** The outcome of an eval on the page of a session. */
interface ReviewedPlace {
  session: Session;
  evalId: string;
  /** The list that the page was opened from. */
  list: URLSearchParams | undefined;
}

/** Renders the mark of an outcome, and the forms that set and clear it. */
export function renderReview(
  place: ReviewedPlace,
  reviews: readonly Review[],
  context: PageContext,
): Html {
  const review = reviews.find(({ evalId }) => evalId === place.evalId);
  const marking = renderForm(context, {
    action: MARK_PATH,
    className: 'form review',
    body: html`${renderPlace(place)}
      ${renderField(
        { name: 'note', label: 'Why? (optional)', value: review?.note ?? '' },
        html`maxlength="${NOTE_LENGTH_MAX}"`,
      )}
      <button name="mark" value="right" class="quiet">It is right</button>
      <button name="mark" value="wrong" class="quiet">It is wrong</button>`,
  });
  if (!review) {
    if (context.token === undefined) return html``;
    return html`<details class="review">
      <summary>Is this outcome right?</summary>
      ${marking}
    </details>`;
  }
  const { mark, note, atMs } = review;
  return html`<div class="review">
    <p>
      <b>Marked ${mark}</b> by a person
      <span class="soft">${renderTime(atMs)}</span>
    </p>
    ${note !== '' && html`<p class="reasoning">${note}</p>`}
    ${
      context.token !== undefined &&
      html`<details>
        <summary>Change the mark</summary>
        ${marking}
        ${renderForm(context, {
          action: CLEAR_PATH,
          body: html`${renderPlace(place)}<button class="quiet">Clear the mark</button>`,
        })}
      </details>`
    }
  </div>`;
}

const renderPlace = ({ session, evalId, list }: ReviewedPlace): Html =>
  html`<input type="hidden" name="session" value="${session.id}" />
    <input type="hidden" name="eval" value="${evalId}" />
    ${list && html`<input type="hidden" name="list" value="${list.toString()}" />`}`;

/** Adds the forms that mark outcomes. They lead back to the outcome. */
export function addReviewForms(
  { form }: Pages,
  { store, clock }: { store: Pick<Store, 'sessions' | 'reviews'>; clock: Clock },
): void {
  const { reviews } = store;
  form(MARK_PATH, async (sent) => {
    const [id, evalId] = readPlace(sent.form);
    const mark = readText(sent.form, 'mark');
    const note = readText(sent.form, 'note');
    if (mark !== 'right' && mark !== 'wrong') {
      throw new RequestError('bad_request', 'The mark must be right or wrong.');
    }
    if (note.length > NOTE_LENGTH_MAX) {
      const message = `The note must have at most ${NOTE_LENGTH_MAX} characters, got ${note.length}.`;
      throw new RequestError('bad_request', message);
    }
    const review = { evalId, mark, note, atMs: clock.nowMs() } as const;
    if (!(await reviews.put(sent.ownerId, id, review))) throw unknownOutcome();
    return goToOutcome(store, sent);
  });
  form(CLEAR_PATH, async (sent) => {
    await reviews.remove(sent.ownerId, ...readPlace(sent.form));
    return goToOutcome(store, sent);
  });
}

function readPlace(form: FormData): [session: string, evalId: string] {
  const evalId = form.get('eval');
  // The id is not trimmed, because uploaded outcomes have the name of their eval as its id.
  return [readText(form, 'session'), typeof evalId === 'string' ? evalId : ''];
}

async function goToOutcome(
  { sessions }: Pick<Store, 'sessions'>,
  { ownerId, context, form }: SentForm,
): Promise<Answer> {
  const [id, evalId] = readPlace(form);
  const session = await sessions.find(ownerId, id);
  const list = readText(form, 'list');
  const link =
    session && linkToSession(session, context, list === '' ? undefined : new URLSearchParams(list));
  const index = session?.outcomes.findIndex((outcome) => outcome.evalId === evalId) ?? -1;
  if (link === undefined || index < 0) throw unknownOutcome();
  return { status: 303, location: `${link}#${anchorOf(index)}` };
}

const unknownOutcome = (): RequestError =>
  new RequestError('not_found', 'This session has no such outcome that passed or failed.');

/** CSS rules of reviews. */
export const REVIEW_CSS = `
.review { font-size: 0.875rem; margin-top: 0.4rem; }
.review .form { margin: 0.25rem 0; }
.review .form input:not([type='hidden']) { max-width: 100%; }
div.review { border-left: 4px solid var(--line); padding-left: 0.75rem; }
div.review p { margin: 0.2rem 0; }
`;
