/** A sandbox that redirects requests is not judged; the cause names the route and what to do. */
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { check, diagnose } from '../../conformance/index.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { startLocally } from '../support/network/local-server.ts';
import { listen, withDefect } from '../support/sandboxes/defective-layer.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** Returns the blocking cause of a sandbox that redirects paths. */
async function findCause(
  t: Test,
  toLocation: (path: string, origin: string) => string | undefined,
  base = '',
): Promise<{ origin: string; text: string }> {
  const server = createServer(({ url = '' }, response) => {
    const location = toLocation(url, origin);
    response.writeHead(308, location === undefined ? {} : { location }).end();
  });
  const origin = await startLocally(t, server);
  const target = `${origin}${base}`;
  const { blockedBy } = await diagnose({ target, kitVersion: 'test', seed: 'r', areas: ['chat'] });
  t.equal(blockedBy?.id, 'redirect');
  return { origin, text: `${blockedBy?.message} ${blockedBy?.cure}` };
}

const pages = {
  'no body': '',
  'a page': '<!doctype html><title>Redirecting...</title><a href="/login">Log in</a>',
};

for (const [name, body] of Object.entries(pages)) {
  void t.test(
    `/health redirects with ${name}: the same failures, with every selection of areas`,
    async (t) => {
      const { agent } = await withReferenceAgent(t, { voice: null });
      const target = await withDefect(t, agent.url, () => (request, forward) => {
        if (request.path !== '/health') return forward();
        const headers = { location: '/health/', 'content-type': 'text/html' };
        return Promise.resolve({ ...request, status: 308, headers, body });
      });
      const runs = [['health'], ['health', 'users'], ['chat', 'health', 'users']] as const;
      const failures = new Set<string>();
      for (const areas of runs) {
        const { report } = await check({ target, kitVersion: 'test', seed: 'r', areas });
        t.match(report, { blockedBy: undefined, exitCode: 1 }, areas.join());
        t.match(report.causes, [
          { description: /^GET \/health: .* redirected with 308 to \/health\// },
        ]);
        failures.add(idsWith(report, 'fail').join());
      }
      t.equal(failures.size, 1, [...failures].join(' | '));
    },
  );
}

void t.test('a redirect with a page is not called a login page', async (t) => {
  const target = await listen(t, ({ url = '' }, response) => {
    response.writeHead(302, { location: `${url}/`, 'content-type': 'text/html' });
    response.end(pages['a page']);
  });
  for (const areas of [['chat'], ['users'], ['chat', 'health', 'users']] as const) {
    const { blockedBy } = await diagnose({ target, kitVersion: 'test', seed: 'r', areas });
    t.equal(blockedBy?.id, 'redirect', areas.join());
  }
});

const ROUTE = 'POST /v1/chat/completions redirects with 308';

void t.test('a slash at the end of the path', async (t) => {
  const cure = 'Redirects are not followed. Serve the path without a slash at its end.';
  const relative = await findCause(t, (path) => `${path}/`);
  t.equal(relative.text, `${ROUTE} to /v1/chat/completions/. ${cure}`);
  const absolute = await findCause(t, (path, origin) => `${origin}${path}/`, '/agent/');
  t.equal(absolute.text, `${ROUTE} to /agent/v1/chat/completions/. ${cure}`);
});

void t.test('another scheme, host, or prefix: the cause names the base URL to use', async (t) => {
  const serveHere = 'or serve the route here without a redirect.';
  const prefix = await findCause(t, (path) => `/api${path}`);
  t.match(prefix.text, `Use the base URL ${prefix.origin}/api, ${serveHere}`);
  const shorter = await findCause(t, (path) => path.replace('/agent', ''), '/agent');
  t.match(shorter.text, `Use the base URL ${shorter.origin}, ${serveHere}`);
  const scheme = await findCause(t, (path) => `https://agent.example${path}?from=http`);
  t.match(scheme.text, `Use the base URL https://agent.example, ${serveHere}`);
});

void t.test('any other location, or none', async (t) => {
  const serveHere = 'Serve the route without a redirect.';
  const login = await findCause(t, () => 'https://login.example/start');
  t.equal(
    login.text,
    `${ROUTE} to https://login.example/start. Redirects are not followed. ${serveHere}`,
  );
  const same = await findCause(t, (path) => path);
  t.match(same.text, serveHere);
  const none = await findCause(t, () => undefined);
  t.equal(none.text, `${ROUTE}, but the response has no Location header. ${serveHere}`);
});
