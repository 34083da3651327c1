import { jsonResponse } from '../engine/mutants/combinators.ts';
import { answering, http, peer, type Dead } from './dead-peer.ts';
import type { ProxyResponse } from '../engine/mutants/mutant.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';

const always = (name: string, is: string, gate: BlockingCause['id'], answer: ProxyResponse): Dead =>
  peer(
    name,
    is,
    gate,
    answering(() => Promise.resolve(answer)),
  );

const text = (
  status: number,
  body: string,
  headers: Record<string, string> = {},
): ProxyResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});

const CHUNK = ' '.repeat(65_536);
/** Larger than any client reads of headers. */
const HEADER_LENGTH = 60_000;

/** What speaks HTTP, and nothing of the interface: the same answer to whatever is asked. */
export const deadAnswers: readonly Dead[] = [
  always('empty-204', 'Answers everything with 204.', 'empty', {
    status: 204,
    headers: {},
    body: '',
  }),
  always(
    'text-ok',
    'Answers everything with the word OK.',
    'not_json',
    text(200, 'OK', { 'content-type': 'text/plain' }),
  ),
  always('json-null', 'Answers everything with null.', 'not_json', text(200, 'null')),
  always(
    'json-cut',
    'Answers everything with half of a JSON object.',
    'not_json',
    text(200, '{"a": ['),
  ),
  always(
    'gzip-that-is-none',
    'Says gzip of every body, and sends none.',
    'wrongly_encoded',
    text(200, '{}', { 'content-encoding': 'gzip' }),
  ),
  always(
    'huge-headers',
    'Has headers of 60 kB.',
    'too_large',
    text(200, '{}', { 'x-cookie': 'a'.repeat(HEADER_LENGTH) }),
  ),
  peer('endless', 'Sends a body without an end.', 'too_large', () =>
    http((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(CHUNK));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    }),
  ),
  always('basic-login', 'Asks for a name and a password on an HTML page.', 'login_page', {
    status: 401,
    headers: { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="any"' },
    body: '<html><h1>401 Authorization Required</h1></html>',
  }),
];

/** The same, dead to a check of the service: of a sandbox, what it says of its health is judged. */
export const deadServiceAnswers: readonly Dead[] = [
  ...[500, 502, 503].map((status) =>
    always(
      `always-${status}`,
      `Answers everything with ${status}.`,
      'server_error',
      jsonResponse(status, { message: 'No.' }),
    ),
  ),
  ...[400, 410].map((status) =>
    always(
      `always-${status}`,
      `Refuses everything with ${status}.`,
      'all_refused',
      jsonResponse(status, { message: 'No.' }),
    ),
  ),
];
