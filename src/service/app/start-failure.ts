import { StartError } from '../domain/errors.ts';
import { ForeignFileError } from '../store/migrate.ts';

/** What to do about a file, by the code of the error that it made. */
const cures: readonly [code: RegExp, cure: string][] = [
  [
    /^SQLITE_(NOTADB|CORRUPT)/,
    'is damaged, or no store at all; move it away, and a new one is made',
  ],
  [
    /^(EISDIR|SQLITE_CANTOPEN_ISDIR)$/,
    'is a folder; move it away, and a file is made in its place',
  ],
  [/^(EROFS|SQLITE_READONLY)/, 'stands on a disk that is read-only; name another folder'],
  [
    /^(EACCES|EPERM|SQLITE_(CANTOPEN|PERM|AUTH))/,
    'may not be read and written; give this user leave',
  ],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, 'finds no room on its disk; make some'],
  [/^SQLITE_IOERR/, 'stands on a disk that fails; look at the disk'],
  [/^SQLITE_BUSY/, 'is held by another program; end that, or name another folder'],
  [/^ENOTDIR$/, 'has a file in its path where a folder must be; name another folder'],
  [/^E(NOENT|LOOP|NAMETOOLONG|MFILE|NFILE|BUSY|IO)$/, "can't be opened"],
];

/**
 * Does something with a file of the data folder, or with the folder itself.
 * @throws StartError that names the file and the cure, where the file is to blame.
 */
export async function withFileOf<Result>(
  file: string,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof ForeignFileError) throw new StartError(error.message, { cause: error });
    const code = 'code' in error ? String(error.code) : '';
    const [, cure] = cures.find(([codes]) => codes.test(code)) ?? [];
    if (cure === undefined) throw error;
    throw new StartError(`${file} ${cure} (${code})`, { cause: error });
  }
}
