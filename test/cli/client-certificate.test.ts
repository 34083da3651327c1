/** `--cert` and `--key`: sandboxes that demand a client certificate (mutual TLS). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport, LoadReport, SimulationReport } from '../../src/contract/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { encryptKey, generateKeyPair } from '../support/network/certificates.ts';
import { withTcpServer } from '../support/network/tcp-server.ts';
import {
  closesCalls,
  respondToAll,
  respondWith,
  withoutUsers,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const PASSPHRASE = 'pass-Phrase-0123';
const NOWHERE = 'https://127.0.0.1:1';

const client = await generateKeyPair('client');
const stranger = await generateKeyPair('stranger');
const expired = await generateKeyPair('expired', {
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2020-02-01'),
});
const future = await generateKeyPair('future', {
  notBefore: new Date('2124-01-01'),
  notAfter: new Date('2125-01-01'),
});

/** Writes files into a new directory. Returns a function that returns their paths. */
function createFiles(t: Test, files: Record<string, string>): (name: string) => string {
  const directory = t.testdir({});
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return (name) => join(directory, name);
}

/** Starts a sandbox that demands a certificate of the client. Returns the options that trust it. */
async function withMutualTls(t: Test, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3') {
  const server = await generateKeyPair('localhost');
  const sandbox = await withSandboxDouble(t, withoutUsers, {
    tls: {
      ...server,
      ca: [client.cert],
      requestCert: true,
      rejectUnauthorized: true,
      maxVersion,
    },
    ...closesCalls,
  });
  const path = createFiles(t, {
    ca: server.cert,
    cert: client.cert,
    key: client.key,
    encrypted: encryptKey(client.key, PASSPHRASE),
    passphrase: `${PASSPHRASE}\n`,
    'other-cert': stranger.cert,
    'other-key': stranger.key,
  });
  const access = ['--ca', path('ca'), '--cert', path('cert'), '--key', path('key')];
  return { sandbox, path, access };
}

void t.test('check, load, simulate, and doctor use the certificate', async (t) => {
  const { sandbox, path, access } = await withMutualTls(t);
  const checked = await run([
    'check',
    sandbox.url,
    ...access,
    '--area',
    'health,voice',
    '--json=-',
  ]);
  const report = JSON.parse(checked.stdout) as CheckReport;
  t.equal(report.blockedBy, undefined, checked.stderr);
  t.ok(report.requirements.some(({ area, verdict }) => area === 'health' && verdict === 'pass'));
  t.ok(
    sandbox.requests.some(({ route }) => route === 'call'),
    'for the WebSocket, too',
  );

  const loading = ['load', sandbox.url, '--profile', 'chat', '--duration', '1s', '--json=-'];
  for (const engine of ['open', 'autocannon']) {
    const size = engine === 'open' ? ['--rate', '10'] : ['--connections', '1'];
    const loaded = await run([...loading, ...access, '--engine', engine, ...size]);
    const { chat, warmUp } = JSON.parse(loaded.stdout) as LoadReport;
    t.ok(chat && chat.ok > 0 && chat.ok === chat.offered, `${engine}: ${loaded.stderr}`);
    t.equal(warmUp?.errors ?? 0, 0, engine);
  }

  const key = ['--key', path('encrypted'), '--key-passphrase-file', path('passphrase')];
  const trust = ['--ca', path('ca'), '--cert', path('cert')];
  const simulating = ['simulate', sandbox.url, '--scenario', 'follow-up', '--json=-'];
  const simulated = await run([...simulating, ...trust, ...key]);
  const { sessions } = JSON.parse(simulated.stdout) as SimulationReport;
  t.equal(sessions[0]?.status, 'completed', simulated.stderr);

  const doctor = await run(['doctor', sandbox.url, ...trust, '--key', path('encrypted')], {
    env: { SANDBOX_KIT_KEY_PASSPHRASE: PASSPHRASE },
  });
  t.equal(doctor.code, 0, doctor.stdout);
  t.match(doctor.stdout, /sandbox-kit check .* --cert .* --key /);
  t.notMatch(doctor.stdout + doctor.stderr, PASSPHRASE);
});

void t.test(
  'the report names the cause if a sandbox demands or refuses a certificate',
  async (t) => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { sandbox, path } = await withMutualTls(t, version);
      const trust = ['--ca', path('ca')];
      const other = ['--cert', path('other-cert'), '--key', path('other-key')];
      for (const command of ['check', 'load', 'simulate', 'doctor']) {
        const without = await run([command, sandbox.url, ...trust]);
        t.equal(without.code, 3, without.stdout);
        const text = without.stdout.replaceAll(/\s+/g, ' ');
        if (version === 'TLSv1.3') {
          t.match(
            text,
            /The sandbox demands a client certificate\. Pass the certificate with --cert FILE and its private key with --key FILE\./,
            command,
          );
        } else
          t.match(
            text,
            /alert handshake failure.* If the server demands a client certificate, pass/,
            command,
          );
        // Node's servers close the connection without an alert.
        const wrong = await run([command, sandbox.url, ...trust, ...other]);
        t.equal(wrong.code, 3, wrong.stdout);
        t.match(
          wrong.stdout.replaceAll(/\s+/g, ' '),
          /Every connection was closed .* It may refuse the client certificate\./,
          `${version} ${command}`,
        );
      }
      t.same(sandbox.requests, []);
    }
  },
);

/** Starts a server that answers the handshake with a fatal TLS alert. Returns its URL. */
async function startAlertingServer(t: Test, alert: number): Promise<string> {
  const port = await withTcpServer(t, (socket) => {
    socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])));
  });
  return `https://127.0.0.1:${port}`;
}

void t.test('the report explains alerts and error pages about the certificate', async (t) => {
  const path = createFiles(t, { cert: client.cert, key: client.key });
  const given = ['--cert', path('cert'), '--key', path('key')];
  const alerts: [name: string, alert: number][] = [
    ['bad certificate', 42],
    ['certificate expired', 45],
    ['unknown ca', 48],
  ];
  for (const [name, alert] of alerts) {
    const ran = await run(['check', await startAlertingServer(t, alert), ...given]);
    t.equal(ran.code, 3, name);
    const refused = new RegExp(`The sandbox refuses the client certificate \\(.*${name}.*\\)`);
    t.match(ran.stdout.replaceAll(/\s+/g, ' '), refused, name);
  }
  const demanding = await run(['check', await startAlertingServer(t, 116)]);
  t.match(demanding.stdout, /The sandbox demands a client certificate\./);
  // nginx completes the handshake, and responds to every request in the same way.
  const page = '<html><center>No required SSL certificate was sent</center></html>';
  const refusal = respondWith(400, page, { 'content-type': 'text/html' });
  const nginx = await withSandboxDouble(t, respondToAll(refusal));
  const without = await run(['check', nginx.url, '--area', 'chat']);
  t.equal(without.code, 3);
  t.match(without.stdout, /The sandbox demands a client certificate\./);
});

void t.test('invalid files are refused before the first request', async (t) => {
  const path = createFiles(t, {
    cert: client.cert,
    key: client.key,
    'other-key': stranger.key,
    encrypted: encryptKey(client.key, PASSPHRASE),
    wrong: 'wrong-phrase',
    text: 'hello',
    'expired-cert': expired.cert,
    'expired-key': expired.key,
    'future-cert': future.cert,
    'future-key': future.key,
  });
  const rows: [options: Record<string, string>, message: RegExp][] = [
    [{ cert: 'cert' }, /--cert and --key must be used together\./],
    [{ key: 'key' }, /--cert and --key must be used together\./],
    [{ 'key-passphrase-file': 'wrong' }, /--key-passphrase-file needs --cert and --key\./],
    [{ cert: 'nope', key: 'key' }, /Can't read .*nope \(--cert\): no such file/],
    [{ cert: 'text', key: 'key' }, /text \(--cert\) contains no PEM certificate\./],
    [{ cert: 'cert', key: 'text' }, /text \(--key\) contains no PEM private key\./],
    [{ cert: 'cert', key: 'cert' }, /cert \(--key\) contains no PEM private key\./],
    [
      { cert: 'cert', key: 'other-key' },
      /The key in .*other-key \(--key\) does not belong to the certificate in .*cert \(--cert\)\./,
    ],
    [
      { cert: 'cert', key: 'encrypted' },
      /The key in .*encrypted \(--key\) is encrypted\. Pass its passphrase with --key-passphrase-file FILE or SANDBOX_KIT_KEY_PASSPHRASE\./,
    ],
    [
      { cert: 'cert', key: 'encrypted', 'key-passphrase-file': 'wrong' },
      /The passphrase does not decrypt the key in .*encrypted \(--key\)\./,
    ],
    [{ cert: 'expired-cert', key: 'expired-key' }, /\(--cert\) expired on 2020-02-01\./],
    [{ cert: 'future-cert', key: 'future-key' }, /\(--cert\) is not valid before 2124-01-01\./],
  ];
  for (const [options, message] of rows) {
    const args = Object.entries(options).flatMap(([name, file]) => [`--${name}`, path(file)]);
    const ran = await run(['check', NOWHERE, '--area', 'health', ...args]);
    assertUsageError(t, ran, message);
    t.notMatch(ran.stderr, /wrong-phrase/);
  }
});
