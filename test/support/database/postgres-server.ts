import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import {
  createEnvironment,
  findPostgresPrograms,
  type Account,
  type PostgresPrograms,
} from './postgres-programs.ts';
import type { KeyPair } from '../../../src/http-kit/self-signed.ts';
import { until } from '../until.ts';

/** How a server differs from others. */
export interface ServerOptions {
  /** Settings of PostgreSQL, such as `max_connections`. */
  settings?: Readonly<Record<string, string>>;
  /** The certificate, if the server accepts TLS. */
  tls?: KeyPair;
  /** Whether to keep the data on a disk where the memory has room for it, as measurements need. */
  isOnDisk?: boolean;
}

/** A PostgreSQL server in a temporary directory. It ends with this process, however that ends. */
export interface ServerProcess {
  /** Returns the URL of a database for the superuser. */
  superuserUrl: (database?: string) => string;
  /** The process id of the server. */
  pid: () => number;
  /** The temporary directory, which is removed when this process ends. */
  directory: string;
  /** Starts the server again after `stop` or `kill`, at the same port. */
  start: () => Promise<void>;
  /** Closes all connections, and stops the server. */
  stop: () => Promise<void>;
  /** Kills the server with SIGKILL. */
  kill: () => Promise<void>;
  /** Stops the server, and removes its directory. */
  remove: () => Promise<void>;
}

const SUPERUSER = 'postgres';

/**
 * Runs a server (`$@`) with its directory (`$0`). A process in the background waits for a line from
 * file descriptor 3. If that ends without a line, the test process has ended: it then stops the server,
 * and removes the directory.
 */
const WATCHED_SERVER = `
( (
  exec >/dev/null 2>&1
  read -r line <&3 && exit
  kill -QUIT $$
  for nth in $(seq 100); do kill -0 $$ || break; sleep 0.05; done
  rm -rf "$0"
) & )
exec "$@" 3<&-
`;

/** Why a server may fail to start the first time. */
const PASSING_REASON = /Address already in use|still in use|lock file .* already exists/;

const run = promisify(execFile);

/** Starts a server on a free port. */
export async function startServerProcess(options: ServerOptions): Promise<ServerProcess> {
  const programs = findPostgresPrograms();
  const { account } = programs;
  const root = options.isOnDisk ? tmpdir() : findRoot();
  const directory = mkdtempSync(join(root, 'sandbox-kit-postgres-'));
  if (account) chownSync(directory, account.uid, account.gid);
  try {
    return await startIn(directory, programs, options);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** A file system in memory, where commits are as durable for these tests, and several times as fast. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/** Returns the directory for temporary directories. */
function findRoot(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MEMORY_BYTES_MIN ? tmpdir() : MEMORY;
}

async function startIn(
  directory: string,
  programs: PostgresPrograms,
  { settings = {}, tls }: ServerOptions,
): Promise<ServerProcess> {
  const { account } = programs;
  const env = createEnvironment(programs, join(directory, 'lib'));
  const runProgram: RunProgram = (file, ...args) =>
    run(file, args, { ...account, cwd: directory, env });
  const template = await prepareTemplate(programs, directory, runProgram);
  await runProgram('cp', '-R', `${template}/.`, directory);
  if (tls) {
    writePrivateFile(join(directory, 'tls.crt'), tls.cert, account);
    writePrivateFile(join(directory, 'tls.key'), tls.key, account);
  }
  const data = join(directory, 'data');
  const log = join(directory, 'log');
  const password = readFileSync(join(directory, 'password'), 'utf8');
  let port = await findFreePort();
  const superuserUrl = (database = 'postgres'): string =>
    `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  const options = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // After a crash, PostgreSQL syncs every file; with this setting, in one call.
    ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
    ...(tls && { ssl: 'on', ssl_cert_file: '../tls.crt', ssl_key_file: '../tls.key' }),
    ...settings,
  };

  const launch = (): ChildProcess => {
    const output = openSync(log, 'w');
    const set = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(
      '/bin/sh',
      ['-c', WATCHED_SERVER, directory, programs.postgres, '-D', data, '-p', String(port), ...set],
      // Not in the process group of the terminal, whose Ctrl+C would also reach the server.
      {
        ...account,
        cwd: directory,
        env,
        detached: true,
        stdio: ['ignore', output, output, 'pipe'],
      },
    );
    closeSync(output);
    child.on('exit', () => pipeTo(child).end('ended\n'));
    return child;
  };
  let child: ChildProcess | undefined;
  const launchUntilReady = async (isPortKept: boolean): Promise<void> => {
    await until('PostgreSQL starts', async () => {
      const launched = launch();
      child = launched;
      await until('PostgreSQL accepts connections', async () => {
        return hasEnded(launched) || (await acceptsConnections(superuserUrl()));
      });
      if (!hasEnded(launched)) return true;
      const reason = readFileSync(log, 'utf8');
      if (!PASSING_REASON.test(reason)) throw new Error(`PostgreSQL did not start: ${reason}`);
      if (!isPortKept) port = await findFreePort();
      return false;
    });
    // Neither the server nor the pipe to it keeps this process running.
    child?.unref();
    if (child) pipeTo(child).unref();
  };
  await launchUntilReady(false);

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || hasEnded(child)) return;
    child.ref();
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    superuserUrl,
    pid: () => child?.pid ?? 0,
    directory,
    start: () => launchUntilReady(true),
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    async remove() {
      await end('SIGQUIT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the pipe to the background process. Unlike standard input, Node leaves it open on exit. */
const pipeTo = (child: ChildProcess): Socket => child.stdio[3] as Socket;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function acceptsConnections(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Templates are made again after a day, because systems remove old temporary files one by one. */
const TEMPLATE_AGE_MS_MAX = 86_400_000;

/** Runs a program of PostgreSQL in a directory. */
type RunProgram = (file: string, ...args: string[]) => Promise<{ stdout: string }>;

/**
 * Returns the directory with a new database cluster, which servers copy. The first process of a day
 * makes it, because that takes a second.
 */
async function prepareTemplate(
  { postgres, initdb, account }: PostgresPrograms,
  directory: string,
  runProgram: RunProgram,
): Promise<string> {
  const { stdout } = await runProgram(postgres, '--version');
  const version = /\d[\w.]*/.exec(stdout)?.[0] ?? 'unknown';
  const uid = account?.uid ?? process.getuid?.() ?? 0;
  const stem = join(directory, '..', `sandbox-kit-postgres-template-${uid}-${version}`);
  const template = `${stem}-${isoTime(systemClock.nowMs()).slice(0, 10)}`;
  if (!existsSync(template)) {
    for (const old of globSync(`${stem}-*`).filter(isOld)) {
      rmSync(old, { recursive: true, force: true });
    }
    const made = join(directory, 'made');
    mkdirSync(made, { mode: 0o700 });
    writePrivateFile(join(made, 'password'), randomBytes(12).toString('hex'), account);
    if (account) chownSync(made, account.uid, account.gid);
    await runProgram(
      initdb,
      ...['--pgdata', join(made, 'data'), '--no-sync', '--encoding', 'UTF8', '--locale', 'C'],
      ...['--username', SUPERUSER, '--pwfile', join(made, 'password'), '--auth', 'scram-sha-256'],
    );
    try {
      renameSync(made, template);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(template)) throw error;
      rmSync(made, { recursive: true });
    }
  }
  // In a shared directory, another user could have put other files there.
  if (process.getuid && statSync(template).uid !== uid) {
    throw new Error(`${template} belongs to another user. Remove it.`);
  }
  return template;
}

function isOld(path: string): boolean {
  const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return modifiedAtMs < systemClock.nowMs() - TEMPLATE_AGE_MS_MAX;
}

function writePrivateFile(path: string, text: string, account: Account | undefined): void {
  writeFileSync(path, text, { mode: 0o600 });
  if (account) chownSync(path, account.uid, account.gid);
}

/** The ports that no system gives to clients, or to servers that ask for any port. */
const PORTS = { first: 20_000, count: 12_000 };

/**
 * Returns a port that is free now, because PostgreSQL can't choose one itself. Other programs get it
 * only by its number, so that it remains free while the server restarts.
 */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}
