/** HTTPS_PROXY, HTTP_PROXY, and NO_PROXY. `sandbox.test` exists only behind the proxy of the test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport, LoadReport, SimulationReport } from '../../src/contract/index.ts';
import { findProxy } from '../../src/platform/proxy.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { generateKeyPair } from '../support/network/certificates.ts';
import { withConnectProxy, type ConnectProxyOptions } from '../support/network/connect-proxy.ts';
import {
  closesCalls,
  withoutUsers,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const HTTP = 'http://sandbox.test';
const HTTPS = 'https://sandbox.test';
const PASSWORD = 'pr0xy-Passw0rd';

/** Starts a sandbox with TLS behind a proxy. Returns the options that trust it. */
async function withTlsSandbox(t: Test, options: Omit<ConnectProxyOptions, 'routes'> = {}) {
  const pair = await generateKeyPair('sandbox.test');
  const sandbox = await withSandboxDouble(t, withoutUsers, { tls: pair, ...closesCalls });
  const proxy = await withConnectProxy(t, {
    ...options,
    routes: { 'sandbox.test:443': sandbox.url },
  });
  const ca = join(t.testdir({}), 'ca.pem');
  writeFileSync(ca, pair.cert);
  return { sandbox, proxy, ca };
}

void t.test('the proxy of a URL depends on its scheme, its host, and NO_PROXY', (t) => {
  const proxies = { https: 'http://secure.proxy:3128', http: 'plain.proxy:8080' };
  const rows: [url: string, noProxy: string, host: string | undefined][] = [
    ['https://a.example.com', '', 'secure.proxy'],
    ['wss://a.example.com/voice', '', 'secure.proxy'],
    ['http://a.example.com', '', 'plain.proxy'],
    ['ws://a.example.com/voice', '', 'plain.proxy'],
    ['http://localhost:8080', '', undefined],
    ['http://agent.localhost', '', undefined],
    ['https://127.0.0.1', '', undefined],
    ['https://127.8.8.8', '', undefined],
    ['http://[::1]:8080', '', undefined],
    ['https://a.example.com', '*', undefined],
    ['https://a.example.com', 'example.com', undefined],
    ['https://example.com', '.example.com', undefined],
    ['https://a.b.example.com', '*.example.com', undefined],
    ['https://notexample.com', 'example.com', 'secure.proxy'],
    ['https://a.example.com', 'b.example.com, A.EXAMPLE.COM', undefined],
    ['https://a.example.com:8443', 'a.example.com:443', 'secure.proxy'],
    ['https://a.example.com:8443', 'a.example.com:8443', undefined],
    ['https://a.example.com', 'a.example.com:443', undefined],
    ['https://10.1.2.3', '10.0.0.0/8', undefined],
    ['https://11.1.2.3', '10.0.0.0/8', 'secure.proxy'],
    ['https://10.1.2.3', '10.1.2.3', undefined],
    ['https://10.1.2.3', '2.3', 'secure.proxy'],
    ['https://[2001:db8::1]', '2001:db8::/32', undefined],
    ['https://a.example.com', 'nonsense/99', 'secure.proxy'],
  ];
  for (const [url, noProxy, host] of rows) {
    t.equal(findProxy(url, { ...proxies, noProxy })?.hostname, host, `${url}, NO_PROXY=${noProxy}`);
  }
  t.equal(findProxy('https://a.example.com', { http: 'http://plain.proxy' }), undefined);
  t.end();
});

void t.test('check goes through the proxy, for TLS and for WebSockets', async (t) => {
  const { sandbox, proxy, ca } = await withTlsSandbox(t, { credentials: `me:${PASSWORD}` });
  const ran = await run(['check', HTTPS, '--ca', ca, '--area', 'health,voice', '--json', '-'], {
    env: { https_proxy: proxy.url, HTTPS_PROXY: 'http://wrong.invalid' },
  });
  const report = JSON.parse(ran.stdout) as CheckReport;
  t.equal(report.blockedBy, undefined, ran.stderr);
  t.ok(report.requirements.some(({ area, verdict }) => area === 'health' && verdict === 'pass'));
  t.ok(
    sandbox.requests.some(({ route }) => route === 'call'),
    'also the WebSocket',
  );
  t.same([...new Set(proxy.targets)], ['sandbox.test:443']);
  t.ok(proxy.targets.length >= sandbox.requests.length, 'no request bypasses the proxy');
  t.match(ran.stderr, `Requests went through the proxy ${proxy.host}.`);
  t.notMatch(ran.stdout + ran.stderr, PASSWORD);
});

void t.test('plain HTTP also goes through a tunnel', async (t) => {
  const sandbox = await withSandboxDouble(t, withoutUsers);
  const proxy = await withConnectProxy(t, { routes: { 'sandbox.test:80': sandbox.url } });
  const ran = await run(['check', HTTP, '--allow-http', '--area', 'health'], {
    env: { HTTP_PROXY: proxy.url.replace('http://', '') },
  });
  t.equal(ran.code, 0, ran.stdout);
  t.ok(
    sandbox.requests.every(({ path }) => path === '/health'),
    'paths are not changed',
  );
});

void t.test('load goes through the proxy, and the report says so', async (t) => {
  const { sandbox, proxy, ca } = await withTlsSandbox(t);
  const env = { HTTPS_PROXY: proxy.url };
  const args = ['load', HTTPS, '--ca', ca, '--profile', 'chat', '--rate', '10', '--duration', '1s'];
  // Long enough for a request on a machine that is busy for seconds.
  const ran = await run([...args, '--warm-up', '4s', '--json', '-'], { env });
  const report = JSON.parse(ran.stdout) as LoadReport;
  t.equal(report.blockedBy, undefined, ran.stderr);
  t.equal(report.chat?.ok, report.chat?.offered);
  t.ok((report.warmUp?.requests ?? 0) > 0, 'the warm-up also uses the proxy');
  t.equal(report.warmUp?.errors, 0);
  const note = `Requests went through the proxy ${proxy.host}, so the figures include its time`;
  t.ok(report.notes.some((each) => each.startsWith(note)));
  t.ok(sandbox.requests.length > 10);
  const closed = ['load', HTTPS, '--ca', ca, '--engine', 'autocannon'];
  const other = await run(closed, { env });
  assertUsageError(
    t,
    other,
    /--engine autocannon can't go through the proxy 127\.0\.0\.1:\d+\. Use --/,
  );
});

void t.test('simulate goes through the proxy', async (t) => {
  const { sandbox, proxy, ca } = await withTlsSandbox(t);
  const args = ['simulate', HTTPS, '--ca', ca, '--scenario', 'follow-up', '--json', '-'];
  const ran = await run(args, { env: { HTTPS_PROXY: proxy.url } });
  const report = JSON.parse(ran.stdout) as SimulationReport;
  t.equal(report.blockedBy, undefined, ran.stderr);
  t.equal(report.sessions[0]?.status, 'completed', ran.stderr);
  t.ok(sandbox.requests.length > 3);
});

void t.test('the report explains failures of the proxy, without its password', async (t) => {
  const refusing = await withConnectProxy(t, { routes: {}, refusal: 403 });
  const asking = await withConnectProxy(t, { routes: {}, credentials: 'me:other' });
  const rows: [proxy: string, cause: RegExp][] = [
    [refusing.url, /the proxy 127\.0\.0\.1:\d+ refuses to connect to sandbox\.test:443 \(403\)/],
    [
      asking.url.replace('other', PASSWORD),
      /the proxy 127\.0\.0\.1:\d+ requires a user name and a password \(407\)/,
    ],
    [`http://me:${PASSWORD}@127.0.0.1:1`, /the proxy 127\.0\.0\.1:1 refuses connections/],
    [
      `http://me:${PASSWORD}@proxy.invalid`,
      /the proxy proxy\.invalid:80 has a host name that does/,
    ],
  ];
  for (const [proxy, cause] of rows) {
    for (const command of ['check', 'load', 'simulate', 'doctor']) {
      const yes = command === 'load' ? ['--yes'] : [];
      const env = { HTTPS_PROXY: proxy };
      const ran = await run([command, HTTPS, '--json', '-', ...yes], { env });
      t.equal(ran.code, 3, `${command}: ${ran.stderr}`);
      const text = ran.stderr.replaceAll(/\s+/g, ' ');
      t.match(text, cause, command);
      t.match(text, /Can't connect: .* Check HTTPS_PROXY and HTTP_PROXY\./);
      t.notMatch(ran.stdout + ran.stderr, PASSWORD);
    }
  }
});

void t.test('loopback and NO_PROXY are reached directly', async (t) => {
  const sandbox = await withSandboxDouble(t, withoutUsers);
  const env = { HTTP_PROXY: 'socks5://127.0.0.1:1', HTTPS_PROXY: 'socks5://127.0.0.1:1' };
  const ran = await run(['check', sandbox.url, '--area', 'health'], { env });
  t.equal(ran.code, 0, ran.stdout);
  const direct = await run(['check', HTTPS, '--area', 'health'], {
    env: { ...env, NO_PROXY: 'localhost,.test' },
  });
  t.match(direct.stdout, /Can't resolve the host name of https:\/\/sandbox\.test\./);
  const invalid = await run(['check', HTTPS, '--area', 'health'], { env });
  assertUsageError(t, invalid, /HTTPS_PROXY must be the URL of an HTTP proxy, such as http:/);
});
