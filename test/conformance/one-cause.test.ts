/** A defect that spoils many responses is reported as one cause, with few failures besides. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { check, terminalReport } from '../../conformance/index.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { findViolations, type CheckReport } from '../../src/contract/index.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { withPlainSandbox } from '../helpers/plain-sandbox.ts';

/** The most failed requirements that the cause of a defect may leave. */
const UNRELATED_MAX = 3;

interface Message {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Forwards a request, perhaps to another path. */
type Forward = (path?: string) => Promise<Message>;

/** Changes what a client gets. Each run creates its own, because it may keep state. */
type Defect = () => (
  request: { method: string; path: string; body: string },
  forward: Forward,
) => Promise<Message>;

async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Puts a defective layer in front of a sandbox. */
async function withDefect(t: Test, upstream: string, defect: Defect): Promise<string> {
  const respond = defect();
  return listen(t, (request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { method = '', url = '' } = request;
      const forward: Forward = async (path = url) => {
        const answer = await fetch(`${upstream}${path}`, {
          method,
          headers: forwardedHeaders(request.headers),
          ...(method === 'POST' && { body }),
        });
        const type = answer.headers.get('content-type');
        return {
          ...{ method, path, status: answer.status, body: await answer.text() },
          headers: type === null ? {} : { 'content-type': type },
        };
      };
      const { status, headers, body: text } = await respond({ method, path: url, body }, forward);
      response.writeHead(status, headers).end(text);
    })();
  });
}

const forwardedHeaders = (headers: IncomingHttpHeaders): Record<string, string> => ({
  ...(headers['content-type'] !== undefined && { 'content-type': headers['content-type'] }),
});

const CHAT = '/v1/chat/completions';
const isAccepted = ({ status }: Message): boolean => status < 300;
const isUsers = ({ path }: { path: string }): boolean => path.startsWith('/users');

/** Changes every response, or those that `when` selects. */
const change =
  (edit: (message: Message) => Partial<Message>, when: (message: Message) => boolean): Defect =>
  () =>
  async (_request, forward) => {
    const message = await forward();
    return when(message) ? { ...message, ...edit(message) } : message;
  };

/** Edits the JSON body of responses. */
const changeBody = (
  edit: (body: unknown) => unknown,
  when: (message: Message) => boolean = isAccepted,
): Defect => change(({ body }) => ({ body: JSON.stringify(edit(JSON.parse(body))) }), when);

/** Edits the text of responses. */
const changeText = (
  edit: (body: string) => string,
  when: (message: Message) => boolean = isAccepted,
): Defect => change(({ body }) => ({ body: edit(body) }), when);

const HTML_HEADERS = { 'content-type': 'text/html', server: 'nginx', 'retry-after': '0' };

const html = (status: number, title: string): Message => ({
  ...{ method: '', path: '', status, headers: HTML_HEADERS },
  body: `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`,
});

/** Responds with this page instead, for every nth request that `isLimited` selects. */
const limit =
  (page: Message, nth: number, isLimited: (request: { path: string }) => boolean): Defect =>
  () => {
    let count = 0;
    return (request, forward) =>
      isLimited(request) && ++count % nth === 0 ? Promise.resolve(page) : forward();
  };

/** Sends the first response to a method and path again, whatever the body of the request. */
const cachePosts = (headers: Record<string, string>): Defect => {
  return () => {
    const cache = new Map<string, Promise<Message>>();
    return async ({ method, path }, forward) => {
      if (method !== 'POST') return forward();
      const key = `${method} ${path}`;
      const isHit = cache.has(key);
      const stored = cache.get(key) ?? forward();
      cache.set(key, stored);
      const message = await stored;
      return { ...message, headers: { ...message.headers, ...(isHit && headers) } };
    };
  };
};

const redirect =
  (when: (request: { path: string }) => boolean, to: (path: string) => string): Defect =>
  () =>
  (request, forward) =>
    when(request)
      ? Promise.resolve({
          ...{ ...request, status: 307, headers: { location: to(request.path) }, body: '' },
        })
      : forward();

interface Case {
  title: string;
  defect: Defect;
  /** What the cause says. */
  says: RegExp;
  upstream?: 'plain';
}

const wrap =
  (key: string) =>
  (body: unknown): unknown => ({ success: true, [key]: body });

const toPath = ({ path }: { path: string }): boolean => path === CHAT;

const cases: readonly Case[] = [
  {
    title: 'errors with status 200',
    defect: change(
      () => ({ status: 200 }),
      (message) => message.status >= 400,
    ),
    says: /^POST \/v1\/chat\/completions, POST \/users, and DELETE \/users\/\{user_id\}: errors are sent with status 200 \(\d+ responses, e\.g\. exchange \d+ "[^"]+"\)\. Send each error with its own status/,
  },
  {
    title: 'errors as a text with status 200, from a sandbox without ids',
    upstream: 'plain',
    defect: change(
      () => ({ status: 200, body: '{"success":false,"error":"Invalid request."}' }),
      (message) => message.status >= 400,
    ),
    says: /: errors are sent with status 200 /,
  },
  {
    title: 'a proxy that caches by path',
    defect: cachePosts({ age: '3' }),
    says: /: different requests get the same response, as from a cache \(\d+ responses, e\.g\. .*, age: 3\)\. Turn off caches /,
  },
  {
    title: 'a proxy that caches without saying so',
    defect: cachePosts({}),
    says: /: different requests get the same response, as from a cache /,
  },
  {
    title: 'a proxy that limits requests with its own 429 page',
    defect: limit(html(429, '429 Too Many Requests'), 5, () => true),
    says: /^.*: requests are limited: 429 with "429 Too Many Requests" from nginx \(\d+ responses, e\.g\. .*\)\. Raise the limit of the proxy/,
  },
  {
    title: 'a gateway that limits requests with its own 429 JSON',
    defect: limit(
      {
        ...html(429, ''),
        headers: { 'content-type': 'application/json', 'retry-after': '0' },
        body: '{"message":"API rate limit exceeded"}',
      },
      4,
      isUsers,
    ),
    says: /^POST \/users.*: requests are limited: 429 with "\{\\"message\\":\\"API rate limit exceeded\\"\}"/,
  },
  {
    title: 'a proxy that limits requests with a 503 page',
    defect: limit(html(503, '503 Service Temporarily Unavailable'), 7, toPath),
    says: /^POST \/v1\/chat\/completions: requests are limited: 503 with "503 Service Temporarily Unavailable" from nginx /,
  },
  {
    title: 'a body wrapped in data',
    defect: changeBody(wrap('data')),
    says: /^All routes: the body is wrapped in "data" \(\d+ responses, e\.g\. .*\)\. Send its fields at the top level$/,
  },
  {
    title: 'a user wrapped in user',
    upstream: 'plain',
    defect: changeBody(
      (body) => ({ user: body }),
      (message) => isAccepted(message) && isUsers(message),
    ),
    says: /^POST \/users and DELETE \/users\/\{user_id\}: the body is wrapped in "user" /,
  },
  {
    title: 'errors wrapped in detail',
    defect: changeBody(
      (body) => ({ detail: body }),
      (message) => message.status >= 400,
    ),
    says: /: the body is wrapped in "detail" /,
  },
  {
    title: 'a reply as JSON text in body',
    defect: changeBody(
      (body) => ({ statusCode: 200, body: JSON.stringify(body) }),
      (message) => isAccepted(message) && toPath(message),
    ),
    says: /^POST \/v1\/chat\/completions: the body is JSON text in "body" /,
  },
  {
    title: 'a reply in an array',
    defect: changeBody(
      (body) => [body],
      (message) => isAccepted(message) && toPath(message),
    ),
    says: /^POST \/v1\/chat\/completions: the body is in an array /,
  },
  {
    title: 'a redirect of /users to a path with a slash',
    defect: redirect(
      ({ path }) => path === '/users',
      (path) => `${path}/`,
    ),
    says: /^POST \/users: requests are redirected with 307 to \/users\/ \(\d+ responses, e\.g\. .*\), and redirects are not followed\. Serve the path without a slash at its end$/,
  },
  {
    title: 'a redirect of /health',
    defect: redirect(
      ({ path }) => path === '/health',
      () => '/healthz',
    ),
    says: /^GET \/health: requests are redirected with 307 to \/healthz /,
  },
  {
    title: 'a chat route without /v1',
    defect: () => (request, forward) =>
      toPath(request)
        ? Promise.resolve({ ...request, status: 404, headers: {}, body: 'Not found' })
        : forward(request.path === '/chat/completions' ? CHAT : request.path),
    says: /^POST \/v1\/chat\/completions: the path is unknown \(404\), but POST \/chat\/completions responds with 200 \(exchange \d+\)\. Add the prefix \/v1 to the route$/,
  },
  {
    title: 'NaN in replies',
    defect: changeText(
      (body) => body.replace(/\}$/, ',"metadata":{"agent_confidence":NaN}}'),
      (message) => isAccepted(message) && toPath(message),
    ),
    upstream: 'plain',
    says: /^POST \/v1\/chat\/completions: the body is not JSON: NaN at byte offset 90 \(\d+ responses, e\.g\. .*\)\. JSON has only finite numbers: omit the field, or send a number$/,
  },
  {
    title: 'a byte order mark before the body of users',
    defect: changeText(
      (body) => `\uFEFF${body}`,
      (message) => isAccepted(message) && isUsers(message),
    ),
    says: /^POST \/users.*: the body is not JSON: a byte order mark \(BOM\) at byte offset 0 .*\. Send UTF-8 without a byte order mark$/,
  },
  {
    title: 'replies that are encoded twice',
    defect: changeText(
      (body) => JSON.stringify(body),
      (message) => isAccepted(message) && toPath(message),
    ),
    says: /^POST \/v1\/chat\/completions: the body is not JSON: .* it was encoded twice/,
  },
  {
    title: 'text after the health report',
    defect: changeText(
      (body) => `${body}\n<!-- 3 ms -->`,
      ({ path }) => path === '/health',
    ),
    says: /^GET \/health: the body is not JSON: text after the JSON object at byte offset \d+: "<!-- 3 ms -->"/,
  },
];

async function reportOf(
  t: Test,
  { defect, upstream }: Pick<Case, 'defect' | 'upstream'>,
): Promise<CheckReport> {
  const url = upstream === 'plain' ? await withPlainSandbox(t) : await withAgent(t);
  const target = await withDefect(t, url, defect);
  const { report } = await check({
    ...{ target, kitVersion: 'test', seed: 'one-cause' },
    areas: ['chat', 'health', 'users'],
  });
  t.same(findViolations('CheckReport', report), []);
  return report;
}

async function withAgent(t: Test): Promise<string> {
  const agent = await startAgent({ voice: null });
  t.teardown(() => agent.stop());
  return agent.url;
}

const idsWith = ({ requirements }: CheckReport, verdict: string): string[] =>
  requirements.flatMap((row) => (row.verdict === verdict ? [row.id] : []));

void t.test('few other requirements fail because of errors with status 200', async (t) => {
  const [one] = cases;
  if (!one) return;
  const report = await reportOf(t, one);
  const other = idsWith(report, 'fail').filter((id) => !/-06\d$/.test(id));
  t.same(other, [], 'only refusals');
});

void t.test('a sandbox that always sends the same reply is not called a cache', async (t) => {
  const target = await listen(t, (request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (request.url === '/health') {
      response.end('{"status":"healthy","timestamp":"2026-11-20T09:30:00Z"}');
    } else if (request.url === CHAT) {
      const choices = [{ message: { role: 'assistant', content: 'Yes.' } }];
      response.end(JSON.stringify({ chat_id: 'chat-1', choices }));
    } else response.writeHead(404).end();
  });
  const { report } = await check({ target, kitVersion: 'test', seed: 'constant', areas: ['chat'] });
  t.match(report.causes, [
    { description: /^POST \/v1\/chat\/completions: validate the body first/ },
  ]);
  t.equal(report.causes.length, 1);
});

void t.test('no response is JSON: the one cause says why', async (t) => {
  const faults: [Defect, RegExp, string][] = [
    [
      changeText((body) => `\uFEFF${body}`),
      /^No response is a JSON object: "\{.*" has a byte order mark \(BOM\) at byte offset 0\.$/,
      'Send UTF-8 without a byte order mark.',
    ],
    [
      changeText((body) => body.replace(/\}$/, ',"load":NaN}')),
      /^No response is a JSON object: ".*" has NaN at byte offset \d+\.$/,
      'JSON has only finite numbers: omit the field, or send a number.',
    ],
  ];
  for (const [defect, message, cure] of faults) {
    const { blockedBy, exitCode } = await reportOf(t, { defect });
    t.match({ blockedBy, exitCode }, { blockedBy: { id: 'not_json', message, cure }, exitCode: 3 });
  }
});

void t.test('a URL that ends in /v1 is recognized', async (t) => {
  const { report } = await check({
    ...{ target: `${await withAgent(t)}/v1`, kitVersion: 'test', seed: 'v1' },
    areas: ['chat', 'health', 'users'],
  });
  t.match(report.blockedBy, {
    id: 'no_interface',
    cure: /^Remove \/v1 from the end of the URL\. Check the path/,
  });
});

void t.test(
  'a sandbox with only a chat route without /v1 gets that as its one cause',
  async (t) => {
    const agent = await withAgent(t);
    const target = await withDefect(
      t,
      agent,
      () => (request, forward) =>
        request.path === '/chat/completions'
          ? forward(CHAT)
          : Promise.resolve({ ...request, status: 404, headers: {}, body: 'Not found' }),
    );
    const { report } = await check({ target, kitVersion: 'test', seed: 'only-chat' });
    t.match(report.blockedBy, {
      id: 'no_interface',
      cure: /^POST \/chat\/completions responds with 200: add the prefix \/v1 to this route\. /,
    });
  },
);

for (const one of cases) {
  void t.test(`one cause: ${one.title}`, async (t) => {
    const report = await reportOf(t, one);
    const failed = idsWith(report, 'fail');
    t.ok(failed.length > 0, 'something fails');
    const [cause] = report.causes;
    t.match(cause?.description, one.says);
    t.equal(
      report.causes.length,
      1,
      report.causes.map(({ description }) => description).join('\n'),
    );
    const unrelated = failed.filter((id) => !cause?.clears.includes(id));
    t.ok(unrelated.length <= UNRELATED_MAX, `unrelated: ${unrelated.join()}`);
    t.comment(
      `${failed.length} failed, ${idsWith(report, 'blocked').length} blocked, ${report.causes.length} causes, ${unrelated.length} unrelated`,
    );
    if (process.env['SHOW']) {
      t.comment(terminalReport(report, { style: plainStyle, width: 80 }));
    }
  });
}
