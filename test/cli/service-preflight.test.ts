/** Reaching a service: `doctor` and `check` against services, mutants, and dead peers. */
import t from 'tap';
import { serviceDeadPeers } from '../../conformance/proof/dead-peers.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { assertUsageError, run, runInBackground, unwrap } from '../support/commands/command.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

const SERVICE = ['--area', 'service'];

void t.test(
  'doctor --area service reports a reachable service, or one cause with its fix',
  async (t) => {
    const service = await withStartedService(t);
    const env = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
    const reachable = await run(['doctor', service.url, ...SERVICE], { env });
    t.equal(reachable.code, 0, reachable.stdout + reachable.stderr);
    t.match(
      reachable.stdout,
      /^Connection to the service\n {2}GET \/api\/[^]*\nThe service is reachable\. To check it, run:/,
    );
    t.match(reachable.stdout, /\n {2}(?:npx )?sandbox-kit check http:\S+ --area service\n$/);
    t.notMatch(reachable.stdout, /[Tt]he sandbox/);
    t.match(reachable.stdout, /\/end *404 +\d+ ms\n {4}a conversation that does not exist\n/);
    const keys = await fetch(`${service.url}/__admin/keys`);
    t.notMatch(await keys.text(), /check-/, 'it creates nothing');

    for (const [key, message] of [
      [
        'not-the-key',
        /The service refuses the key with 401:\s"[^"]*: the key is unknown\."\nCompare the key in SANDBOX_KIT_SERVICE_API_KEY/,
      ],
      [
        '',
        /The service requires a key, but none is set \(401:\s"[^"]*: the header is missing\."\)\.\nSet SANDBOX_KIT_SERVICE_API_KEY/,
      ],
    ] as const) {
      const locked = await run(['doctor', service.url, ...SERVICE], {
        env: { SANDBOX_KIT_SERVICE_API_KEY: key },
      });
      t.equal(locked.code, 3, locked.stdout);
      t.match(locked.stdout, message);
      t.notMatch(locked.stdout, /sandbox (rejects|refuses|requires|wants)/);
    }
    const keyless = await run(['check', service.url, ...SERVICE]);
    t.equal(keyless.code, 3, keyless.stderr);
    t.match(
      unwrap(keyless.stdout),
      /Requests are sent without an API key\. Set it in SANDBOX_KIT_SERVICE_API_KEY, or pass/,
    );
    const args = ['doctor', service.url, ...SERVICE, '--api-key-header', 'X-Other'];
    const other = await run(args, { env });
    t.equal(other.code, 3, 'the key was sent in another header');
  },
);

void t.test(
  'an agent at the address of the service is named, with the command that checks it',
  async (t) => {
    const { agent } = await withReferenceAgent(t, { voice: null });
    for (const command of ['check', 'doctor']) {
      const { code, stdout } = await run([command, agent.url, ...SERVICE]);
      t.equal(code, 3, stdout);
      const text = stdout.replaceAll(/\s+/g, ' ');
      t.match(text, /The server at \S+ is an agent, not an evaluation service: it responds to/);
      t.match(
        text,
        /To check the agent itself, run (npx )?sandbox-kit check URL without --area service\./,
      );
      t.notMatch(text, /No service found|Check the path/);
    }
  },
);

// These need a scaled clock or wait 10 s for TLS, so the self-test alone covers them.
const SLOW = /(always-429|tls-silent)$/;

void t.test('a dead peer gives one cause with its fix, and exit code 3', { jobs: 3 }, (t) => {
  const peers = serviceDeadPeers.filter(({ id }) => !SLOW.test(id));
  for (const { id, cause, start: startPeer } of peers) {
    void t.test(id, { buffered: true }, async (t) => {
      const peer = await startPeer(systemClock);
      t.teardown(() => peer.stop());
      // A short timeout only for the peer that never responds: a busy machine may be slow.
      const timeout = cause === 'timeout' ? ['--timeout-ms', '400'] : [];
      const args = [peer.url, ...SERVICE, ...timeout, '--json', '-'];
      const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key' };
      for (const command of ['doctor', 'check']) {
        const { code, stdout, stderr } = await run([command, ...args], { env });
        t.equal(code, 3, `${command}: ${stderr}`);
        const { blockedBy } = JSON.parse(stdout) as {
          blockedBy?: { id: string; message: string; cure: string };
        };
        t.equal(blockedBy?.id, cause, command);
        t.ok(
          stderr.replaceAll(/\s+/g, ' ').includes(blockedBy?.message ?? '?'),
          'the text names it',
        );
        t.notMatch(`${blockedBy?.message} ${blockedBy?.cure}`, /sandbox(?!-kit)/, 'no sandbox');
      }
    });
  }
  t.end();
});

void t.test('serve --mutant: a check finds the broken requirement, and no other', async (t) => {
  const mutant = await runInBackground(t, ['serve', '--mutant', 'service/traces-202', '--json']);
  const { url, apiKey } = JSON.parse(mutant.firstLine) as { url: string; apiKey: string };
  const env = { SANDBOX_KIT_SERVICE_API_KEY: apiKey };
  const checked = await run(['check', url, ...SERVICE, '--no-intrusive'], { env });
  t.equal(checked.code, 1, checked.stdout);
  t.match(checked.stdout, /FAIL {2}SERVICE-005\n/);
  t.match(checked.stdout, /\nNOT CONFORMING {2}\d+ pass, 1 fail, /);
  const { port } = new URL(url);
  assertUsageError(
    t,
    await run(['serve', '--mutant', 'service/traces-202', '--port', port]),
    /Port \d+ on 127\.0\.0\.1 is in use\. Choose another --port/,
  );
  t.equal(await mutant.end('SIGTERM'), 0);

  const plain = await runInBackground(t, ['serve', '--mutant', 'service/traces-202']);
  t.match(plain.firstLine, /^The mutant listens at http:/);
  t.equal(await plain.end('SIGINT'), 0);
});

void t.test('serve --mutant refuses unknown mutants and other areas', async (t) => {
  for (const [args, message] of [
    [['serve', '--mutant', 'service/traces-20'], /Did you mean service\/traces-20\d\?/],
    [
      ['serve', '--mutant', 'chat/content-null'],
      /of a service\. Use sandbox-kit agent --mutant chat\/content-null/,
    ],
    [
      ['agent', '--mutant', 'service/traces-202'],
      /of a sandbox\. Use sandbox-kit serve --mutant service\/traces-202/,
    ],
    [
      ['serve', '--mutant', 'service/traces-202', '--host', '::1'],
      /--mutant and --host ::1 can't be combined/,
    ],
    [
      ['doctor', 'http://127.0.0.1:1', '--area', 'service,chat'],
      /--area can't combine service with other areas/,
    ],
  ] as const) {
    assertUsageError(t, await run(args), message);
  }
});
