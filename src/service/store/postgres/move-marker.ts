import type { Pool } from 'pg';
import type { MovedTable } from '../move/moved-tables.ts';
import type { Cursor } from '../sqlite/move-source.ts';

/** The name of the shared value that says how far a move is. */
export const MARKER_NAME = 'move';

/** How far a move of data into a database is, as the database stores it. */
export interface MoveMarker {
  /** The id of the moved database. */
  sourceId: string;
  /** Its version when the move began. */
  sourceVersion: string;
  /** The table that is being copied; those before it are complete. */
  table: MovedTable;
  /** The last copied row of the table. */
  cursor?: Cursor;
  copiedRows: number;
  /** Number of replaced NUL characters. */
  nulCharacters: number;
  /** Whether all rows were copied and counted. */
  isComplete: boolean;
}

/** Thrown if a service starts on a database that data is being moved into. */
export class UnfinishedMoveError extends Error {
  override name = 'UnfinishedMoveError';

  constructor() {
    super(
      'Moving data into the database is not finished. Run sandbox-kit move with the same directory ' +
        'again, which continues, or use an empty database.',
    );
  }
}

/** @throws UnfinishedMoveError if a move into the database began and is not complete. */
export async function assertMoveComplete(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ value: string }>(
    'select value from service_values where name = $1',
    [MARKER_NAME],
  );
  const [row] = rows;
  if (row && !(JSON.parse(row.value) as MoveMarker).isComplete) throw new UnfinishedMoveError();
}
