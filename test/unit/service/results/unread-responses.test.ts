/** Clients that request long pages and then stop reading. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { manualClock } from '../../../../src/platform/manual-clock.ts';
import { createUnreadResponses } from '../../../../src/service/results/unread-responses.ts';
import { writePage } from '../../../../src/service/results/write-page.ts';

const ITEM_CHARS = 20 * 1_048_576;

void t.test('responses whose clients stopped reading end before memory runs out', async (t) => {
  const clock = manualClock(0);
  const responses = createUnreadResponses(clock);
  const start = async (): Promise<{ stream: Readable; read: () => Promise<void> }> => {
    const items = Readable.from(['1', '2'].map((digit) => digit.repeat(ITEM_CHARS)));
    const page = await writePage({ items, total: 2, skip: 0, limit: 2 }, responses);
    if (!(page instanceof Readable)) throw new Error('The page is not a stream.');
    const read = async (): Promise<void> => {
      while (page.read() === null) await once(page, 'readable');
    };
    return { stream: page, read };
  };
  const stopped = [await start(), await start()];
  for (const { read } of stopped) await read();
  const slow = await start();
  await slow.read();
  clock.advance(4_000);
  await slow.read();

  // 60 MiB are unread, and then 80 MiB: too many until one response has ended.
  await responses.waitForRoom();
  const other = await start();
  await other.read();
  const room = responses.waitForRoom();
  clock.advance(1_000);
  await room;
  const ended = [...stopped, slow].map(({ stream }) => stream.destroyed);
  t.same(ended, [true, false, false], 'the one that was read first');
  const rest = await buffer(other.stream);
  t.match(String(rest.subarray(-50)), /"limit":2\}$/);
  for (const { stream } of [...stopped, slow]) stream.destroy();
  await responses.waitForRoom();
});

void t.test('a short page is a text', async (t) => {
  const responses = createUnreadResponses(manualClock(0));
  const items = Readable.from(['1', '2']);
  const page = await writePage({ items, total: 2, skip: 0, limit: 2 }, responses);
  t.equal(page, '{"items":[1,2],"total":2,"skip":0,"limit":2}');
});
