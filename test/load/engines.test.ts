/** The two engines: both give the same verdicts; autocannon has every member that the gated client needs. */
import { createRequire } from 'node:module';
import t from 'tap';
import { asGateable, AUTOCANNON_VERSION } from '../../load/engines/autocannon-client.ts';
import { createAutocannonTransport } from '../../load/engines/autocannon.ts';
import { classifyFailure } from '../../load/engines/failures.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { withAgent } from '../helpers/agent.ts';
import { runLoad, findTarget, testedVerdicts, withTarget } from '../helpers/load.ts';

const member = (): void => {};
const client = {
  ...{ _doRequest: member, _connect: member, _destroyConnection: member },
  ...{ setRequests: member, on: member },
  parser: { execute: member, finish: member, initialize: member },
  pipelinedRequests: { addBody: member, clear: member },
};

void t.test('autocannon has the pinned version; the error names missing members', (t) => {
  const { version } = createRequire(import.meta.url)('autocannon/package.json') as {
    version: string;
  };
  t.equal(version, AUTOCANNON_VERSION);
  t.ok(asGateable(client));
  for (const name of ['_doRequest', '_connect', '_destroyConnection', 'setRequests', 'on']) {
    t.throws(
      () => asGateable({ ...client, [name]: undefined }),
      new RegExp(`lacks members .*: ${name}\\.`),
    );
  }
  t.throws(() => asGateable({ ...client, parser: {} }), /: execute, finish, initialize\./);
  t.throws(() => asGateable({ ...client, pipelinedRequests: {} }), /: addBody, clear\./);
  t.end();
});

void t.test(
  'autocannon: requests that wait for a free connection are sent later and counted',
  async (t) => {
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
    t.same(statuses, [200, 200, 200, 200, 200], 'every request is sent');
    t.equal(transport.delayed, 3);
    await transport.close();
  },
);

void t.test('both engines give the same verdicts and counts for the same sandbox', async (t) => {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    if (nth % 10 === 3) response.writeHead(503).end('{}');
    else answer();
  });
  const over = { ratePerSecond: 100, windowMs: 3_000 };
  const open = await runLoad(url, { ...over, engine: 'open' });
  const gated = await runLoad(url, { ...over, engine: 'autocannon' });
  t.same(testedVerdicts(gated), testedVerdicts(open));
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

void t.test(
  'TLS: the open engine verifies certificates and accepts a custom CA; autocannon does not verify',
  async (t) => {
    const { agent } = await withAgent(t, { tls: { kind: 'generated' } });
    const ca = agent.caPem ?? '';
    t.match(ca, /BEGIN CERTIFICATE/);
    const over = { ratePerSecond: 30, windowMs: 1_000 };
    const trusted = await runLoad(agent.url, { ...over, ca });
    t.same(trusted.chat?.errors, {});
    const untrusted = await runLoad(agent.url, over);
    t.same(untrusted.chat?.errors, { tls: 30 });
    t.equal(findTarget(untrusted, 'availability').verdict, 'FAIL');
    const unverified = await runLoad(agent.url, { ...over, engine: 'autocannon' });
    t.equal(unverified.chat?.ok, 30, 'the preflight verifies the certificate instead');
  },
);

void t.test(
  'a failure is classified by its error code and by whether the response had begun',
  (t) => {
    const kindOf = (code: string, hasResponse = false): string =>
      classifyFailure(Object.assign(new Error('no'), { code }), hasResponse).kind;
    t.same(
      [
        'ECONNREFUSED',
        'ECONNRESET',
        'ENOTFOUND',
        'EMFILE',
        'EADDRNOTAVAIL',
        'HPE_INVALID_VERSION',
      ].map((code) => kindOf(code)),
      ['refused', 'reset', 'unresolved', 'local', 'local', 'protocol'],
    );
    t.equal(kindOf('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls');
    t.equal(kindOf('UND_ERR_SOCKET', true), 'cut_off', 'after the response began');
    const [message, hint] = ['self-signed certificate', 'try running Node.js with --use-system-ca'];
    for (const suffix of ['', `; if the root CA is installed locally, ${hint}`, `, ${hint}`]) {
      t.equal(
        classifyFailure(new Error(message + suffix), false).message,
        message,
        'without advice about Node options',
      );
    }
    t.end();
  },
);
