/** The order in which a request limiter starts requests. */
import t from 'tap';
import {
  createRequestLimiter,
  type RequestLimiter,
} from '../../../conformance/engine/drive/request-limiter.ts';
import { systemClock } from '../../../src/platform/clock.ts';

/** Requests that end when the test says so. */
class Requests {
  readonly started: string[] = [];
  readonly limiter: RequestLimiter = createRequestLimiter({ clock: systemClock, concurrency: 3 });
  private readonly ends = new Map<string, () => void>();

  private readonly run = (name: string) => (): Promise<void> => {
    this.started.push(name);
    return new Promise((resolve) => this.ends.set(name, resolve));
  };

  send(...names: string[]): void {
    for (const name of names) void this.limiter.pass(this.run(name));
  }

  sendTogether(...names: string[]): void {
    for (const name of names) void this.limiter.pass(this.run(name), 'together');
  }

  sendBurst(...names: string[]): void {
    for (const name of names) void this.limiter.pass(this.run(name), 'burst');
  }

  sendAlone(name: string): void {
    void this.limiter.passAlone(this.run(name));
  }

  /** Ends requests and returns which requests have started. */
  async end(...names: string[]): Promise<string[]> {
    for (const name of names) this.ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
    return this.started;
  }
}

void t.test('a request that goes alone waits for the others, and the others for it', async (t) => {
  const requests = new Requests();
  requests.send('a', 'b', 'c', 'd');
  requests.sendAlone('alone');
  t.same(await requests.end(), ['a', 'b', 'c'], 'at most three at a time');
  t.same(await requests.end('a', 'b'), ['a', 'b', 'c'], 'nothing overtakes it');
  t.same(await requests.end('c'), ['a', 'b', 'c', 'alone']);
  t.same(await requests.end('alone'), ['a', 'b', 'c', 'alone', 'd']);
});

void t.test('one by one, only requests that go together are concurrent', async (t) => {
  const requests = new Requests();
  requests.limiter.goOneByOne();
  requests.send('a', 'b');
  requests.sendTogether('x', 'y', 'z');
  requests.send('c');
  t.same(await requests.end(), ['a']);
  t.same(await requests.end('a'), ['a', 'b']);
  t.same(await requests.end('b'), ['a', 'b', 'x', 'y', 'z']);
  t.same(await requests.end('x', 'y'), ['a', 'b', 'x', 'y', 'z']);
  t.same(await requests.end('z'), ['a', 'b', 'x', 'y', 'z', 'c']);
});

void t.test('more requests of a burst are in flight than of others', async (t) => {
  const requests = new Requests();
  const burst = Array.from({ length: 40 }, (_, index) => `burst ${index}`);
  requests.send('a');
  requests.sendBurst(...burst);
  requests.send('b');
  t.same(await requests.end(), ['a', ...burst.slice(0, 31)], '32 at a time');
  t.same(await requests.end('a'), ['a', ...burst.slice(0, 32)]);
  t.same(await requests.end(...burst.slice(0, 8)), ['a', ...burst], 'the others are too many');
  t.same(await requests.end(...burst.slice(8)), ['a', ...burst, 'b']);
});

void t.test('one by one, the requests of a burst go alone', async (t) => {
  const requests = new Requests();
  requests.limiter.goOneByOne();
  requests.sendBurst('a', 'b');
  t.same(await requests.end(), ['a']);
  t.same(await requests.end('a'), ['a', 'b']);
});

void t.test('while requests are held, none starts', async (t) => {
  const requests = new Requests();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  requests.limiter.holdUntil(promise);
  requests.send('a');
  requests.sendAlone('alone');
  t.same(await requests.end(), []);
  resolve(undefined);
  t.same(await requests.end(), ['alone'], 'the repetition is first in line');
  t.same(await requests.end('alone'), ['alone', 'a']);
});
