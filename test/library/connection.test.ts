/** Additional headers, client certificates, and proxies of library functions. */
import t from 'tap';
import { rejectExposure } from '../../library/exposure.ts';
import { check, diagnose, load, simulate } from '../../library/index.ts';
import { generateKeyPair } from '../support/network/certificates.ts';
import { withConnectProxy } from '../support/network/connect-proxy.ts';
import { withoutUsers, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';

const SECRET = 'gw-Secret-0123456789';
const headers = { 'X-Gateway-Key': SECRET };

void t.test('a sandbox behind a proxy that demands a certificate', async (t) => {
  const [server, client] = await Promise.all([
    generateKeyPair('sandbox.test'),
    generateKeyPair('client'),
  ]);
  const sandbox = await withSandboxDouble(t, withoutUsers, {
    tls: { ...server, ca: [client.cert], requestCert: true, rejectUnauthorized: true },
  });
  const proxy = await withConnectProxy(t, { routes: { 'sandbox.test:443': sandbox.url } });
  const access = {
    url: 'https://sandbox.test',
    ca: server.cert,
    proxies: { https: proxy.url },
  };
  const report = await check({ ...access, clientCertificate: client, areas: ['health'] });
  t.equal(report.verdict, 'conforming', JSON.stringify(report.blockedBy));
  t.match(report.notices, [`Requests went through the proxy ${proxy.host}.`]);
  const without = await check({ ...access, areas: ['health'] });
  t.equal(without.blockedBy?.id, 'certificate_demanded');
});

void t.test('invalid options are refused without their values', async (t) => {
  const url = 'http://127.0.0.1:1';
  const wrong: [options: object, message: RegExp][] = [
    [{ headers: { 'X-A': 5 } }, /^check: headers\['X-A'\] must be a text of .*, got a number\.$/],
    [
      { headers: { 'content-length': SECRET } },
      /headers\['content-length'\] can't be set, because sandbox-kit sets it\.$/,
    ],
    [{ headers: { a: `${SECRET}\n` } }, /headers\.a must be a text of .*, got a string\.$/],
    [
      { headers: { [`X-Key: ${SECRET}`]: '' } },
      /^check: headers must contain only names of HTTP headers, got one that starts with "X-Key"\.$/,
    ],
    [{ headers: `X-Key: ${SECRET}` }, /headers must be an object of .* values, got a string\.$/],
    [{ headers: new Headers({ a: SECRET }) }, /headers must be an object .*, got a Headers\.$/],
    [{ proxies: { https: `socks5://me:${SECRET}@proxy` } }, /proxies\.https must be the URL of an/],
    [{ clientCertificate: { cert: SECRET } }, /clientCertificate/],
  ];
  for (const [options, message] of wrong) {
    const error = await check({ url, ...options }).catch((reason: unknown) => reason as Error);
    if (!(error instanceof Error)) throw new Error('The options are accepted.');
    t.match(error.message, message);
    t.notMatch(error.message, SECRET);
  }
});

void t.test('a key or headers are not sent over plain HTTP to another machine', async (t) => {
  const url = 'http://sandbox.localdomain.test:1';
  for (const [name, run] of Object.entries({ check, load, simulate, diagnose })) {
    for (const [secret, options] of [
      ['The API key', { apiKey: SECRET }],
      ['The values of headers', { headers }],
    ] as const) {
      const message = `${name}: ${secret} would be sent unencrypted to sandbox.localdomain.test:1, because the URL starts with http://. Use https://, or allowHttp in a network that you trust.`;
      const call = async (): Promise<unknown> => run({ url, ...options });
      await t.rejects(call, { name: 'TypeError', message });
    }
  }
  const voice = { url: 'ws://sandbox.localdomain.test:1/voice' };
  await t.rejects(check({ url: 'http://127.0.0.1:1', apiKey: SECRET, voice }), /Use wss:\/\//);
  t.doesNotThrow(() => rejectExposure('check', { url, headers: {} }), 'no headers are no secret');
});
