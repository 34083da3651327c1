/**
 * A sandbox whose process ends at some requests. Run as a program: `crashing-sandbox.ts PORT FAULT`. It
 * prints its port. The tests start it again when it has ended, as a supervisor would.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { COMPILE_CACHE } from '../repository.ts';
import { createPlainServer } from '../sandboxes/plain-sandbox.ts';

/** A fault of the sandbox. */
export type Fault =
  | 'content null'
  | 'emoji'
  | 'emoji anywhere'
  | 'any chat'
  | 'empty messages'
  | 'no name'
  | 'overlap';

/** How long a request of the overlapping fault takes, so that concurrent requests meet. */
const OVERLAP_MS = 30;

let chatsInFlight = 0;

/** The faults. Each ends the process or returns to let the sandbox respond. */
const faults: Record<Fault, (request: IncomingMessage, text: string) => Promise<void>> = {
  /** A message without text ends the process. */
  'content null'(_request, text) {
    if (text.includes('"content":null')) process.exit(1);
    return Promise.resolve();
  },
  /** A message with an emoji kills the process. */
  emoji(_request, text) {
    if (/"content":"[^"]*\p{Emoji_Presentation}/u.test(text)) process.kill(process.pid, 'SIGKILL');
    return Promise.resolve();
  },
  /** An emoji anywhere in a request kills the process. */
  'emoji anywhere'(_request, text) {
    if (/\p{Emoji_Presentation}/u.test(text)) process.kill(process.pid, 'SIGKILL');
    return Promise.resolve();
  },
  /** After the response, a profile without a name ends the process. */
  'no name'(request, text) {
    if (request.url === '/users' && /"profile":\{(?![^}]*"name")/.test(text)) {
      setTimeout(() => process.exit(1), 1);
    }
    return Promise.resolve();
  },
  /** A request whose response the specification leaves open ends the process. */
  'empty messages'(_request, text) {
    if (text.includes('"messages":[]')) process.exit(1);
    return Promise.resolve();
  },
  /** Every chat request ends the process. */
  'any chat'(request) {
    if (request.url === '/v1/chat/completions') process.exit(1);
    return Promise.resolve();
  },
  /** Three concurrent valid chat requests end the process. */
  async overlap(request, text) {
    if (request.url !== '/v1/chat/completions' || !text.includes('"role":"user","content":"'))
      return;
    chatsInFlight++;
    await systemClock.sleep(OVERLAP_MS);
    if (chatsInFlight >= 3) process.exit(1);
    chatsInFlight--;
  },
};

if (import.meta.main) {
  const [port, fault] = process.argv.slice(2);
  const onRequest = faults[fault as Fault];
  const server = createPlainServer((request, text) => onRequest(request, text));
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

/** A sandbox that is started again after each crash, at the same address. */
interface SupervisedSandbox {
  url: string;
  /** How often its process ended so far. */
  crashes: () => number;
  /** Kills its process. */
  kill: () => void;
  /** Starts it again after its last automatic restart. */
  restart: () => void;
}

/** Starts a sandbox with a fault, and starts it again at most `restartsMax` times. */
export async function withCrashingSandbox(
  t: Test,
  fault: Fault,
  restartsMax = 1_000,
): Promise<SupervisedSandbox> {
  let crashes = 0;
  let isStopped = false;
  let child: ChildProcess;
  const start = (port: number): ChildProcess => {
    const args = [import.meta.filename, String(port), fault];
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const started = spawn(process.execPath, args, { env });
    started.on('exit', () => {
      crashes++;
      if (!isStopped && crashes <= restartsMax) child = start(port || boundPort);
    });
    return started;
  };
  let boundPort = 0;
  child = start(0);
  const [line] = (await once(createInterface(child.stdout ?? process.stdin), 'line')) as [string];
  boundPort = Number(line);
  t.teardown(async () => {
    isStopped = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return {
    url: `http://127.0.0.1:${boundPort}`,
    crashes: () => crashes,
    kill: () => child.kill('SIGKILL'),
    restart() {
      child = start(boundPort);
    },
  };
}
