/** Starts a foreign sandbox as a separate program, the way its author would run it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The key that sandboxes with authentication require. */
export const API_KEY = 'sk-field-0123456789';

const RESTARTS_MAX = 200;

interface SandboxOptions {
  file: string;
  defect?: string | undefined;
  oddity?: string | undefined;
  /** Starts it again on the same port when it ends, like a supervisor. */
  restarts?: boolean | undefined;
}

interface RunningSandbox {
  url: string;
  /** How often it ended by itself. */
  exits: () => number;
  stop: () => Promise<void>;
}

/** Starts a sandbox on a free port of loopback and waits for the URL that it prints. */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  let exits = 0;
  let isStopped = false;
  let child = launch(options, '0');
  const url = await readUrl(child);
  const { port } = new URL(url);
  const watch = (): void => {
    child.once('exit', () => {
      if (isStopped) return;
      exits += 1;
      if (!options.restarts || exits > RESTARTS_MAX) return;
      child = launch(options, port);
      watch();
    });
  };
  watch();
  return {
    url,
    exits: () => exits,
    async stop() {
      isStopped = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

function launch({ file, defect = '', oddity = '' }: SandboxOptions, port: string): ChildProcess {
  const program = file.endsWith('.py') ? 'python3' : process.execPath;
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, PORT: port, API_KEY, DEFECT: defect, ODDITY: oddity };
  const path = join(import.meta.dirname, file);
  return spawn(program, [path], { env, stdio: ['ignore', 'pipe', 'ignore'] });
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('The sandbox has no stdout.');
  const lines = createInterface(child.stdout);
  const ended = once(child, 'exit').then(() => {
    throw new Error('The sandbox ended before it printed its URL.');
  });
  const [url] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return url;
}
