import type { Pool } from 'pg';
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../contract/index.ts';
import type { AdjustableClock } from '../../../platform/adjustable-clock.ts';
import type { Clock } from '../../../platform/clock.ts';
import { errorOrigin } from '../../../platform/error-origin.ts';
import type { Log } from '../../../platform/log.ts';
import type { Caller } from '../../requests/authentication.ts';
import {
  createRateLimiter,
  RATE_WINDOW_MS,
  retryAfterS,
  type RateLimiter,
  type RateLimitResult,
} from '../../requests/rate-limiter.ts';
import { findPostgresProblem } from './database-problem.ts';

/**
 * The requests of each key within the last minute, in microseconds since the Unix epoch. The table is
 * unlogged, which is faster: a crash of the database empties it.
 */
export const CREATE_RATE_LIMITS = `
  create unlogged table rate_limits (
    owner_id text not null,
    key_digest text not null,
    hits_us bigint[] not null,
    -- When the latest request was judged, and whether it was rejected.
    judged_us bigint not null,
    is_rejecting boolean not null,
    -- Whether the latest request is the first rejected one since the last admitted one.
    is_first boolean not null,
    primary key (owner_id, key_digest)
  ) with (fillfactor = 50)`;

/** What a limiter that all replicas share needs. */
export interface SharedRateLimiterOptions {
  pool: Pick<Pool, 'query'>;
  /** The service clock, which is ahead of the real time by the same offset on all replicas. */
  clock: AdjustableClock;
  /**
   * Whether the service clock follows a clock that was injected. Its time then counts. Otherwise, the
   * time of the database counts, because the clocks of replicas differ.
   */
  isClockInjected: boolean;
  /** Measures how long the database takes. */
  machineClock: Clock;
  log: Log;
}

/** How long a request waits for the database before the window of this process decides. */
const DECISION_MS_MAX = 250;

/** Queries that may wait for a slow database. Beyond this many, the window of this process decides. */
const PENDING_MAX = 1_000;

/** The log says at most this often that replicas don't share the limit. */
const LOG_INTERVAL_MS = 60_000;

const DATABASE_NOW_US = '(extract(epoch from clock_timestamp()) * 1000000)::bigint';
const WINDOW_US = RATE_WINDOW_MS * 1000;

/** Keeps only requests of the last minute. A replica whose clock was just advanced is ahead of others. */
const IS_RECENT = `hit > now_us - ${WINDOW_US} and hit <= now_us + ${WINDOW_US}`;

/**
 * Judges a request, and counts it if it is admitted. The row is locked meanwhile, so that replicas judge
 * one after the other. Parameters: owner, time in milliseconds, key, whether to count it. Planning the
 * statement takes three times as long as running it, so its name lets each connection do that once.
 */
const createJudge = (nowUs: string): { name: string; text: string } => ({
  name: 'judge_request',
  text: `
  insert into rate_limits as stored
    (owner_id, key_digest, hits_us, judged_us, is_rejecting, is_first)
  values ($1, $3, case when $4 then array[${nowUs}] else '{}' end, ${nowUs}, false, false)
  on conflict (owner_id, key_digest) do update
  set (hits_us, judged_us, is_rejecting, is_first) = (
    select
      case when $4 and not is_full then recent_us || now_us else recent_us end,
      now_us,
      is_full,
      is_full and not stored.is_rejecting
    from (
      select now_us, recent_us, cardinality(recent_us) >= ${INGEST_REQUESTS_PER_MINUTE_MAX} as is_full
      from (select ${nowUs} as now_us) as at,
        lateral (
          select coalesce(array_agg(hit order by hit), '{}') as recent_us
          from unnest(stored.hits_us) as hit
          where ${IS_RECENT}
        ) as recent
    ) as judged
  )
  returning is_rejecting, is_first, judged_us - hits_us[1] as oldest_age_us`,
});

interface Judgment {
  is_rejecting: boolean;
  is_first: boolean;
  /** Null if no request is counted. */
  oldest_age_us: number | null;
}

/** A limiter whose window all replicas on a database share. */
export interface SharedRateLimiter extends RateLimiter {
  /** Forgets what this process remembers of an owner's keys, after another replica cleared them. */
  forgetOwner: (ownerId: string) => void;
}

/** Beyond this many keys, the times until which keys are rejected are forgotten. */
const REJECTED_KEYS_MAX = 10_000;

/**
 * Creates a limiter whose window all replicas on a database share. If the database does not respond
 * within 250 ms, the window of this process decides, and the log says so.
 */
export function createSharedRateLimiter(options: SharedRateLimiterOptions): SharedRateLimiter {
  const { pool, clock, isClockInjected } = options;
  const nowUs = `${isClockInjected ? 0 : DATABASE_NOW_US} + $2::bigint * 1000`;
  const judgeStatement = createJudge(nowUs);
  const readTimeMs = (): number =>
    Math.round(isClockInjected ? clock.runningMs() : clock.offset().aheadMs);
  const local = createRateLimiter(clock);
  const decide = createDecider(options);
  /** Until when each key is rejected. A client that keeps sending must not reach the database. */
  const rejections = new Map<string, { ownerId: string; untilMs: number }>();

  const judge = async (caller: Caller, isCounted: boolean): Promise<RateLimitResult> => {
    const { ownerId, keyDigest } = caller;
    const values = [ownerId, readTimeMs(), keyDigest, isCounted];
    const { rows } = await pool.query<Judgment>({ ...judgeStatement, values });
    const [row] = rows;
    if (!row?.is_rejecting) return { admitted: true };
    const ageMs = (row.oldest_age_us ?? 0) / 1000;
    if (rejections.size >= REJECTED_KEYS_MAX) rejections.clear();
    rejections.set(keyDigest, { ownerId, untilMs: clock.monotonicMs() + RATE_WINDOW_MS - ageMs });
    return { admitted: false, retryAfterS: retryAfterS(ageMs), isFirst: row.is_first };
  };
  const findRejection = ({ keyDigest }: Caller): RateLimitResult | undefined => {
    const waitMs = (rejections.get(keyDigest)?.untilMs ?? -Infinity) - clock.monotonicMs();
    if (waitMs > 0) {
      return { admitted: false, retryAfterS: retryAfterS(RATE_WINDOW_MS - waitMs), isFirst: false };
    }
    rejections.delete(keyDigest);
    return undefined;
  };
  const forgetOwner = (ownerId: string): void => {
    void local.clear(ownerId);
    for (const [key, each] of rejections) if (each.ownerId === ownerId) rejections.delete(key);
  };
  return {
    forgetOwner,
    async checkRequest(caller) {
      const rejection = findRejection(caller);
      if (rejection) return rejection;
      const ownDecision = await local.checkRequest(caller);
      if (ownDecision.admitted) return ownDecision;
      // Only the database knows whether another request was rejected before.
      return (await decide(() => judge(caller, false))) ?? ownDecision;
    },
    async countRequest(caller) {
      const decision = findRejection(caller) ?? (await decide(() => judge(caller, true)));
      if (decision && !decision.admitted) return decision;
      // The window of this process also contains the requests that the database admitted.
      const ownDecision = await local.countRequest(caller);
      return decision ?? ownDecision;
    },
    async clear(ownerId) {
      forgetOwner(ownerId);
      await pool.query('delete from rate_limits where owner_id = $1', [ownerId]);
    },
  };
}

/** Asks the database for a decision. Returns undefined if it does not answer in time. */
type Decide = (ask: () => Promise<RateLimitResult>) => Promise<RateLimitResult | undefined>;

function createDecider({ machineClock, log }: SharedRateLimiterOptions): Decide {
  let pending = 0;
  let loggedAtMs = -Infinity;
  return async (ask) => {
    let reason = 'too_many_pending';
    if (pending < PENDING_MAX) {
      pending++;
      const asked = ask().finally(() => pending--);
      using deadline = machineClock.deadline(DECISION_MS_MAX);
      const late = new Promise<undefined>((resolve) => {
        deadline.signal.addEventListener('abort', () => resolve(undefined));
      });
      try {
        const decision = await Promise.race([asked, late]);
        if (decision) return decision;
        reason = 'slow';
      } catch (error) {
        reason = findPostgresProblem(error)?.code ?? errorOrigin(error).error;
      }
    }
    const nowMs = machineClock.monotonicMs();
    if (nowMs - loggedAtMs >= LOG_INTERVAL_MS) {
      loggedAtMs = nowMs;
      log.warn('rate_limit_not_shared', { reason });
    }
    return undefined;
  };
}
