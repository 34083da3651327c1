/** What the two engines have in common, and what autocannon must have for its gate. */
import t from 'tap';
import { asGateable, AUTOCANNON_VERSION } from '../../load/engines/autocannon-client.ts';
import { createAutocannonTransport } from '../../load/engines/autocannon.ts';
import { classifyFailure } from '../../load/engines/failures.ts';
import { versionOf } from '../../load/engines/transport.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { withAgent } from '../helpers/agent.ts';
import { loaded, targetIn, verdictsIn, withTarget } from '../helpers/load.ts';

t.setTimeout(60_000);

const member = (): void => {};
const client = {
  ...{ _doRequest: member, _connect: member, _destroyConnection: member },
  ...{ setRequests: member, on: member },
  parser: { execute: member, finish: member, initialize: member },
  pipelinedRequests: { addBody: member, clear: member },
};

void t.test('autocannon is pinned, and a member that is missing is named', (t) => {
  t.equal(versionOf('autocannon'), AUTOCANNON_VERSION);
  t.ok(asGateable(client));
  for (const name of ['_doRequest', '_connect', '_destroyConnection', 'setRequests', 'on']) {
    t.throws(() => asGateable({ ...client, [name]: undefined }), new RegExp(`without ${name}`));
  }
  t.throws(() => asGateable({ ...client, parser: {} }), /without execute, finish, initialize/);
  t.throws(() => asGateable({ ...client, pipelinedRequests: {} }), /without addBody, clear/);
  t.end();
});

void t.test('autocannon: too few connections hold requests back, which is counted', async (t) => {
  const target = await withTarget(t);
  const transport = createAutocannonTransport({
    target: target.url,
    clock: systemClock,
    connections: 2,
  });
  const outgoing = { method: 'GET', path: '/health', headers: {} } as const;
  const deadlineMs = systemClock.monotonicMs() + 10_000;
  const statuses = await Promise.all(
    Array.from(
      { length: 5 },
      () =>
        new Promise((resolve) =>
          transport.send(outgoing, deadlineMs, ({ status }) => resolve(status)),
        ),
    ),
  );
  t.same(statuses, [200, 200, 200, 200, 200], 'they are sent all the same');
  t.equal(transport.held, 3);
  await transport.close();
});

void t.test('both engines say the same words of the same sandbox', async (t) => {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    if (nth % 10 === 3) response.writeHead(503).end('{}');
    else answer();
  });
  const over = { ratePerSecond: 100, windowMs: 3_000 };
  const open = await loaded(url, { ...over, engine: 'open' });
  const gated = await loaded(url, { ...over, engine: 'autocannon' });
  t.same(verdictsIn(gated), verdictsIn(open));
  t.equal(gated.exitCode, open.exitCode);
  for (const key of ['offered', 'sent', 'ok', 'errors'] as const) {
    t.same(gated.chat?.[key], open.chat?.[key], key);
  }
  t.same(open.notes, []);
  t.match(gated.notes.join(), /does not verify TLS certificates/);
  t.match(
    [open.machine?.engineVersion, gated.machine?.engineVersion],
    [/^undici \d/, /^autocannon 9/],
  );
});

void t.test('TLS: open verifies, with a CA of the caller too; autocannon can not', async (t) => {
  const { agent } = await withAgent(t, { tls: { kind: 'made' } });
  const ca = agent.caPem ?? '';
  t.match(ca, /BEGIN CERTIFICATE/);
  const over = { ratePerSecond: 30, windowMs: 1_000 };
  const trusted = await loaded(agent.url, { ...over, ca });
  t.same(trusted.chat?.errors, {});
  const stranger = await loaded(agent.url, over);
  t.same(stranger.chat?.errors, { tls: 30 });
  t.equal(targetIn(stranger, 'availability').verdict, 'FAIL');
  const blind = await loaded(agent.url, { ...over, engine: 'autocannon' });
  t.equal(blind.chat?.ok, 30, 'which is why the preflight looks, and the report says so');
});

void t.test('a failure is named by what it says of whom', (t) => {
  const named = (code: string, answering = false): string =>
    classifyFailure(Object.assign(new Error('no'), { code }), answering).kind;
  t.same(
    [
      'ECONNREFUSED',
      'ECONNRESET',
      'ENOTFOUND',
      'EMFILE',
      'EADDRNOTAVAIL',
      'HPE_INVALID_VERSION',
    ].map((code) => named(code)),
    ['refused', 'reset', 'unresolved', 'local', 'local', 'protocol'],
  );
  t.equal(named('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls');
  t.equal(named('UND_ERR_SOCKET', true), 'cut_off', 'once the answer had begun');
  const [says, hint] = ['self-signed certificate', 'try running Node.js with --use-system-ca'];
  for (const more of ['', `; if the root CA is installed locally, ${hint}`, `, ${hint}`]) {
    t.equal(classifyFailure(new Error(says + more), false).message, says, 'no options of Node');
  }
  t.end();
});
