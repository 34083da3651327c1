/** The transport of the engine `open`: TLS, and the kinds of failures. The closed loop has its own file. */
import t from 'tap';
import { classifyFailure } from '../../load/engines/failures.ts';
import { runLoad, findTarget } from '../support/measurements/run-load.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test(
  'TLS: the open engine verifies certificates and accepts a custom CA; autocannon does not verify',
  async (t) => {
    const { agent } = await withReferenceAgent(t, { tls: { kind: 'generated' } });
    const ca = agent.caPem ?? '';
    t.match(ca, /BEGIN CERTIFICATE/);
    const over = { ratePerSecond: 30, windowMs: 1_000 };
    const trusted = await runLoad(agent.url, { ...over, ca });
    t.same(trusted.chat?.errors, {});
    t.same(trusted.notes, []);
    t.match(trusted.machine?.engineVersion, /^undici \d/);
    const untrusted = await runLoad(agent.url, over);
    t.same(untrusted.chat?.errors, { tls: 30 });
    t.equal(findTarget(untrusted, 'availability').verdict, 'FAIL');
    const unverified = await runLoad(agent.url, { ...over, engine: 'autocannon', connections: 1 });
    t.same(unverified.chat?.errors, {}, 'the preflight verifies the certificate instead');
    t.ok((unverified.chat?.ok ?? 0) > 0);
    t.match(unverified.notes.join(), /does not verify TLS certificates/);
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
