import { createServer as createTlsServer } from 'node:https';
import { createServer as createSocketServer } from 'node:net';
import { createAcceptedResponse, errorResponse, jsonResponse } from '../engine/mutants/combinators.ts';
import { deadAnswers, deadServiceAnswers } from './dead-answers.ts';
import { answering, http, listen, peer, socket, type Dead, type DeadPeer } from './dead-peer.ts';
import { EVERYTHING } from './judged-peer.ts';
import { startProxy } from './proxy.ts';

export type { DeadPeer } from './dead-peer.ts';

const LOGIN = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><form action="/login"><input type="password"></form>',
};

/** What nobody can talk to. */
export const unreachable: readonly Dead[] = [
  peer('nothing-listens', 'Nothing listens.', 'refused', async () => {
    const listening = await http(() => {});
    await listening.stop();
    return { url: listening.url, stop: () => Promise.resolve() };
  }),
  peer('tls-not-trusted', 'Has a certificate that nobody trusts.', 'tls', async () => {
    // Loaded here, since only this peer needs it.
    const { generate } = await import('selfsigned');
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    return listen(
      createTlsServer({ cert, key }, (_request, response) => response.end('{}')),
      'https',
    );
  }),
  peer(
    'tls-silent',
    'Accepts connections, and says nothing where TLS is asked for.',
    'timeout',
    () => listen(createSocketServer(), 'https'),
    // The wait for TLS is not by this clock; here it is beside others that wait.
    1,
  ),
  peer('plain-http', 'Speaks plain HTTP where TLS is asked for.', 'plain_http', () =>
    http((_request, response) => response.end('{}'), 'https'),
  ),
  peer('resets', 'Drops every connection at once.', 'reset', () => socket((one) => one.destroy())),
  peer('resets-mid-body', 'Drops every connection in the middle of the body.', 'reset', () =>
    http((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices": [', () => response.destroy());
    }),
  ),
  peer('not-http', 'Speaks another protocol.', 'protocol', () =>
    socket((one) => one.write('SSH-2.0-OpenSSH_9.6\r\n')),
  ),
  peer('never-answers', 'Takes requests and answers none.', 'timeout', () => http(() => {}), 100),
  peer(
    'slow-drip',
    'Sends a byte a second.',
    'timeout',
    (clock) =>
      http((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        void drip();
        async function drip(): Promise<void> {
          while (!response.destroyed) {
            response.write(' ');
            await clock.sleep(1_000);
          }
        }
      }),
    100,
  ),
];

const redirects: Dead[] = [301, 302, 307, 308].map((status) =>
  peer(
    `redirects-${status}`,
    `Redirects everything with ${status}.`,
    'redirect',
    answering(() =>
      Promise.resolve({ status, headers: { location: 'https://elsewhere.example/' }, body: '' }),
    ),
  ),
);

const others: Dead[] = [
  peer(
    'login-page',
    'Shows a page to log in, whatever is asked.',
    'login_page',
    answering(() => Promise.resolve(LOGIN)),
  ),
  peer(
    'html-404',
    'Answers everything with an HTML page for 404.',
    'login_page',
    answering(() =>
      Promise.resolve({
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<html><title>404 Not Found</title></html>',
      }),
    ),
  ),
  peer(
    'empty',
    'Answers everything with an empty 200.',
    'empty',
    answering(() => Promise.resolve({ status: 200, headers: {}, body: '' })),
  ),
  ...redirects,
  ...deadAnswers,
  peer(
    'always-429',
    'Puts every request off.',
    'rate_limited',
    answering(() => Promise.resolve(errorResponse(429, 'rate_limit_exceeded'))),
    50,
  ),
  peer(
    'always-429-for-an-hour',
    'Puts every request off for an hour.',
    'rate_limited',
    answering(() => {
      const { status, body } = errorResponse(429, 'rate_limit_exceeded');
      return Promise.resolve({ status, headers: { 'retry-after': '3600' }, body });
    }),
  ),
];

/** Conforms as far as it gets: when it has taken so many requests, it is gone. */
const dies = (name: string, is: string, requests: number): Dead =>
  peer(name, is, 'gone', async (clock) => {
    let left = requests;
    const listening = await startProxy({
      upstream: 'http://127.0.0.1:9',
      clock,
      transform: (asked) => {
        if (left-- > 0) return Promise.resolve(createAcceptedResponse(asked, clock));
        void listening.stop();
        return Promise.resolve('dropped');
      },
    });
    return listening;
  });

const dying: Dead[] = [
  dies('gone-in-the-preflight', 'Dies after its first answers.', 2),
  dies('gone-in-the-run', 'Dies in the middle of the run.', 40),
];

/** What is dead to a check of a sandbox alone. */
const noSandbox: Dead[] = [
  peer(
    'login-page-for-health',
    'Shows a page to log in when asked for health.',
    'login_page',
    answering((asked, _forward, clock) =>
      Promise.resolve(asked.endpoint === 'health' ? LOGIN : createAcceptedResponse(asked, clock)),
    ),
  ),
  ...[401, 403].map((status) =>
    peer(
      `key-refused-${status}`,
      `Is healthy, and refuses every key with ${status}.`,
      'key_refused',
      answering((asked, _forward, clock) =>
        Promise.resolve(
          asked.endpoint === 'health' ? createAcceptedResponse(asked, clock) : errorResponse(status, 'bad_request'),
        ),
      ),
    ),
  ),
  peer(
    'nothing-here-but-errors',
    'Knows no path, and says so as a sandbox does.',
    'nothing_here',
    answering(() => Promise.resolve(errorResponse(404, 'bad_request'))),
  ),
];

/** What is dead to a check of the service alone. */
const noService: Dead[] = [
  ...deadServiceAnswers,
  ...[401, 403].map((status) =>
    peer(
      `key-refused-${status}`,
      `Refuses every key with ${status}.`,
      'key_refused',
      answering(() => Promise.resolve(jsonResponse(status, { message: 'No.' }))),
    ),
  ),
  peer(
    'nothing-here',
    'Knows no path.',
    'nothing_here',
    answering(() => Promise.resolve(jsonResponse(404, { message: 'Not Found' }))),
  ),
];

/** Every dead peer of a check of a sandbox. */
export const deadPeers: readonly DeadPeer[] = [
  ...unreachable,
  ...others,
  ...noSandbox,
  ...dying,
].map(({ name, ...dead }) => ({ id: `dead/${name}`, areas: EVERYTHING, ...dead }));

/** Every dead peer of a check of the service. */
export const serviceDeadPeers: readonly DeadPeer[] = [...unreachable, ...others, ...noService].map(
  ({ name, ...dead }) => ({ id: `dead/service-${name}`, areas: ['service'], ...dead }),
);
