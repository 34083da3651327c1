/** What the preflight of a load test decides: whether it starts, and whether it sends user requests. */
import t, { type Test } from 'tap';
import { load } from '../../library/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import {
  hangUp,
  refusal,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
} from '../support/sandboxes/sandbox-double.ts';

/** Runs a short load test against a sandbox with this behavior of `POST /users`. */
async function runWith(
  t: Test,
  create: RouteBehavior,
  profile: 'chat' | 'mixed' = 'mixed',
): Promise<LoadReport> {
  const { url } = await withSandboxDouble(t, { create });
  return load({ url, profile, rate: 20, durationMs: 1_000, warmUpMs: 0 });
}

void t.test('a sandbox without /users gets no user requests, and the report says so', async (t) => {
  for (const status of [400, 403, 404, 405, 501]) {
    const report = await runWith(t, refusal(status, 'not_found'));
    t.same(report.streams, ['chat', 'health'], String(status));
    t.match(report.notes.join('\n'), /^The sandbox refused POST \/users, which is optional/m);
  }
});

void t.test('user requests are sent although another run created the same user', async (t) => {
  const report = await runWith(t, refusal(409, 'user_exists'));
  t.same(report.streams, ['chat', 'health', 'users']);
  t.match(report.users?.errors, { client_error: Number });
  t.notMatch(report.notes.join('\n'), /POST \/users/);
});

void t.test('if POST /users fails, the run does not start without it', async (t) => {
  const failures: [create: RouteBehavior, message: RegExp][] = [
    [refusal(500, 'server_error'), /^POST \/users responded with HTTP 500, so the load test was/],
    [refusal(429, 'rate_limit_exceeded'), /^POST \/users responded with HTTP 429, so the load/],
    [hangUp, /^POST \/users got no response \(/],
  ];
  for (const [create, message] of failures) {
    const report = await runWith(t, create);
    t.match(report, { verdict: 'INVALID RUN', exitCode: 3, blockedBy: { message }, streams: [] });
    t.match(report.blockedBy?.cure, /^Run a check to see .*, or choose a profile without/);
  }
  const chat = await runWith(t, refusal(500, 'server_error'), 'chat');
  t.same(chat.streams, ['chat'], 'other profiles create no users');
});

void t.test('a load test of the health endpoint does not start if it is unhealthy', async (t) => {
  const body = { status: 'unhealthy', timestamp: '2026-11-20T09:30:00Z' };
  const { url } = await withSandboxDouble(t, { health: respondWith(503, body) });
  const report = await load({ url, profile: 'health', rate: 20, durationMs: 1_000, warmUpMs: 0 });
  const message =
    'GET /health returned 503 with status unhealthy, not 200 with healthy or degraded,';
  t.match(report.blockedBy?.message, message);
});
