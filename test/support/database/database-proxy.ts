import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { withTcpServer } from '../network/tcp-server.ts';

/** What happens to a commit: its connection can be cut before or after the database gets it. */
export type CommitFate = 'passed' | 'cut before' | 'cut after';

/** A TCP proxy in front of PostgreSQL whose faults a test chooses. */
export interface DatabaseProxy {
  port: number;
  /** Delay of all bytes, in each direction. */
  setDelay: (ms: number) => void;
  /** Decides what happens to each commit. */
  setCommitFate: (choose: () => CommitFate) => void;
  /** Returns how many commits were cut. */
  countCuts: () => { before: number; after: number };
}

/** The message that ends a transaction, with the end of its length. */
const COMMIT = Buffer.from('\u000bcommit\0');

/** Starts a proxy on loopback, and stops it after the test. */
export async function withDatabaseProxy(t: Test, port: number): Promise<DatabaseProxy> {
  const cuts = { before: 0, after: 0 };
  let delayMs = 0;
  let chooseFate = (): CommitFate => 'passed';
  /** Passes bytes on in their order, each after the delay that applies when it arrives. */
  const pass = (from: Socket, to: Socket, isPassed: (chunk: Buffer) => boolean): void => {
    let last = Promise.resolve();
    const enqueue = (run: () => void): void => {
      const dueMs = systemClock.monotonicMs() + delayMs;
      last = last.then(async () => {
        const waitMs = dueMs - systemClock.monotonicMs();
        if (waitMs > 0) await systemClock.sleep(waitMs);
        run();
      });
    };
    from.on('data', (chunk: Buffer) => {
      if (isPassed(chunk)) enqueue(() => to.write(chunk));
    });
    from.on('error', () => undefined);
    from.on('close', () => enqueue(() => to.destroy()));
  };
  const ownPort = await withTcpServer(t, (client) => {
    const upstream = connect({ port, host: '127.0.0.1' });
    let isCutAfterResponse = false;
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    pass(client, upstream, (chunk) => {
      const fate = chunk.includes(COMMIT) ? chooseFate() : 'passed';
      if (fate === 'cut before') {
        cuts.before += 1;
        cut();
      }
      isCutAfterResponse ||= fate === 'cut after';
      return fate !== 'cut before';
    });
    pass(upstream, client, () => {
      if (!isCutAfterResponse) return true;
      cuts.after += 1;
      cut();
      return false;
    });
  });
  return {
    port: ownPort,
    setDelay: (ms) => (delayMs = ms),
    setCommitFate: (choose) => (chooseFate = choose),
    countCuts: () => ({ ...cuts }),
  };
}
