import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { findSessions } from './session-rows.ts';
import type { Session } from './records.ts';

/** What a person thinks of an outcome. An extension of ours. */
export interface Review {
  evalId: string;
  mark: 'right' | 'wrong';
  /** Why; empty if the person did not say. */
  note: string;
  atMs: number;
}

/** A review of an outcome of an eval, with the outcome and its session. */
export interface ReviewedOutcome extends Review {
  session: Session;
  outcome: 'pass' | 'fail';
  /** See `versionOf`; undefined if the outcome was uploaded. */
  evalVersion: string | undefined;
}

/** How many outcomes of an eval were marked right and wrong, by the outcome. */
export type ReviewCounts = Record<'pass' | 'fail', Record<Review['mark'], number>>;

/** An eval whose outcomes were reviewed. */
export interface ReviewedEval {
  ownerId: string;
  id: string;
  /** Outcomes that were seeded without an id belong to the eval with the same name. */
  name: string;
}

/** How many reviews to list, and whether only those that mark an outcome wrong. */
export interface ReviewSelection {
  limit: number;
  isWrong?: boolean;
}

/** Creates the store of reviews of outcomes. They are deleted with their session. */
export function createReviewStore({ reader, read, write }: Connections) {
  return {
    /** Marks an outcome, and returns false if the session has no such outcome that passed or failed. */
    put: (ownerId: string, sessionId: string, review: Review): Promise<boolean> =>
      write(ownerId, (db) => putReview(db, { ownerId, sessionId }, review)),
    /** Clears the mark of an outcome. */
    remove: (ownerId: string, sessionId: string, evalId: string): Promise<void> =>
      write(ownerId, async (db) => {
        await db
          .deleteFrom('reviews')
          .where('owner_id', '=', ownerId)
          .where('eval_id', '=', evalId)
          .where('session_key', 'in', (query) =>
            query
              .selectFrom('sessions')
              .select('sessions.key')
              .where('sessions.owner_id', '=', ownerId)
              .where('sessions.id', '=', sessionId),
          )
          .execute();
      }),
    /** Lists the reviews of a session. */
    async listOfSession(ownerId: string, sessionId: string): Promise<Review[]> {
      const rows = await reader(ownerId)
        .selectFrom('reviews')
        .innerJoin('sessions', 'sessions.key', 'reviews.session_key')
        .select(['reviews.eval_id', 'mark', 'note', 'at_ms'])
        .where('sessions.owner_id', '=', ownerId)
        .where('sessions.id', '=', sessionId)
        .execute();
      return rows.map(({ eval_id: evalId, at_ms: atMs, ...rest }) => ({ evalId, atMs, ...rest }));
    },
    /**
     * Counts the reviews of an eval by the version of the eval that gave the outcome; uploaded outcomes
     * have an empty version.
     */
    count: (reviewed: ReviewedEval): Promise<Map<string, ReviewCounts>> =>
      read(reviewed.ownerId, (db) => countReviews(db, reviewed)),
    /** Lists the reviews of an eval, the last first: all, or those that mark the outcome wrong. */
    list: (reviewed: ReviewedEval, selection: ReviewSelection): Promise<ReviewedOutcome[]> =>
      read(reviewed.ownerId, (db) => listReviews(db, reviewed, selection)),
  };
}

async function putReview(
  db: WriteTransaction,
  { ownerId, sessionId }: { ownerId: string; sessionId: string },
  { evalId, mark, note, atMs }: Review,
): Promise<boolean> {
  const outcome = await db
    .selectFrom('outcomes')
    .innerJoin('sessions', 'sessions.key', 'outcomes.session_key')
    .select('outcomes.session_key')
    .where('sessions.owner_id', '=', ownerId)
    .where('sessions.id', '=', sessionId)
    .where('outcomes.eval_id', '=', evalId)
    .where('outcomes.outcome', '<>', 'error')
    .executeTakeFirst();
  if (!outcome) return false;
  const row = { mark, note, at_ms: atMs };
  await db
    .insertInto('reviews')
    .values({ ...outcome, owner_id: ownerId, eval_id: evalId, ...row })
    .onConflict((conflict) => conflict.columns(['session_key', 'eval_id']).doUpdateSet(row))
    .execute();
  return true;
}

async function countReviews(
  db: Reader,
  reviewed: ReviewedEval,
): Promise<Map<string, ReviewCounts>> {
  const rows = await selectReviews(db, reviewed)
    .select(({ fn }) => [
      'eval_names.version',
      'outcomes.outcome',
      'reviews.mark',
      fn.countAll<number>().as('count'),
    ])
    .groupBy(['eval_names.version', 'outcomes.outcome', 'reviews.mark'])
    .execute();
  const byVersion = new Map<string, ReviewCounts>();
  for (const { version, outcome, mark, count } of rows) {
    const counts = byVersion.get(version) ?? {
      pass: { right: 0, wrong: 0 },
      fail: { right: 0, wrong: 0 },
    };
    byVersion.set(version, counts);
    if (outcome !== 'error') counts[outcome][mark] = count;
  }
  return byVersion;
}

async function listReviews(
  db: Reader,
  reviewed: ReviewedEval,
  { limit, isWrong = false }: ReviewSelection,
): Promise<ReviewedOutcome[]> {
  const rows = await selectReviews(db, reviewed)
    .innerJoin('sessions', 'sessions.key', 'reviews.session_key')
    .select(['sessions.id', 'reviews.eval_id', 'mark', 'note', 'reviews.at_ms'])
    .select(['outcomes.outcome', 'eval_names.version'])
    .$if(isWrong, (query) => query.where('mark', '=', 'wrong'))
    .orderBy('reviews.at_ms', 'desc')
    .orderBy('reviews.session_key', 'desc')
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const sessions = await findSessions(db, (query) =>
    query.where('sessions.owner_id', '=', reviewed.ownerId).where('sessions.id', 'in', ids),
  );
  const byId = new Map(sessions.map((session) => [session.id, session]));
  return rows.flatMap((row) => {
    const { id, eval_id: evalId, at_ms: atMs, outcome, version, ...rest } = row;
    const session = byId.get(id);
    if (!session || outcome === 'error') return [];
    const evalVersion = version === '' ? undefined : version;
    return [{ ...rest, evalId, atMs, outcome, evalVersion, session }];
  });
}

/** Selects the reviews of the outcomes of an eval, with the outcomes. */
const selectReviews = (db: Reader, { ownerId, id, name }: ReviewedEval) =>
  db
    .selectFrom('reviews')
    .innerJoin('outcomes', (join) =>
      join
        .onRef('outcomes.session_key', '=', 'reviews.session_key')
        .onRef('outcomes.eval_id', '=', 'reviews.eval_id'),
    )
    .innerJoin('eval_names', 'eval_names.key', 'outcomes.eval_name_key')
    .where('reviews.owner_id', '=', ownerId)
    .where('reviews.eval_id', 'in', [id, name])
    .where((eb) =>
      eb.or([
        eb('reviews.eval_id', '=', id),
        eb.and([eb('reviews.eval_id', '=', name), eb('eval_names.name', '=', name)]),
      ]),
    );
