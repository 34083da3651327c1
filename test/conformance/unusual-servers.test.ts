/** Checks of unusual servers: unknown paths, encodings, large bodies, rate limits, interruptions. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { check, diagnose, type CheckSettings } from '../../conformance/index.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import {
  healthy,
  onlyHealth,
  reply,
  respondToAll,
  respondWith,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

/** Every path is unknown. */
const nothing = respondToAll((response) => void response.writeHead(404).end());

async function report(target: string, more: Partial<CheckSettings> = {}): Promise<CheckReport> {
  return (await check({ target, kitVersion: '0', seed: 'edges', ...more })).report;
}

void t.test('a server that returns 404 for every path gets one cause and no finding', async (t) => {
  const { url } = await withSandboxDouble(t, nothing);
  const selections = [
    ['chat', 'health', 'users', 'voice'],
    ['chat'],
    ['health'],
    ['users'],
    ['voice'],
  ] as const;
  for (const areas of selections) {
    const { blockedBy, exitCode, counts } = await report(url, { areas });
    t.match(
      { blockedBy, exitCode },
      { blockedBy: { id: 'no_interface' }, exitCode: 3 },
      areas.join(),
    );
    t.equal(counts['fail'], 0);
  }
  const { blockedBy } = await diagnose({ target: url, kitVersion: '0', seed: 'edges' });
  t.equal(blockedBy?.id, 'no_interface', 'the preflight finds the same cause');
});

void t.test('a check of health alone reports that only /health is missing', async (t) => {
  const chat: [status: number, body: object][] = [
    [400, { error: { message: 'No messages.', type: 'bad_request' } }],
    [401, { error: { message: 'A key is needed.', type: 'authentication' } }],
  ];
  for (const [status, body] of chat) {
    const unknown = respondToAll(respondWith(404, { detail: 'Not Found' }));
    const { url } = await withSandboxDouble(t, { ...unknown, chat: respondWith(status, body) });
    const checked = await report(url, { areas: ['health'] });
    t.match(checked, { exitCode: 1, blockedBy: undefined }, `${status}`);
    t.same(idsWith(checked, 'fail'), ['HEALTH-001'], `${status}`);
  }
});

void t.test('a sandbox with only the chat endpoint is checked', async (t) => {
  const { url } = await withSandboxDouble(t, { ...nothing, chat: reply('Yes.') });
  t.equal((await report(url)).blockedBy, undefined);
});

void t.test('a sandbox without users conforms even if only users are checked', async (t) => {
  const { url } = await withSandboxDouble(t, onlyHealth);
  const { verdict, exitCode, counts } = await report(url, { areas: ['users'] });
  t.match({ verdict, exitCode }, { verdict: 'conforming', exitCode: 0 });
  t.ok((counts['pass'] ?? 0) > 0, 'something was graded');
});

void t.test('encoded responses are decoded; a wrong Content-Encoding blocks the run', async (t) => {
  const health = JSON.stringify({ status: 'healthy', timestamp: '2026-11-20T09:30:00Z' });
  const encoded = async (body: Buffer): Promise<CheckReport> => {
    const gzip = { 'content-encoding': 'gzip' };
    const sandbox = respondToAll((response) => void response.writeHead(200, gzip).end(body));
    const { url } = await withSandboxDouble(t, sandbox);
    return report(url, { areas: ['health'] });
  };
  t.equal((await encoded(gzipSync(health))).verdict, 'conforming');
  const wrong = await encoded(Buffer.from(health));
  t.equal(wrong.exitCode, 3);
  t.match(wrong.blockedBy, {
    id: 'wrongly_encoded',
    message: /^No response body is encoded as its Content-Encoding header says/,
  });
});

void t.test('a response that is too large is reported as such, not as invalid JSON', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const large = JSON.stringify({ choices: [], filler: 'x'.repeat(5 * 1024 * 1024) });
  const elsewhere = respondToAll(respondWith(307, '', { location: agent.url }));
  const { url } = await withSandboxDouble(t, { ...elsewhere, chat: respondWith(200, large) });
  const { requirements } = await report(url, { areas: ['chat'] });
  const unanswered = requirements.find(({ id }) => id === 'CHAT-016');
  t.match(unanswered, { verdict: 'fail', received: /larger than 4194304 bytes/ });
});

void t.test('a sandbox that rate-limits every chat request gets one cause', async (t) => {
  const error = { message: 'later', type: 'rate_limit_error', code: 'rate_limit_exceeded' };
  const limited = respondToAll(respondWith(429, { error }, { 'retry-after': '99999999' }));
  const { url } = await withSandboxDouble(t, { ...limited, health: healthy });
  const { blockedBy, exitCode } = await report(url);
  t.match({ blockedBy, exitCode }, { blockedBy: { id: 'rate_limited' }, exitCode: 3 });
});

void t.test('an interrupted run deletes the users that it created and is not judged', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const controller = new AbortController();
  let seen = 0;
  const { report: judged, transcript } = await check({
    target: agent.url,
    kitVersion: '0',
    seed: 'edges',
    signal: controller.signal,
    onExchange: () => {
      if (++seen === 30) controller.abort();
    },
  });
  t.match(judged, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'interrupted' } });
  const created = transcript.exchanges.filter(
    ({ endpoint, response }) => endpoint === 'create' && response?.status === 201,
  );
  const deleted = transcript.exchanges.filter(
    ({ endpoint, response }) => endpoint === 'delete' && response?.status === 200,
  );
  t.ok(created.length > 0 && seen < 100, `${created.length} created, ${seen} exchanges`);
  for (const { json } of created) {
    const { user_id: id } = json as { user_id: string };
    t.ok(
      deleted.some((deletion) => JSON.stringify(deletion).includes(id)),
      'each created user is deleted',
    );
  }
  // The sandbox may have created users although the run did not wait for its responses.
  const cut = transcript.exchanges.filter(
    ({ endpoint, response }) => endpoint === 'create' && response === undefined,
  );
  t.ok(deleted.length <= created.length + cut.length, `${deleted.length} deleted`);
});

void t.test('an infinite number is reported as Infinity, not as null', async (t) => {
  const body = '{"status":"healthy","timestamp":"2026-11-20T09:30:00Z","uptime":1e999}';
  const { url } = await withSandboxDouble(t, { health: respondWith(200, body) });
  const { requirements } = await report(url, { areas: ['health'] });
  t.match(
    requirements.find(({ id }) => id === 'HEALTH-013'),
    { verdict: 'fail', received: 'Infinity' },
  );
});
