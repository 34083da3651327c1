import { StartError } from '../../http-kit/errors.ts';
import type { MoveProgress, MoveResult } from '../store/move/move-data.ts';
import { MoveError } from '../store/move/moved-tables.ts';
import { findTlsWarning, redactDatabaseUrl } from '../store/postgres/database-url.ts';
import { getLockPath, lockDirectory } from '../store/sqlite/directory-lock.ts';
import { databaseFileOf, findDevelopmentKey, isDataDir, withDataFile } from './data-dir.ts';
import { DatabaseUnavailableError, withDatabase } from './open-data.ts';

/** The database failed while data was moved. The same move continues later. */
export class MoveInterruptedError extends Error {
  override name = 'MoveInterruptedError';
}

/** The result of a move, with the URL of the database without its password. */
export type DirectoryMove = MoveResult & { to: string };

/**
 * Copies all data of a data directory into an empty PostgreSQL database. After an interruption, the
 * same call continues.
 * @throws StartError if the directory or the database can't be used.
 * @throws MoveInterruptedError if the database failed and may work again later.
 */
export async function moveDataDir({
  dataDir,
  databaseUrl,
  onWarning,
  onProgress,
}: {
  dataDir: string;
  databaseUrl: string;
  /** Receives what the caller should know about the URL. */
  onWarning?: (warning: string) => void;
  onProgress?: (progress: MoveProgress) => void;
}): Promise<DirectoryMove> {
  const file = databaseFileOf(dataDir);
  if (!isDataDir(dataDir)) {
    throw new StartError(`${dataDir} is not a data directory of sandbox-kit serve.`);
  }
  const { moveData } = await import('../store/move/move-data.ts');
  const warning = await withDatabase(databaseUrl, () => findTlsWarning(databaseUrl));
  if (warning !== undefined) onWarning?.(warning);
  const lock = await withDataFile(getLockPath(dataDir), () => lockDirectory(dataDir));
  try {
    const key = await findDevelopmentKey(dataDir);
    const sharedValues: Record<string, string> = key === undefined ? {} : { development_key: key };
    const result = await withDataFile(file, () =>
      withDatabase(databaseUrl, () =>
        moveData({ file, databaseUrl, sharedValues, ...(onProgress && { onProgress }) }),
      ),
    );
    return { ...result, to: redactDatabaseUrl(databaseUrl) };
  } catch (error) {
    throw explain(error);
  } finally {
    lock.release();
  }
}

function explain(error: unknown): unknown {
  if (error instanceof MoveError) return new StartError(error.message, { cause: error });
  if (!(error instanceof DatabaseUnavailableError)) return error;
  return new MoveInterruptedError(error.message, { cause: error.cause });
}
