import type { EvalDefinition, EvalReviews } from '../../../contract/index.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { isoTime } from '../../../platform/clock.ts';
import { measureAgreement, sumReviews } from '../../evals/agreement.ts';
import { versionOf } from '../../evals/eval-version.ts';
import { makeDeepLink } from '../../sessions/deep-link.ts';
import { findEval } from '../../operations/evals.ts';
import type { ReviewedOutcome, Store } from '../../store/store.ts';
import { pageHeaders } from '../../../http-kit/pages.ts';
import type { Pages } from '../frame/pages.ts';
import { DISAGREEMENTS_MAX, REVIEWS_PATH, type EvalReviewSummary } from './review-list.ts';

type ReviewStores = Pick<Store, 'evals' | 'reviews'>;

/** The most reviews in an export. */
const EXPORTED_MAX = 1_000;

/** Reads the agreement of an eval with people, and the newest disagreements. */
export async function summarizeReviews(
  { reviews }: Pick<Store, 'reviews'>,
  ownerId: string,
  definition: EvalDefinition,
): Promise<EvalReviewSummary> {
  const { id, name } = definition;
  const { agreement, total, wrong } = await measureReviews(reviews, ownerId, definition);
  const selection = { limit: DISAGREEMENTS_MAX, isWrong: true };
  const disagreements = await reviews.list({ ownerId, id, name }, selection);
  return { id, version: versionOf(definition), agreement, total, wrong, disagreements };
}

/**
 * Returns the agreement of the current version of an eval, and how many reviews of all versions there
 * are. Uploaded outcomes have no version, and count as current.
 */
export async function measureReviews(
  reviews: Pick<Store['reviews'], 'count'>,
  ownerId: string,
  definition: EvalDefinition,
): Promise<Pick<EvalReviewSummary, 'agreement' | 'total' | 'wrong'>> {
  const { id, name } = definition;
  const counts = await reviews.count({ ownerId, id, name });
  const current = [counts.get(versionOf(definition)), counts.get('')];
  const all = measureAgreement(sumReviews([...counts.values()]));
  return {
    agreement: measureAgreement(sumReviews(current.filter((each) => each !== undefined))),
    total: all.reviewed,
    wrong: all.reviewed - all.right,
  };
}

/** Adds the export of the reviews of an eval, as JSON. */
export function addReviewExport({ app, findViewer }: Pages, store: ReviewStores): void {
  app.get(REVIEWS_PATH, async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const definition = await findEval(store.evals, ownerId, readQuery(request).get('id') ?? '');
    const report = await exportReviews(store, ownerId, definition, context.serviceUrl);
    return sendPrettyJson(reply.headers(pageHeaders), report);
  });
}

async function exportReviews(
  store: ReviewStores,
  ownerId: string,
  definition: EvalDefinition,
  serviceUrl: string,
): Promise<EvalReviews> {
  const { id, name } = definition;
  const { agreement, total } = await measureReviews(store.reviews, ownerId, definition);
  const reviews = await store.reviews.list({ ownerId, id, name }, { limit: EXPORTED_MAX });
  const { reviewed, right, kappa = null } = agreement;
  return {
    eval: { id, name, version: versionOf(definition) },
    reviewed,
    right,
    kappa,
    total,
    reviews: reviews.map((review) => toExported(review, serviceUrl)),
  };
}

const toExported = (
  { session, outcome, mark, note, atMs, evalVersion }: ReviewedOutcome,
  serviceUrl: string,
): EvalReviews['reviews'][number] => ({
  session_id: session.id,
  url: makeDeepLink(session, serviceUrl),
  outcome,
  mark,
  note,
  at: isoTime(atMs),
  eval_version: evalVersion ?? null,
});
