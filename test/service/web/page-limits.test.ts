/** What clients that may change nothing can make the pages do. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import t from 'tap';
import type { RunningService } from '../../../src/service/index.ts';
import { withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

/** Sends the headers of a large form without its body, and returns the response. */
async function announceForm(
  { url }: RunningService,
  path: string,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  const announced = request(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': '33000000',
      ...headers,
    },
  });
  announced.flushHeaders();
  const [response] = (await once(announced, 'response')) as [IncomingMessage];
  announced.on('error', () => undefined).destroy();
  return response;
}

void t.test('a form is refused before its body is read', async (t) => {
  const { service: local } = await withService(t);
  const open = await withStartedService(t, {
    host: '0.0.0.0',
    keys: [{ key: 'the-key-of-this-service' }],
  });
  const foreign = await announceForm(local, '/agents', { origin: 'https://evil.example' });
  t.equal(foreign.statusCode, 403, 'a form of another site');
  const unknown = await announceForm(open, '/agents', { origin: open.url });
  t.equal(unknown.statusCode, 401, 'a form without a session');
  const reader = await announceForm(open, '/transcripts', {
    origin: open.url,
    'x-service-api-key': 'the-key-of-this-service',
  });
  t.equal(reader.statusCode, 403, 'a form of a program that may only read');
  const signIn = await announceForm(open, '/sign-in', { origin: open.url });
  t.equal(signIn.statusCode, 413, 'a sign-in of megabytes');
});

void t.test('beyond loopback, the key decides whose pages are shown, not the URL', async (t) => {
  const open = await withStartedService(t, {
    host: '0.0.0.0',
    keys: [{ key: 'the-key-of-this-service' }],
  });
  const headers = { accept: 'text/html', 'x-service-api-key': 'the-key-of-this-service' };
  for (const path of ['/runs?kind=production', '/simulation/sim?sessionId=ses']) {
    const page = await fetch(`${open.url}${path}&owner=somebody`, { headers });
    t.notMatch(await page.text(), 'somebody', path);
  }
});
