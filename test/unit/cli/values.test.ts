/** Values of options: a refused URL is never repeated with its user or its query. */
import t from 'tap';
import { sandboxUrl, webSocketUrl } from '../../../src/options/values.ts';
import { describeUnknownRoute } from '../../../src/http-kit/server.ts';

void t.test('a refused URL is quoted without user, query, and fragment', (t) => {
  for (const [schema, url] of [
    [sandboxUrl, 'https://host.example/base?key=secret'],
    [sandboxUrl, 'https://host.example/base#secret'],
    [sandboxUrl, 'ftp://user:secret@host.example/base?key=secret'],
    [sandboxUrl, 'host.example/base?key=secret'],
    [webSocketUrl, 'wss://host.example/base?token=secret'],
    [webSocketUrl, 'wss://user:secret@host.example/base'],
    [webSocketUrl, 'wss:/user:secret@host.example/base'],
    [webSocketUrl, 'wss:\\\\user:secret@host.example/base'],
    [webSocketUrl, 'wss://user:se/secret@host.example/base'],
    [sandboxUrl, 'user:secret@host.example/base'],
    [sandboxUrl, 'user:123/secret@host.example/base'],
  ] as const) {
    const message = schema.safeParse(url).error?.issues[0]?.message ?? '';
    t.notMatch(message, 'secret', url);
    t.match(message, 'host.example/base', url);
  }
  t.equal(
    describeUnknownRoute({ method: 'GET', url: '/nothing?key=secret' }),
    'Route GET /nothing does not exist.',
  );
  t.end();
});
