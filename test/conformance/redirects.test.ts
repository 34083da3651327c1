/** A sandbox that redirects requests is not judged; the cause names the route and what to do. */
import t, { type Test } from 'tap';
import { respondInstead, to } from '../../conformance/engine/mutants/combinators.ts';
import { check, diagnose } from '../../conformance/index.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import {
  respondToAll,
  withSandboxDouble,
  type RouteBehavior,
} from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

/** Returns the blocking cause of a sandbox that redirects paths. */
async function findCause(
  t: Test,
  toLocation: (path: string, origin: string) => string | undefined,
  base = '',
): Promise<{ origin: string; text: string }> {
  const redirect: RouteBehavior = (response, { path }) => {
    const location = toLocation(path, origin);
    response.writeHead(308, location === undefined ? {} : { location }).end();
  };
  const { url: origin } = await withSandboxDouble(t, respondToAll(redirect));
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
      const headers = { location: '/health/', 'content-type': 'text/html' };
      const redirect = respondInstead(to('health'), () => ({ status: 308, headers, body }));
      const target = await withDistortion(t, await startTextAgent(t), redirect);
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
  const { url: target } = await withSandboxDouble(
    t,
    respondToAll((response, { path }) => {
      response.writeHead(302, { location: `${path}/`, 'content-type': 'text/html' });
      response.end(pages['a page']);
    }),
  );
  for (const areas of [['chat'], ['users'], ['chat', 'health', 'users']] as const) {
    const { blockedBy } = await diagnose({ target, kitVersion: 'test', seed: 'r', areas });
    t.equal(blockedBy?.id, 'redirect', areas.join());
  }
});

const ROUTE = 'POST /v1/chat/completions redirects with 308';

void t.test('a redirect to the path with a slash names the path without it', async (t) => {
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

void t.test('the cure of any other redirect is to serve the route without it', async (t) => {
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
