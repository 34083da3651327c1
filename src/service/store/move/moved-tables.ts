import type { Tables } from '../tables.ts';

/** A table that SQLite and PostgreSQL have. */
export type MovedTable = Exclude<keyof Tables, 'simulation_leases' | 'span_ids'>;

/** Where columns of a row are that it does not have in SQLite, such as its owner. */
export interface Parent {
  table: MovedTable;
  /** The column with the key of the parent. */
  column: string;
}

const conversation: Parent = { table: 'conversations', column: 'conversation_key' };
const session: Parent = { table: 'sessions', column: 'session_key' };

/** All tables, those that others refer to first, with the parent of rows that lack columns. */
export const movedTables: Readonly<Record<MovedTable, Parent | undefined>> = {
  owners: undefined,
  keys: undefined,
  conversations: undefined,
  spans: conversation,
  traces: undefined,
  span_links: undefined,
  tags: conversation,
  runs: undefined,
  agents: undefined,
  simulations: undefined,
  simulation_plans: undefined,
  eval_names: undefined,
  sessions: undefined,
  session_texts: session,
  session_tags: session,
  recordings: undefined,
  turns: session,
  outcomes: session,
  jobs: undefined,
  evals: undefined,
  documents: undefined,
  agent_reports: undefined,
  settings: undefined,
  ingest_log: undefined,
};

export const movedTableNames = Object.keys(movedTables) as MovedTable[];

/** Thrown if data can't be moved. The message says why, and what to do. */
export class MoveError extends Error {
  override name = 'MoveError';
}
