/** The way to the voice WebSocket: what is wrong with it is told by its own cause, with its cure. */
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { check, diagnose, type CheckOptions } from '../../conformance/index.ts';
import type { Area, CheckReport } from '../../src/contract/index.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { scaledClock } from '../../src/platform/clock.ts';

const NOWHERE = 'ws://127.0.0.1:1/voice';

/** A server of this test, as the address of a WebSocket. */
async function listening(t: Test, server: Server, scheme = 'ws'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/voice`;
}

const bare = (t: Test, serve: (socket: Socket) => void, scheme?: string): Promise<string> =>
  listening(t, createServer(serve), scheme);

async function untrusted(t: Test): Promise<string> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
  return listening(t, createTlsServer({ cert, key }), 'wss');
}

/** A sandbox whose health speaks of voice, or not, called at another address. */
async function optionsOf(t: Test, url: string, claims: boolean): Promise<CheckOptions> {
  const agent = await startAgent(claims ? {} : { voice: null });
  t.teardown(() => agent.stop());
  return {
    ...{ target: agent.url, kitVersion: 'test', seed: 'way', voice: { url } },
    clock: scaledClock(100),
  };
}

const rowOf = ({ requirements }: CheckReport, id: string) =>
  requirements.find((one) => one.id === id);

const VOICE: readonly Area[] = ['voice'];
const BOTH: readonly Area[] = ['health', 'voice'];

const ways: [name: string, start: (t: Test) => Promise<string>, id: string, says: RegExp][] = [
  [
    'nothing listens',
    () => Promise.resolve(NOWHERE),
    'refused',
    /Can't connect to the voice address .*: connection refused/,
  ],
  [
    'it hangs',
    (t) => bare(t, () => {}),
    'timeout',
    /WebSocket request got no response within \d+ s/,
  ],
  [
    'it hangs up',
    (t) => bare(t, (socket) => socket.destroy()),
    'reset',
    /connection was closed during the WebSocket request/,
  ],
  [
    'it speaks something else',
    (t) => bare(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
    'protocol',
    /is not valid HTTP/,
  ],
  [
    'it opens what is no WebSocket',
    (t) =>
      bare(t, (socket) => {
        const head = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket'];
        socket.write(
          [...head, 'connection: upgrade', 'sec-websocket-accept: no', '', ''].join('\r\n'),
        );
      }),
    'protocol',
    /Invalid Sec-WebSocket-Accept/,
  ],
  [
    'nobody trusts it',
    untrusted,
    'tls',
    /TLS certificate of the voice address [^;]*self-signed certificate\)/,
  ],
  [
    'it has no TLS',
    (t) => bare(t, (s) => s.end('HTTP/1.1 400 No\r\n\r\n'), 'wss'),
    'plain_http',
    /no TLS/,
  ],
];

for (const [name, start, id, says] of ways) {
  void t.test(`${name}: one cause of a run of voice alone, and of doctor`, async (t) => {
    const url = await start(t);
    const options = await optionsOf(t, url, true);
    const { report } = await check({ ...options, areas: VOICE });
    t.match(report, { exitCode: 3, blockedBy: { id, message: says } });
    t.notMatch(report.blockedBy?.message, /unknown path|gone/);
    if (id === 'tls') t.match(report.blockedBy?.cure, /--ca FILE/);
    const asked = await diagnose({ ...options, needsVoice: true });
    t.match(asked.blockedBy, { id: 'no_voice', message: says });
    const unasked = await diagnose(options);
    t.equal(unasked.blockedBy, undefined, 'the rest of the sandbox can be checked');
    t.match(unasked.remark, says);
  });

  void t.test(`${name}: where health speaks of voice, it is a finding among others`, async (t) => {
    const options = await optionsOf(t, await start(t), true);
    const { report } = await check({ ...options, areas: BOTH });
    t.match(report, { exitCode: 1, blockedBy: undefined });
    t.match(rowOf(report, 'VOICE-001'), { verdict: 'fail', hint: /[.]$/ });
    t.match(rowOf(report, 'VOICE-020'), { verdict: 'blocked', reason: says });
    t.equal(rowOf(report, 'HEALTH-010')?.verdict, 'pass');
  });
}

void t.test('who drops all upgrades and says nothing of voice has none', async (t) => {
  const options = await optionsOf(t, await bare(t, (socket) => socket.destroy()), false);
  const { report } = await check({ ...options, areas: BOTH });
  t.match(report, { exitCode: 0, verdict: 'conforming' });
  t.match(rowOf(report, 'VOICE-001'), {
    verdict: 'not_applicable',
    reason: /unknown path \(reset\)/,
  });
  t.notOk(report.notices);
  t.equal((await diagnose({ ...options, needsVoice: true })).blockedBy?.id, 'no_voice');
  t.equal((await diagnose(options)).remark, undefined);
});

void t.test(
  'voice that health speaks of and that is not there is said beside the verdict',
  async (t) => {
    const answer = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n';
    const options = await optionsOf(t, await bare(t, (socket) => socket.end(answer)), true);
    const { report } = await check({ ...options, areas: BOTH });
    t.match(report, {
      exitCode: 0,
      notices: [/^Voice was not judged: .* webrtc_status of the health response is operational/],
    });
  },
);

void t.test('a voice address that is dead takes nothing from the rest of the run', async (t) => {
  const options = await optionsOf(t, NOWHERE, true);
  const { report } = await check(options);
  t.match(report, { exitCode: 1, blockedBy: undefined });
  t.equal(rowOf(report, 'CHAT-016')?.verdict, 'pass');
  t.equal(report.counts['fail'], 1, 'VOICE-001 alone');
});
