import { systemClock } from '../../../platform/clock.ts';
import type { MoveMarker } from '../postgres/move-marker.ts';
import { openMoveTarget, type MoveTarget } from '../postgres/move-target.ts';
import { openMoveSource, type MoveSource } from '../sqlite/move-source.ts';
import { MoveError, movedTableNames } from './moved-tables.ts';

/** How far a move is. */
export interface MoveProgress {
  /** The table that is being copied. */
  table: string;
  copiedRows: number;
  totalRows: number;
  /** Estimated time until all rows are copied; undefined before the first ones. */
  msLeft: number | undefined;
}

/** The result of a move. */
export interface MoveResult {
  /** Whether an earlier move had begun. */
  isResumed: boolean;
  /** Whether an earlier move had copied all rows. */
  wasComplete: boolean;
  /** Whether the file has changed since the move began. */
  hasSourceChanged: boolean;
  /** The rows of each table in the file and in the database. */
  tables: { name: string; sourceRows: number; targetRows: number }[];
  /** Number of NUL characters that were replaced, because PostgreSQL can't store them. */
  nulCharacters: number;
}

/**
 * Copies all rows of a SQLite file that no other process uses into an empty PostgreSQL database, and
 * counts them there. After an interruption, the same call continues after the last committed batch.
 * @throws MoveError if the database has other data, or the file changed since the move began.
 * @throws StoreFileError if the file can't be used.
 */
export async function moveData({
  file,
  databaseUrl,
  sharedValues,
  onProgress = () => undefined,
}: {
  file: string;
  databaseUrl: string;
  /** Values that all processes of the service share, by name. */
  sharedValues: Readonly<Record<string, string>>;
  onProgress?: (progress: MoveProgress) => void;
}): Promise<MoveResult> {
  const source = openMoveSource(file);
  try {
    const target = await openMoveTarget(databaseUrl);
    try {
      return await move(source, target, { sharedValues, onProgress });
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

async function move(
  source: MoveSource,
  target: MoveTarget,
  {
    sharedValues,
    onProgress,
  }: {
    sharedValues: Readonly<Record<string, string>>;
    onProgress: (progress: MoveProgress) => void;
  },
): Promise<MoveResult> {
  const counts = new Map(movedTableNames.map((table) => [table, source.count(table)]));
  const created: MoveMarker = {
    sourceId: source.id,
    sourceVersion: source.version,
    table: 'owners',
    copiedRows: 0,
    nulCharacters: 0,
    isComplete: false,
  };
  const begun = await target.begin(created);
  assertSameSource(source, begun);
  const totalRows = Array.from(counts.values()).reduce((sum, count) => sum + count, 0);
  const report = createReporter(begun.copiedRows, totalRows, onProgress);
  const copied = begun.isComplete ? begun : await copyTables(source, target, begun, report);
  if (!copied.isComplete) {
    await target.advanceSequences(findSequenceValues(source, target));
    await target.collectStatistics();
    for (const [name, value] of Object.entries(sharedValues)) await target.shareValue(name, value);
  }
  const tables: MoveResult['tables'] = [];
  for (const [name, sourceRows] of counts) {
    tables.push({ name, sourceRows, targetRows: await target.count(name) });
  }
  if (!copied.isComplete && tables.every((table) => table.sourceRows === table.targetRows)) {
    await target.mark(copied, { ...copied, isComplete: true });
  }
  return {
    isResumed: begun !== created,
    wasComplete: begun.isComplete,
    hasSourceChanged: begun.sourceVersion !== source.version,
    tables,
    nulCharacters: copied.nulCharacters,
  };
}

async function copyTables(
  source: MoveSource,
  target: MoveTarget,
  begun: MoveMarker,
  report: (marker: MoveMarker) => void,
): Promise<MoveMarker> {
  let marker = begun;
  report(marker);
  for (const table of movedTableNames.slice(movedTableNames.indexOf(begun.table))) {
    const columns = target.columnsOf(table).map(({ name }) => name);
    for (;;) {
      const after = table === marker.table ? marker.cursor : undefined;
      const batch = source.readBatch(table, columns, after);
      if (!batch) break;
      const { rows, cursor } = batch;
      const to = { ...marker, table, cursor, copiedRows: marker.copiedRows + rows.length };
      marker = await target.insert({ table, rows, from: marker, to });
      report(marker);
    }
  }
  return marker;
}

/** Returns a function that reports the progress with the time left at the speed of this process. */
function createReporter(
  earlierRows: number,
  totalRows: number,
  onProgress: (progress: MoveProgress) => void,
): (marker: MoveMarker) => void {
  const startedMs = systemClock.monotonicMs();
  return ({ table, copiedRows }) => {
    const newRows = copiedRows - earlierRows;
    const msPerRow = newRows > 0 ? (systemClock.monotonicMs() - startedMs) / newRows : undefined;
    const msLeft = msPerRow === undefined ? undefined : msPerRow * (totalRows - copiedRows);
    onProgress({ table, copiedRows, totalRows, msLeft });
  };
}

/** Returns the largest number of the rows that count with each sequence. */
function findSequenceValues(source: MoveSource, target: MoveTarget): Map<string, number> {
  const values = new Map<string, number>();
  for (const table of movedTableNames) {
    for (const { name, sequence } of target.columnsOf(table)) {
      if (sequence === undefined) continue;
      const max = source.findMax(table, name);
      values.set(sequence, Math.max(max, values.get(sequence) ?? 0));
    }
  }
  return values;
}

/** @throws MoveError if a move of other data began in the database. */
function assertSameSource(source: MoveSource, marker: MoveMarker): void {
  if (marker.sourceId !== source.id) {
    throw new MoveError(
      'The database has data of another directory. Create an empty database, and move to it.',
    );
  }
  if (marker.sourceVersion !== source.version && !marker.isComplete) {
    throw new MoveError(
      'The data in the directory changed after the move began. Create an empty database, and move ' +
        'to it.',
    );
  }
}
