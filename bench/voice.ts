/**
 * Compares how many calls a CPU core carries with the kit's peer and with libwebrtc (@roamhq/wrtc).
 * Both call the reference agent, which echoes every packet. Usage:
 * `node bench/voice.ts [CALLS] [SECONDS] [ROUNDS]` (default: 100 calls, 60 s, 1 round).
 *
 * The caller and the agent run in separate processes. Each call sends a frame every 20 ms; an echo that
 * takes longer than a second counts as lost. libwebrtc processes samples instead of packets, so its
 * result includes encoding and decoding, and it places at most 20 calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { voiceChannel } from '../src/contract/index.ts';
import { createPacer } from '../src/platform/pacer.ts';
import { startAgent } from '../reference-agent/index.ts';
import { findPercentile } from '../src/platform/percentile.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createPeer, type Peer } from '../src/voice/peer/index.ts';
import { FRAME_MS, FRAME_TICKS } from '../src/voice/opus/frame.ts';
import { readChildCpuMicros, readCpuMicros, reportCpuTime } from './cpu-time.ts';
import { describeMachine } from './machine.ts';

const PAYLOAD_BYTES = 80;
const LIBWEBRTC_CALLS_MAX = 20;
const SETTLE_MS = 1_000;

/** The result of one caller process. */
interface CallerResult {
  calls: number;
  sent: number;
  received: number;
  /** CPU time of the caller during `durationMs`, in milliseconds. */
  cpuMs: number;
  durationMs: number;
  /** Round trip of the echo; libwebrtc doesn't report it. */
  echoMs?: { p50: number; p99: number; max: number };
}

/** Opens a call in echo mode; `createAnswer` returns the answer to an offer. */
async function openCall(
  url: string,
  createAnswer: (offer: string) => Promise<string>,
): Promise<void> {
  const socket = new WebSocket(url, [voiceChannel.protocol]);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start_call', metadata: { context: 'echo' } }));
  const [data] = (await once(socket, 'message')) as [Buffer];
  const { call_id, webrtc_offer } = JSON.parse(data.toString()) as {
    call_id: string;
    webrtc_offer: { sdp: string };
  };
  const sdp = await createAnswer(webrtc_offer.sdp);
  socket.send(
    JSON.stringify({ type: 'webrtc_answer', call_id, webrtc_answer: { type: 'answer', sdp } }),
  );
}

/** Places calls with the kit's peer, which sends and receives packets. */
async function callWithKit(url: string, calls: number, seconds: number): Promise<CallerResult> {
  const echoMs: number[] = [];
  let [sent, received] = [0, 0];
  const peers: Peer[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const peer = createPeer({
      clock: systemClock,
      onPacket({ payload, arrivedAtMs }) {
        received += 1;
        echoMs.push(arrivedAtMs - payload.readDoubleLE(1));
      },
    });
    await openCall(url, (offer) => peer.createAnswer(offer));
    await peer.waitUntilConnected(AbortSignal.timeout(10_000));
    peers.push(peer);
  }
  process.send?.('ready');
  const pacer = createPacer(systemClock);
  const before = readCpuMicros();
  const startMs = systemClock.monotonicMs();
  const frames = (seconds * 1_000) / FRAME_MS;
  for (const [nth, peer] of peers.entries()) {
    let frame = 0;
    const firstMs = startMs + (nth * FRAME_MS) / calls;
    const paced = {
      get dueMs() {
        return firstMs + frame * FRAME_MS;
      },
      runDue() {
        const payload = Buffer.alloc(PAYLOAD_BYTES, 0xf8);
        payload.writeDoubleLE(systemClock.monotonicMs(), 1);
        if (peer.send(payload, frame * FRAME_TICKS)) sent += 1;
        frame += 1;
        if (frame === frames) pacer.remove(paced);
      },
    };
    pacer.add(paced);
  }
  await systemClock.sleep(seconds * 1_000);
  const cpuMs = (readCpuMicros() - before) / 1_000;
  const durationMs = systemClock.monotonicMs() - startMs;
  await systemClock.sleep(SETTLE_MS);
  const percentile = (values: readonly number[], percent: number) =>
    findPercentile(values, percent) ?? NaN;
  return {
    calls,
    sent,
    received,
    cpuMs,
    durationMs,
    echoMs: {
      p50: percentile(echoMs, 50),
      p99: percentile(echoMs, 99),
      max: percentile(echoMs, 100),
    },
  };
}

interface Connection {
  ontrack: (event: { track: object }) => void;
  localDescription: { sdp: string } | null;
  iceGatheringState: string;
  onicegatheringstatechange: () => void;
  addTrack: (track: object) => void;
  createAnswer: () => Promise<object>;
  setLocalDescription: (description: object) => Promise<void>;
  setRemoteDescription: (description: object) => Promise<void>;
  getStats: () => Promise<Map<string, Record<string, unknown>>>;
}

// The package's own types need the DOM types, which are not available in Node.
const { RTCPeerConnection, nonstandard } = wrtc as unknown as {
  RTCPeerConnection: new () => Connection;
  nonstandard: {
    RTCAudioSource: new () => { createTrack: () => object; onData: (data: object) => void };
  };
};

/** Places calls with libwebrtc, which sends and receives samples. */
async function callWithLibwebrtc(
  url: string,
  calls: number,
  seconds: number,
): Promise<CallerResult> {
  const connections: Connection[] = [];
  const sources: InstanceType<typeof nonstandard.RTCAudioSource>[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const connection = new RTCPeerConnection();
    const source = new nonstandard.RTCAudioSource();
    connection.addTrack(source.createTrack());
    await openCall(url, async (sdp) => {
      await connection.setRemoteDescription({ type: 'offer', sdp });
      await connection.setLocalDescription(await connection.createAnswer());
      while (connection.iceGatheringState !== 'complete') {
        await new Promise<void>((resolve) => (connection.onicegatheringstatechange = resolve));
      }
      return connection.localDescription?.sdp ?? '';
    });
    connections.push(connection);
    sources.push(source);
  }
  const sumStatistic = async (type: string, field: string): Promise<number> => {
    let sum = 0;
    for (const connection of connections) {
      const statistics = [...(await connection.getStats()).values()];
      sum += Number(statistics.find((entry) => entry['type'] === type)?.[field] ?? 0);
    }
    return sum;
  };
  // A tone, because encoding silence costs almost nothing.
  const tone = Int16Array.from({ length: 480 }, (_, nth) => 8_000 * Math.sin((nth * Math.PI) / 24));
  const startMs = systemClock.monotonicMs();
  let frame = 0;
  const sendToneUntil = async (endMs: number): Promise<void> => {
    for (; systemClock.monotonicMs() < endMs; frame += 1) {
      for (const source of sources) source.onData({ samples: tone, sampleRate: 48_000 });
      await systemClock.sleep(Math.max(0, startMs + frame * 10 - systemClock.monotonicMs()));
    }
  };
  await sendToneUntil(startMs + SETTLE_MS);
  const [sentBefore, receivedBefore] = [
    await sumStatistic('outbound-rtp', 'packetsSent'),
    await sumStatistic('inbound-rtp', 'packetsReceived'),
  ];
  process.send?.('ready');
  const before = readCpuMicros();
  const fromMs = systemClock.monotonicMs();
  await sendToneUntil(fromMs + seconds * 1_000);
  const cpuMs = (readCpuMicros() - before) / 1_000;
  const durationMs = systemClock.monotonicMs() - fromMs;
  return {
    calls,
    cpuMs,
    durationMs,
    sent: (await sumStatistic('outbound-rtp', 'packetsSent')) - sentBefore,
    received: (await sumStatistic('inbound-rtp', 'packetsReceived')) - receivedBefore,
  };
}

type CallerName = 'kit' | 'libwebrtc';

const callers: Record<CallerName, typeof callWithKit> = {
  kit: callWithKit,
  libwebrtc: callWithLibwebrtc,
};

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}

/** Runs one caller; returns its result and the CPU time of the agent. */
async function measure(name: CallerName, calls: number, seconds: number) {
  const agent = fork(import.meta.filename, ['agent']);
  const url = String(await nextMessage(agent));
  const caller = fork(import.meta.filename, [name, url, String(calls), String(seconds)]);
  try {
    await nextMessage(caller);
    const before = await readChildCpuMicros(agent);
    const result = (await nextMessage(caller)) as CallerResult;
    return { ...result, agentCpuMs: ((await readChildCpuMicros(agent)) - before) / 1_000 };
  } finally {
    // A libwebrtc process does not always exit on its own.
    caller.kill('SIGKILL');
    agent.kill();
  }
}

async function run(calls: number, seconds: number, rounds: number): Promise<void> {
  console.log(describeMachine());
  console.log('caller     calls  packets back     lost  echo p50   p99   max  CPU caller  agent');
  for (let nth = 0; nth < rounds; nth += 1) {
    const callsPerCore = new Map<CallerName, number>();
    for (const name of ['kit', 'libwebrtc'] as const) {
      const count = name === 'kit' ? calls : Math.min(calls, LIBWEBRTC_CALLS_MAX);
      const result = await measure(name, count, seconds);
      callsPerCore.set(name, (result.calls * result.durationMs) / result.cpuMs);
      console.log(formatRow(name, result));
    }
    const [kit = NaN, libwebrtc = NaN] = callsPerCore.values();
    const counts = `kit ${kit.toFixed(0)}, libwebrtc ${libwebrtc.toFixed(0)}`;
    console.log(`calls per core: ${counts}, ratio ${(kit / libwebrtc).toFixed(1)}`);
  }
}

function formatRow(name: CallerName, result: Awaited<ReturnType<typeof measure>>): string {
  const { calls, sent, received, cpuMs, agentCpuMs, durationMs, echoMs } = result;
  const percent = (ms: number) => `${((100 * ms) / durationMs).toFixed(1)} %`;
  const echo = echoMs ? [echoMs.p50, echoMs.p99, echoMs.max] : [];
  const [p50 = '', p99 = '', max = ''] = echo.map((ms) => ms.toFixed(1));
  return [
    name.padEnd(9),
    String(calls).padStart(6),
    String(received).padStart(13),
    // libwebrtc still has packets in flight at both ends of the run, so its loss is unknown.
    String(name === 'kit' ? sent - received : '').padStart(8),
    p50.padStart(9),
    p99.padStart(5),
    max.padStart(5),
    percent(cpuMs).padStart(11),
    percent(agentCpuMs).padStart(7),
  ].join(' ');
}

const [command = '100', ...parameters] = process.argv.slice(2);
if (command === 'agent') {
  const agent = await startAgent();
  reportCpuTime();
  process.send?.(agent.voiceUrl);
} else if (Object.hasOwn(callers, command)) {
  const [url = '', calls, seconds] = parameters;
  process.send?.(await callers[command as CallerName](url, Number(calls), Number(seconds)));
} else {
  const [seconds = 60, rounds = 1] = parameters.map(Number);
  await run(Number(command), seconds, rounds);
}
