import { EventEmitter, once } from 'node:events';
import t from 'tap';
import type { WebSocket } from 'ws';
import { createBrowserCalls } from '../../../../src/service/operations/browser-calls.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { createLineLog } from '../../../support/services/log-lines.ts';

/** The browser's side of a call, which emits `closed` when the service closes it. */
class Browser extends EventEmitter {
  readonly bufferedAmount = 0;

  close(code: number, reason: string): void {
    this.emit('closed', `${code} ${reason}`);
  }
}

void t.test('an error that is not the fault of the agent is logged', async (t) => {
  const { log, lines } = createLineLog();
  const documents = {
    find: () => Promise.resolve({ id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' }),
    // No header can contain it, and no route accepts it.
    findApiKey: () => Promise.resolve('a\nb'),
  } as unknown as Store['documents'];
  const { signal } = new AbortController();
  const calls = createBrowserCalls({ store: { documents }, log, stopping: signal });
  const browser = new Browser();
  const closed = once(browser, 'closed');
  const over = calls.relay({
    ownerId: 'owner',
    agentId: 'shop',
    accept: () => {
      setImmediate(() => browser.emit('message', Buffer.from('{"type":"end_call"}')));
      return Promise.resolve(browser as unknown as WebSocket);
    },
  });
  t.same(await closed, ['4000 The service could not place the call. See the log of this service.']);
  await over;
  t.match(lines.join(), /"event":"browser_call_failed","error":"TypeError","at":"at /);
});
