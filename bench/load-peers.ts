/** Other load generators, all of them closed loops, for comparison with our own. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEndedChildrenCpuMicros } from './cpu-time.ts';

/** What to send, and for how long. */
export interface PeerOptions {
  url: string;
  body: string;
  seconds: number;
  connections: number;
}

/** The result of a load generator, or the reason that it was skipped. */
export type PeerResult = { perSecond: number; cpuMicrosPerRequest: number } | { skipped: string };

interface Peer {
  args: (options: PeerOptions, files: { body: string; script: string }) => string[];
  /** Finds the responses per second in its output. */
  rate: RegExp;
}

/** The load generators by command. */
export const peers: Record<string, Peer> = {
  wrk: {
    args: ({ url, seconds, connections }, { script }) => [
      ...['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url],
    ],
    rate: /Requests\/sec:\s*([\d.]+)/,
  },
  hey: {
    args: ({ url, seconds, connections, body }) => [
      ...['-z', `${seconds}s`, '-c', String(connections), '-m', 'POST'],
      ...['-T', 'application/json', '-d', body, url],
    ],
    rate: /Requests\/sec:\s*([\d.]+)/,
  },
  ab: {
    args: ({ url, seconds, connections }, { body }) => [
      ...['-q', '-k', '-c', String(connections), '-t', String(seconds), '-n', '10000000'],
      ...['-T', 'application/json', '-p', body, url],
    ],
    rate: /Requests per second:\s*([\d.]+)/,
  },
};

/** Runs a load generator. */
export async function runPeer(name: string, options: PeerOptions): Promise<PeerResult> {
  const peer = peers[name];
  if (!peer) throw new Error(`Unknown load generator ${name}.`);
  const directory = await mkdtemp(join(tmpdir(), 'load-peers-'));
  const files = { body: join(directory, 'body.json'), script: join(directory, 'post.lua') };
  const { body, seconds } = options;
  await writeFile(files.body, body);
  await writeFile(
    files.script,
    `wrk.method = 'POST'\nwrk.headers['content-type'] = 'application/json'\nwrk.body = [[${body}]]\n`,
  );
  const before = readEndedChildrenCpuMicros();
  try {
    const { stdout } = await promisify(execFile)(name, peer.args(options, files));
    const perSecond = Number(peer.rate.exec(stdout)?.[1]);
    const cpuMicros = readEndedChildrenCpuMicros() - before;
    return { perSecond, cpuMicrosPerRequest: cpuMicros / (perSecond * seconds) };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { skipped: isMissing ? 'not installed' : (error as Error).message };
  } finally {
    await rm(directory, { recursive: true });
  }
}
