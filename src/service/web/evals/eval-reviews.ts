import type { EvalDefinition, EvalReviews } from '../../../contract/index.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { isoTime } from '../../../platform/clock.ts';
import { measureAgreement, type Agreement } from '../../domain/agreement.ts';
import { versionOf } from '../../domain/eval-version.ts';
import { makeDeepLink } from '../../domain/sessions.ts';
import { findEval } from '../../operations/evals.ts';
import type { ReviewCounts, ReviewedOutcome, Store } from '../../store/store.ts';
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
  const [counts, disagreements] = [
    await reviews.count({ ownerId, id, name }),
    await reviews.list({ ownerId, id, name }, { limit: DISAGREEMENTS_MAX, isWrong: true }),
  ];
  const wrong = [...counts.values()].reduce(
    (sum, each) => sum + each.pass.wrong + each.fail.wrong,
    0,
  );
  return {
    id,
    version: versionOf(definition),
    agreement: measureCurrent(counts, versionOf(definition)),
    total: countAll(counts),
    wrong,
    disagreements,
  };
}

/** Returns the agreement of the current version of an eval. Uploaded outcomes have no version. */
function measureCurrent(counts: ReadonlyMap<string, ReviewCounts>, version: string): Agreement {
  const current = [counts.get(version), counts.get('')];
  const count = (outcome: 'pass' | 'fail', mark: 'right' | 'wrong'): number =>
    current.reduce((sum, each) => sum + (each?.[outcome][mark] ?? 0), 0);
  return measureAgreement({
    pass: { right: count('pass', 'right'), wrong: count('pass', 'wrong') },
    fail: { right: count('fail', 'right'), wrong: count('fail', 'wrong') },
  });
}

const countAll = (counts: ReadonlyMap<string, ReviewCounts>): number =>
  [...counts.values()].reduce(
    (sum, { pass, fail }) => sum + pass.right + pass.wrong + fail.right + fail.wrong,
    0,
  );

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
  const counts = await store.reviews.count({ ownerId, id, name });
  const reviews = await store.reviews.list({ ownerId, id, name }, { limit: EXPORTED_MAX });
  const version = versionOf(definition);
  const { reviewed, right, kappa = null } = measureCurrent(counts, version);
  return {
    eval: { id, name, version },
    ...{ reviewed, right, kappa, total: countAll(counts) },
    reviews: reviews.map((review) => toExported(review, serviceUrl)),
  };
}

const toExported = (
  { session, outcome, mark, note, atMs, evalVersion }: ReviewedOutcome,
  serviceUrl: string,
): EvalReviews['reviews'][number] => ({
  session_id: session.id,
  url: makeDeepLink(session, serviceUrl),
  ...{ outcome, mark, note, at: isoTime(atMs), eval_version: evalVersion ?? null },
});
