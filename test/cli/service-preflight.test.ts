/** The way to a service: `doctor` and `check`, mutants of it, and what is none. */
import t from 'tap';
import { serviceDeadPeers } from '../../conformance/proof/dead-peers.ts';
import { startService } from '../../src/service/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { run, start } from '../helpers/command.ts';

t.setTimeout(180_000);

const SERVICE = ['--area', 'service'];

void t.test('doctor --area service: clear, or one red line with its cure', async (t) => {
  const service = await startService();
  t.teardown(() => service.stop());
  const env = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
  const well = await run(['doctor', service.url, ...SERVICE], { env });
  t.equal(well.code, 0, well.stdout + well.stderr);
  t.match(well.stdout, /^The way to the service\n {2}GET \/api\/[^]*A service can be reached here/);
  t.match(well.stdout, /\n {2}sandbox-kit check http:\S+ --area service\n$/);
  t.notMatch(well.stdout, /sandbox can/);
  const seen = await fetch(`${service.url}/__admin/keys`);
  t.notMatch(await seen.text(), /check-/, 'it sets nothing up');

  for (const [key, says] of [
    ['not-the-key', /The service refuses the key with 401\.\nSet SANDBOX_KIT_SERVICE_API_KEY/],
    ['', /The service requires a key, but none is set \(401\)\.\nSet SANDBOX_KIT_SERVICE_API_KEY/],
  ] as const) {
    const locked = await run(['doctor', service.url, ...SERVICE], {
      env: { SANDBOX_KIT_SERVICE_API_KEY: key },
    });
    t.equal(locked.code, 3, locked.stdout);
    t.match(locked.stdout, says);
    t.notMatch(locked.stdout, /sandbox refuses|sandbox wants/);
  }
  const named = ['doctor', service.url, ...SERVICE, '--api-key-header', 'X-Other'];
  const other = await run(named, { env });
  t.equal(other.code, 3, 'the key went elsewhere');
});

// These take a scaled clock to be seen in time: the self-test has them.
const ENDLESS = /always-429$/;

void t.test('what is no service: one cause, its cure, and exit 3', { jobs: 3 }, (t) => {
  const told = serviceDeadPeers.filter(({ id }) => !ENDLESS.test(id));
  for (const { id, cause, start: startPeer } of told) {
    void t.test(id, { buffered: true }, async (t) => {
      const peer = await startPeer(systemClock);
      t.teardown(() => peer.stop());
      // Only who never answers is given up soon: a busy machine may be slow to see the rest.
      const patience = cause === 'timeout' ? ['--timeout-ms', '400'] : [];
      const args = [peer.url, ...SERVICE, ...patience, '--json', '-'];
      const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key' };
      for (const verb of ['doctor', 'check']) {
        const { code, stdout, stderr } = await run([verb, ...args], { env });
        t.equal(code, 3, `${verb}: ${stderr}`);
        const said = JSON.parse(stdout) as { gate?: { id: string; says: string; cure: string } };
        t.equal(said.gate?.id, cause, verb);
        t.ok(stderr.replaceAll(/\s+/g, ' ').includes(said.gate?.says ?? '?'), 'people are told');
        t.notMatch(`${said.gate?.says} ${said.gate?.cure}`, /sandbox(?!-kit)/, 'of a service');
      }
    });
  }
  t.end();
});

void t.test('serve --mutant: a check finds what it breaks, and nothing else', async (t) => {
  const mutant = await start(t, ['serve', '--mutant', 'service/traces-202', '--json']);
  const { url, apiKey } = JSON.parse(mutant.firstLine) as { url: string; apiKey: string };
  const env = { SANDBOX_KIT_SERVICE_API_KEY: apiKey };
  const checked = await run(['check', url, ...SERVICE, '--no-intrusive'], { env });
  t.equal(checked.code, 1, checked.stdout);
  t.match(checked.stdout, /FAIL {2}SERVICE-005\n/);
  t.match(checked.stdout, /\nNOT CONFORMING {2}\d+ pass, 1 fail, /);
  t.equal(await mutant.end('SIGTERM'), 0);

  const shown = await start(t, ['serve', '--mutant', 'service/traces-202']);
  t.match(shown.firstLine, /^The mutant listens at http:/);
  t.equal(await shown.end('SIGINT'), 0);
});

void t.test('serve --mutant: what can not be asked for', async (t) => {
  for (const [args, says] of [
    [['serve', '--mutant', 'service/traces-20'], /Did you mean service\/traces-20\d\?/],
    [
      ['serve', '--mutant', 'chat/content-null'],
      /of a service\. Use sandbox-kit agent --mutant chat\/content-null/,
    ],
    [
      ['agent', '--mutant', 'service/traces-202'],
      /of a sandbox\. Use sandbox-kit serve --mutant service\/traces-202/,
    ],
    [['serve', '--mutant', 'service/traces-202', '--port', '9'], /Remove --host and --port/],
    [
      ['doctor', 'http://127.0.0.1:1', '--area', 'service,chat'],
      /--area can't combine service with other areas/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(args);
    t.equal(code, 2, stderr);
    t.equal(stdout, '');
    t.match(stderr, says);
  }
});
