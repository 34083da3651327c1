/** Voice addresses that can't be reached: each problem gets its own cause and cure. */
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { check, diagnose, type CheckSettings } from '../../conformance/index.ts';
import type { Area } from '../../src/contract/index.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import { generateKeyPair } from '../support/network/certificates.ts';
import { startLocally } from '../support/network/local-server.ts';
import { withTcpServer } from '../support/network/tcp-server.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** No server listens at this address. */
const UNUSED_URL = 'ws://127.0.0.1:1/voice';

/** Starts a TCP server and returns its voice URL. */
const serveSocket = async (
  t: Test,
  serve: (socket: Socket) => void,
  scheme = 'ws',
): Promise<string> => `${scheme}://127.0.0.1:${await withTcpServer(t, serve)}/voice`;

async function serveUntrustedTls(t: Test): Promise<string> {
  const url = await startLocally(t, createServer(await generateKeyPair('localhost')));
  return `${url.replace('https', 'wss')}/voice`;
}

/** Starts a sandbox whose health response may claim voice. Returns options that call another address. */
async function startSandbox(
  t: Test,
  url: string,
  claimsVoice: boolean,
  clockFactor = 1,
): Promise<CheckSettings> {
  const { agent } = await withReferenceAgent(t, claimsVoice ? {} : { voice: null });
  return {
    target: agent.url,
    kitVersion: 'test',
    seed: 'address',
    voice: { url },
    clock: createScaledClock(clockFactor),
  };
}

/** Shortens timeouts. Other runs use the real time, so that a busy machine causes none. */
const TIMEOUT_FACTOR = 50;
const factorFor = (cause: string): number => (cause === 'timeout' ? TIMEOUT_FACTOR : 1);

const VOICE: readonly Area[] = ['voice'];
const BOTH: readonly Area[] = ['health', 'voice'];

const addresses: [
  name: string,
  start: (t: Test) => Promise<string>,
  id: string,
  message: RegExp,
][] = [
  [
    'nothing listens',
    () => Promise.resolve(UNUSED_URL),
    'refused',
    /Can't connect to the voice address .*: connection refused/,
  ],
  [
    'the server never responds',
    (t) => serveSocket(t, () => {}),
    'timeout',
    /WebSocket request got no response within \d+ s/,
  ],
  [
    'the server closes the connection',
    (t) => serveSocket(t, (socket) => socket.destroy()),
    'reset',
    /connection was closed during the WebSocket request/,
  ],
  [
    'the server does not speak HTTP',
    (t) => serveSocket(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
    'protocol',
    /is not valid HTTP/,
  ],
  [
    'the upgrade response is invalid',
    (t) =>
      serveSocket(t, (socket) => {
        const head = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket'];
        socket.write(
          [...head, 'connection: upgrade', 'sec-websocket-accept: no', '', ''].join('\r\n'),
        );
      }),
    'protocol',
    /Invalid Sec-WebSocket-Accept/,
  ],
  [
    'the TLS certificate is untrusted',
    serveUntrustedTls,
    'tls',
    /TLS certificate of the voice address [^;]*self-signed certificate\)/,
  ],
  [
    'the server has no TLS',
    (t) => serveSocket(t, (s) => s.end('HTTP/1.1 400 No\r\n\r\n'), 'wss'),
    'plain_http',
    /no TLS/,
  ],
];

for (const [name, start, id, message] of addresses) {
  void t.test(`${name}: a check of voice alone and doctor report one cause`, async (t) => {
    const url = await start(t);
    const options = await startSandbox(t, url, true, factorFor(id));
    const { report } = await check({ ...options, areas: VOICE });
    t.match(report, { exitCode: 3, blockedBy: { id, message } });
    t.notMatch(report.blockedBy?.message, /unknown path|gone/);
    if (id === 'tls') t.match(report.blockedBy?.cure, /--ca FILE/);
    const needed = await diagnose({ ...options, needsVoice: true });
    t.match(needed.blockedBy, { id: 'no_voice', message });
    const optional = await diagnose(options);
    t.equal(optional.blockedBy, undefined, 'the rest of the sandbox can be checked');
    t.match(optional.remark, message);
  });

  void t.test(
    `${name}: if the health response claims voice, it is one finding among others`,
    async (t) => {
      const options = await startSandbox(t, await start(t), true, factorFor(id));
      const { report } = await check({ ...options, areas: BOTH });
      t.match(report, { exitCode: 1, blockedBy: undefined });
      t.match(rowOf(report, 'VOICE-001'), { verdict: 'fail', hint: /[.]$/ });
      t.match(rowOf(report, 'VOICE-020'), { verdict: 'blocked', reason: message });
      t.equal(rowOf(report, 'HEALTH-010')?.verdict, 'pass');
    },
  );
}

void t.test(
  'a sandbox that drops all upgrades and does not claim voice has no voice endpoint',
  async (t) => {
    const options = await startSandbox(
      t,
      await serveSocket(t, (socket) => socket.destroy()),
      false,
    );
    const { report } = await check({ ...options, areas: BOTH });
    t.match(report, { exitCode: 0, verdict: 'conforming' });
    t.match(rowOf(report, 'VOICE-001'), {
      verdict: 'not_applicable',
      reason: /unknown path \(reset\)/,
    });
    t.match(report.notices, [/^Voice was not judged: no voice endpoint at .*\/voice\. /]);
    t.equal((await diagnose({ ...options, needsVoice: true })).blockedBy?.id, 'no_voice');
    t.equal((await diagnose(options)).remark, undefined);
  },
);

void t.test(
  'a report notes voice that the health response claims but no endpoint serves',
  async (t) => {
    const response = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n';
    const options = await startSandbox(
      t,
      await serveSocket(t, (socket) => socket.end(response)),
      true,
    );
    const { report } = await check({ ...options, areas: BOTH });
    t.match(report, {
      exitCode: 0,
      notices: [/^Voice was not judged: .* webrtc_status of the health response is operational/],
    });
  },
);

void t.test('an unreachable voice address does not affect the other areas', async (t) => {
  const options = await startSandbox(t, UNUSED_URL, true);
  const report = await runOnQuietMachine(
    t,
    async () => (await check(options)).report,
    ({ counts }) => counts['fail'] === 1,
  );
  if (!report) return;
  t.match(report, { exitCode: 1, blockedBy: undefined });
  t.equal(rowOf(report, 'CHAT-016')?.verdict, 'pass');
  t.equal(report.counts['fail'], 1, 'only VOICE-001 fails');
});

void t.test('a voice address that refuses does not make the sandbox itself refuse', async (t) => {
  const silent = await serveSocket(t, () => {}, 'http');
  const options = await startSandbox(t, 'ws://127.0.0.1:1/voice', true, TIMEOUT_FACTOR);
  const { report } = await check({ ...options, target: new URL(silent).origin, areas: VOICE });
  t.equal(report.exitCode, 3);
  t.notMatch(report.blockedBy?.message, /Nothing accepts connections/);
});
