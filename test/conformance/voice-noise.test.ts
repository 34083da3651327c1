/** Checks of sandboxes that send floods, binary data, or too large messages over the voice WebSocket. */
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { check, type CheckSettings } from '../../conformance/index.ts';
import type { ExchangeRecord } from '../../src/contract/index.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import { startLocally } from '../support/network/local-server.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** Handles an open WebSocket. */
type Serve = (socket: WebSocket) => void;

/** Starts a conforming sandbox with another voice endpoint. Returns the options to check it. */
async function startSandbox(t: Test, serve: Serve): Promise<CheckSettings> {
  const { agent } = await withReferenceAgent(t);
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate());
    serve(socket);
  });
  const url = await startLocally(t, server);
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  const voice = { url: `${url.replace('http', 'ws')}/voice` };
  return { target: agent.url, kitVersion: 'test', seed: 'noise', areas: ['voice'], voice };
}

/** Responds to every `start_call` with a `call_ready` whose offer is unusable, then calls `afterReady`. */
const sendReady =
  (afterReady: (socket: WebSocket) => void, padding = ''): Serve =>
  (socket) => {
    let calls = 0;
    socket.on('message', (data: Buffer) => {
      if (!data.includes('start_call')) return;
      const { session_id } = JSON.parse(data.toString()) as Record<string, unknown>;
      const webrtc_offer = { type: 'offer', sdp: 'v=0\r\n' };
      const call_id = `c${Math.random()}-${++calls}`;
      const ids = { call_id, ...(session_id !== undefined && { session_id }) };
      socket.send(JSON.stringify({ type: 'call_ready', ...ids, webrtc_offer, padding }));
      afterReady(socket);
    });
  };

const noises: [name: string, serve: Serve][] = [
  ['nothing', () => {}],
  ['binary data', (socket) => socket.send(Buffer.alloc(1_000, 7))],
  [
    'a flood of messages',
    (socket) => {
      for (let nth = 0; nth < 5_000; nth += 1) socket.send(`{"type":"status","nth":${nth}}`);
    },
  ],
];

for (const [name, serve] of noises) {
  void t.test(
    `a run gives up early on a sandbox that sends ${name} instead of a response to start_call`,
    async (t) => {
      const options = await startSandbox(t, serve);
      // On a busy machine, waits on a fast clock can end before the sandbox gets to respond.
      const result = await runOnQuietMachine(
        t,
        () => check({ ...options, clock: createScaledClock(100) }),
        ({ report }) => rowOf(report, 'VOICE-010')?.verdict === 'fail',
      );
      if (!result) return;
      const { report, transcript } = result;
      const calls = transcript.exchanges.filter(
        ({ endpoint, call }: ExchangeRecord) => endpoint === 'voice' && call?.events.length,
      );
      t.ok(calls.length < 10, `${calls.length} calls of 25`);
      t.match(rowOf(report, 'VOICE-010'), { verdict: 'fail' });
      t.equal(report.exitCode, 1);
    },
  );
}

void t.test('a message of 100 kB is judged like any other', async (t) => {
  const options = await startSandbox(
    t,
    sendReady(() => {}, 'x'.repeat(100_000)),
  );
  const { report } = await check({ ...options, clock: createScaledClock(10) });
  for (const id of ['VOICE-010', 'VOICE-014', 'VOICE-020', 'VOICE-023']) {
    t.equal(rowOf(report, id)?.verdict, 'pass', id);
  }
});

void t.test('a message above the size limit is reported as too large', async (t) => {
  const options = await startSandbox(
    t,
    sendReady(() => {}, 'x'.repeat(3_000_000)),
  );
  const { report, transcript } = await check({ ...options, clock: createScaledClock(10) });
  const received = /^a message is larger than 1048576 bytes, the limit of sandbox-kit/;
  t.match(rowOf(report, 'VOICE-010'), { verdict: 'fail', received });
  t.not(rowOf(report, 'VOICE-014')?.verdict, 'fail', 'it is not reported as invalid JSON');
  const call = transcript.exchanges.find(({ failure }) => failure?.kind === 'too_large');
  t.match(call, { failure: { status: 101, message: received } });
  t.match(rowOf(report, 'VOICE-010')?.evidence[0], { outcome: '101, a message too large' });
});

void t.test(
  'a message above the size limit after call_ready is reported as too large',
  async (t) => {
    const options = await startSandbox(
      t,
      sendReady((socket) => socket.send(JSON.stringify({ type: 'x', y: 'x'.repeat(3_000_000) }))),
    );
    const { report } = await check({ ...options, clock: createScaledClock(10) });
    t.match(rowOf(report, 'VOICE-013'), { verdict: 'fail', received: /larger than 1048576 bytes/ });
  },
);
