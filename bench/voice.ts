/**
 * How many calls a second of processor time carries, on each side: the kit's peers call the reference
 * agent, which sends every packet back, beside libwebrtc (@roamhq/wrtc) that does the same.
 * `node bench/voice.ts [calls] [seconds] [rounds]`; 100 calls for 60 s, one round, by default.
 *
 * Each side has a process of its own. A call sends a frame of 20 ms every 20 ms, and all of them come
 * back; what does not within a second is lost. libwebrtc takes and gives samples, not packets, so its
 * figure has an encoder and a decoder in it, and it places fewer calls: so many as leave it time.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { createPacer } from '../src/platform/pacer.ts';
import { startAgent } from '../reference-agent/index.ts';
import { findPercentile } from '../src/voice/latency/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createPeer, type Peer } from '../src/voice/peer/index.ts';

const FRAME_MS = 20;
const FRAME_TICKS = 960;
const PAYLOAD_BYTES = 80;
const LIBWEBRTC_CALLS_MAX = 20;
const SETTLE_MS = 1_000;

/** What one side of a run came to. */
interface Outcome {
  calls: number;
  sent: number;
  received: number;
  /** Processor time of this side, in milliseconds, and how long that was. */
  cpuMs: number;
  tookMs: number;
  /** There and back; not of libwebrtc, which does not say. */
  echoMs?: { p50: number; p99: number; max: number };
  lateP99Ms?: number;
}

/** Opens a call in echo mode; `answer` makes the answer to an offer. */
async function call(url: string, answer: (offer: string) => Promise<string>): Promise<void> {
  const socket = new WebSocket(url, ['voice-agent']);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start_call', metadata: { context: 'echo' } }));
  const [data] = (await once(socket, 'message')) as [Buffer];
  const { call_id, webrtc_offer } = JSON.parse(data.toString()) as {
    call_id: string;
    webrtc_offer: { sdp: string };
  };
  const sdp = await answer(webrtc_offer.sdp);
  socket.send(
    JSON.stringify({ type: 'webrtc_answer', call_id, webrtc_answer: { type: 'answer', sdp } }),
  );
}

/** The processor time of this process since, in milliseconds. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The kit's side: packets out, packets in. */
async function callByKit(url: string, calls: number, seconds: number): Promise<Outcome> {
  const echoMs: number[] = [];
  const lateMs: number[] = [];
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
    await call(url, (offer) => peer.createAnswer(offer));
    await peer.waitUntilConnected(AbortSignal.timeout(10_000));
    peers.push(peer);
  }
  process.send?.('ready');
  const beats = createPacer(systemClock);
  const before = process.cpuUsage();
  const startMs = systemClock.monotonicMs();
  const frames = (seconds * 1_000) / FRAME_MS;
  for (const [nth, peer] of peers.entries()) {
    let frame = 0;
    const firstMs = startMs + (nth * FRAME_MS) / calls;
    const paced = {
      get dueMs() {
        return firstMs + frame * FRAME_MS;
      },
      beat(nowMs: number) {
        lateMs.push(nowMs - this.dueMs);
        const payload = Buffer.alloc(PAYLOAD_BYTES, 0xf8);
        payload.writeDoubleLE(systemClock.monotonicMs(), 1);
        if (peer.send(payload, frame * FRAME_TICKS)) sent += 1;
        frame += 1;
        if (frame === frames) beats.remove(paced);
      },
    };
    beats.add(paced);
  }
  await systemClock.sleep(seconds * 1_000);
  const [cpuMs, tookMs] = [cpuSince(before), systemClock.monotonicMs() - startMs];
  await systemClock.sleep(SETTLE_MS);
  const at = (values: readonly number[], percent: number) => findPercentile(values, percent) ?? NaN;
  return {
    ...{ calls, sent, received, cpuMs, tookMs },
    echoMs: { p50: at(echoMs, 50), p99: at(echoMs, 99), max: at(echoMs, 100) },
    lateP99Ms: at(lateMs, 99),
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

// Its own types are those of a browser, which are not there in Node.
const { RTCPeerConnection, nonstandard } = wrtc as unknown as {
  RTCPeerConnection: new () => Connection;
  nonstandard: {
    RTCAudioSource: new () => { createTrack: () => object; onData: (data: object) => void };
  };
};

/** libwebrtc's side: samples out, samples in. */
async function callByLibwebrtc(url: string, calls: number, seconds: number): Promise<Outcome> {
  const connections: Connection[] = [];
  const sources: InstanceType<typeof nonstandard.RTCAudioSource>[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const connection = new RTCPeerConnection();
    const source = new nonstandard.RTCAudioSource();
    connection.addTrack(source.createTrack());
    await call(url, async (sdp) => {
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
  const counted = async (type: string, field: string): Promise<number> => {
    let sum = 0;
    for (const connection of connections) {
      const found = [...(await connection.getStats()).values()].find((one) => one['type'] === type);
      sum += Number(found?.[field] ?? 0);
    }
    return sum;
  };
  // A tone, since silence would cost its encoder next to nothing.
  const tone = Int16Array.from({ length: 480 }, (_, nth) => 8_000 * Math.sin((nth * Math.PI) / 24));
  const startMs = systemClock.monotonicMs();
  let frame = 0;
  const speakUntil = async (endMs: number): Promise<void> => {
    for (; systemClock.monotonicMs() < endMs; frame += 1) {
      for (const source of sources) source.onData({ samples: tone, sampleRate: 48_000 });
      await systemClock.sleep(Math.max(0, startMs + frame * 10 - systemClock.monotonicMs()));
    }
  };
  await speakUntil(startMs + SETTLE_MS);
  const [sentBefore, receivedBefore] = [
    await counted('outbound-rtp', 'packetsSent'),
    await counted('inbound-rtp', 'packetsReceived'),
  ];
  process.send?.('ready');
  const before = process.cpuUsage();
  const fromMs = systemClock.monotonicMs();
  await speakUntil(fromMs + seconds * 1_000);
  const [cpuMs, tookMs] = [cpuSince(before), systemClock.monotonicMs() - fromMs];
  return {
    ...{ calls, cpuMs, tookMs },
    sent: (await counted('outbound-rtp', 'packetsSent')) - sentBefore,
    received: (await counted('inbound-rtp', 'packetsReceived')) - receivedBefore,
  };
}

type Side = 'kit' | 'libwebrtc';

/** What a side of a run says to the process that measures. */
const sides: Record<Side, typeof callByKit> = { kit: callByKit, libwebrtc: callByLibwebrtc };

async function answerOf(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}

/** One run: the caller's outcome, and what the agent cost meanwhile. */
async function measure(side: Side, calls: number, seconds: number) {
  const agent = fork(import.meta.filename, ['agent']);
  const url = String(await answerOf(agent));
  const caller = fork(import.meta.filename, [side, url, String(calls), String(seconds)]);
  try {
    await answerOf(caller);
    agent.send('cpu');
    const before = Number(await answerOf(agent));
    const outcome = (await answerOf(caller)) as Outcome;
    agent.send('cpu');
    return { ...outcome, agentCpuMs: Number(await answerOf(agent)) - before };
  } finally {
    // libwebrtc does not always end by itself.
    caller.kill('SIGKILL');
    agent.kill();
  }
}

async function run(calls: number, seconds: number, rounds: number): Promise<void> {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  console.log('caller     calls  packets back     lost  echo p50   p99   max  CPU caller  agent');
  for (let nth = 0; nth < rounds; nth += 1) {
    const perCpuSecond = new Map<Side, number>();
    for (const side of ['kit', 'libwebrtc'] as const) {
      const count = side === 'kit' ? calls : Math.min(calls, LIBWEBRTC_CALLS_MAX);
      const found = await measure(side, count, seconds);
      perCpuSecond.set(side, (found.calls * found.tookMs) / found.cpuMs);
      console.log(row(side, found));
    }
    const [ours = NaN, theirs = NaN] = perCpuSecond.values();
    const shown = [ours, theirs].map((value) => value.toFixed(0)).join(' to ');
    console.log(`calls a core carries: ${shown}, ratio ${(ours / theirs).toFixed(1)}`);
  }
}

function row(side: Side, found: Awaited<ReturnType<typeof measure>>): string {
  const { calls, sent, received, cpuMs, agentCpuMs, tookMs, echoMs } = found;
  const percent = (ms: number) => `${((100 * ms) / tookMs).toFixed(1)} %`;
  const echo = echoMs ? [echoMs.p50, echoMs.p99, echoMs.max] : [];
  const [p50 = '', p99 = '', max = ''] = echo.map((ms) => ms.toFixed(1));
  return [
    side.padEnd(9),
    String(calls).padStart(6),
    String(received).padStart(13),
    // What libwebrtc has under way at either end of the run is no loss.
    String(side === 'kit' ? sent - received : '').padStart(8),
    p50.padStart(9),
    p99.padStart(5),
    max.padStart(5),
    percent(cpuMs).padStart(11),
    percent(agentCpuMs).padStart(7),
  ].join(' ');
}

const [VERB = '100', ...given] = process.argv.slice(2);
if (VERB === 'agent') {
  const agent = await startAgent();
  process.on('message', () => process.send?.(cpuSince({ user: 0, system: 0 })));
  process.send?.(agent.voiceUrl);
} else if (Object.hasOwn(sides, VERB)) {
  const [url = '', calls, seconds] = given;
  process.send?.(await sides[VERB as Side](url, Number(calls), Number(seconds)));
} else {
  const [seconds = 60, rounds = 1] = given.map(Number);
  await run(Number(VERB), seconds, rounds);
}
