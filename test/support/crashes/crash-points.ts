/** Named points at which a process is killed. The preload `crash-at-point.ts` kills it there. */

/** Where a process ends: before or after a statement, which may be one of a kind of transaction. */
export interface CrashPoint {
  when: 'before' | 'after';
  statement: RegExp;
  /** Matches a statement that the same transaction has run before. */
  transaction?: RegExp;
  /** The process ends at one of the first passes of the point, which a random number chooses. */
  passesMax: number;
}

const COMMIT = /^commit$/;
const writesTo = (table: string): RegExp => new RegExp(`(insert into|update) "?${table}"?\\b`);
const QUEUES_JOBS = /insert into "?jobs"?/;
const TAKES_JOBS = /update "?jobs"? set .*attempts"? = "?attempts/;

/** Points of a service that receives spans, closes conversations, and scores them. */
export const servicePoints: Readonly<Record<string, CrashPoint>> = {
  'before the commit of spans': {
    when: 'before',
    statement: COMMIT,
    transaction: writesTo('spans'),
    passesMax: 30,
  },
  'after the commit of spans': {
    when: 'after',
    statement: COMMIT,
    transaction: writesTo('spans'),
    passesMax: 30,
  },
  'between the statements of spans': {
    when: 'after',
    statement: writesTo('spans'),
    passesMax: 60,
  },
  'before the commit of a close': {
    when: 'before',
    statement: COMMIT,
    transaction: QUEUES_JOBS,
    passesMax: 12,
  },
  'after the commit of a close': {
    when: 'after',
    statement: COMMIT,
    transaction: QUEUES_JOBS,
    passesMax: 12,
  },
  'between the statements of a close': {
    when: 'after',
    statement: writesTo('sessions'),
    passesMax: 12,
  },
  'before the commit of a lease': {
    when: 'before',
    statement: COMMIT,
    transaction: TAKES_JOBS,
    passesMax: 6,
  },
  'between the lease and the outcome': {
    when: 'after',
    statement: COMMIT,
    transaction: TAKES_JOBS,
    passesMax: 6,
  },
  'between the outcome and the end of the session': {
    when: 'after',
    statement: writesTo('outcomes'),
    passesMax: 10,
  },
  'before the commit of outcomes': {
    when: 'before',
    statement: COMMIT,
    transaction: writesTo('outcomes'),
    passesMax: 6,
  },
  'after the commit of outcomes': {
    when: 'after',
    statement: COMMIT,
    transaction: writesTo('outcomes'),
    passesMax: 6,
  },
};

const CHANGES_TABLES = /create table|alter table|create index|user_version =|into schema_version/;

/** Points of a process that creates or changes the tables. */
export const migrationPoints: Readonly<Record<string, CrashPoint>> = {
  // Before a later statement is the same as after the one that precedes it.
  'before a statement of a migration': {
    when: 'before',
    statement: CHANGES_TABLES,
    passesMax: 1,
  },
  'after a statement of a migration': {
    when: 'after',
    statement: CHANGES_TABLES,
    passesMax: 5,
  },
};

/** Points of a move from SQLite to PostgreSQL. */
export const movePoints: Readonly<Record<string, CrashPoint>> = {
  'before a commit of a move': { when: 'before', statement: COMMIT, passesMax: 18 },
  'after a commit of a move': { when: 'after', statement: COMMIT, passesMax: 18 },
  'between the rows and the commit of a move': {
    when: 'after',
    statement: /insert into/,
    passesMax: 20,
  },
  'between the last rows and the mark of completeness': {
    when: 'before',
    statement: /setval|vacuum|service_values.*values|count\(/,
    passesMax: 40,
  },
};

export const crashPoints: Readonly<Record<string, CrashPoint>> = {
  ...servicePoints,
  ...migrationPoints,
  ...movePoints,
};

/** The variables with which a process gets its point. */
export const CRASH_POINT = 'CRASH_POINT';
export const CRASH_PASS = 'CRASH_PASS';

/** The module that a process loads first. */
export const CRASH_PRELOAD = new URL('crash-at-point.ts', import.meta.url).href;
