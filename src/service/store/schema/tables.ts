/**
 * All tables, those first that others refer to. A `key` is the internal number of a row; callers see it
 * only as the id of a run. An `id` is known to callers. Times are integers since the Unix epoch, in
 * milliseconds (`_ms`) or nanoseconds (`_ns`). A `_folded` column holds a name as `foldCase`
 * returns it. Long texts are last, because SQLite reads a row up to the columns that it needs.
 *
 * What else a database has is in `sqlite/create-tables.ts` and `postgres/create-tables.ts`. A change
 * after the first release is also a change of existing tables, in `changes.ts`.
 */
import { ownerTables } from './owners.ts';
import { sessionTables } from './sessions.ts';
import type { Row } from './table.ts';
import { traceTables } from './traces.ts';

export const tables = { ...ownerTables, ...traceTables, ...sessionTables };

/** The rows of each table, for Kysely. Booleans are 0 and 1. */
export type Tables = { [Name in keyof typeof tables]: Row<(typeof tables)[Name]> };
