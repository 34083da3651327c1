/** Packets to connected calls: of the reference agent, and of our caller. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { RTCPeerConnection, RtpHeader, type RTCDtlsTransport } from 'werift';
import { WebSocketServer, type WebSocket } from 'ws';
import { startAgent, type RunningAgent } from '../../../reference-agent/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { VoiceActivityDetector } from '../../../src/voice/activity/index.ts';
import { CallRecording, defaultAnswerForm, OutgoingCall } from '../../../src/voice/call/index.ts';
import { createDecoder, readClips } from '../../../src/voice/opus/index.ts';
import { createPeerConfig } from '../../../src/voice/peer/peer-config.ts';
import {
  createAnswer,
  openSignaling,
  readOfferSdp,
  type SignalingSocket,
} from '../../support/calls/caller.ts';
import { until } from '../../support/until.ts';
import { defineTarget } from '../engine/target.ts';
import { byteEdits, editBytes, type ByteEdit } from '../inputs/byte-edits.ts';

/** A packet: as it is, or encrypted as RTP or RTCP. */
type Packet = { edits: ByteEdit[] } & (
  | { kind: 'raw'; bytes: Uint8Array }
  | { kind: 'rtp'; header: RtpFields; clip: number; payload: Uint8Array | undefined }
  | { kind: 'rtcp'; bytes: Uint8Array }
);

interface RtpFields {
  payloadType: number;
  sequenceNumber: number;
  timestamp: number;
  ssrc: number;
  marker: boolean;
  csrc: number[];
  /** An extension of the header: written as the library does, or with any length. */
  extension: { profile: number; length: number; bytes: Uint8Array; isWritten: boolean } | undefined;
}

/** The first bytes of packets, which tell STUN, DTLS, RTP, and RTCP apart (RFC 7983). */
const STARTS: readonly (readonly number[])[] = [
  // STUN: binding request, response, error, indication.
  ...[
    [0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42],
    [1, 1, 0, 8, 0x21, 0x12, 0xa4, 0x42, ...Array<number>(12).fill(7)],
  ],
  ...[
    [1, 0x11, 0, 4, 0x21, 0x12, 0xa4, 0x42],
    [0, 0x11, 0, 0, 0x21, 0x12, 0xa4, 0x42],
  ],
  // DTLS: change cipher spec, alert, handshake, application data.
  ...[20, 21, 22, 23].map((type) => [type, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1, 0]),
  [22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  // RTP, with an extension and contributing sources; RTCP.
  ...[
    [0x80, 111, 0, 1],
    [0x90, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xbe, 0xde, 0xff, 0xff],
  ],
  ...[
    [0x9f, 111, 0, 1],
    [0xb0, 0xef, 0, 1],
    [0x80, 200, 0, 6],
    [0x81, 201, 0, 7],
    [0x8f, 205, 0, 3],
  ],
  ...[[], [0], [64], [127], [192], [255]],
];

const rawBytes = fc
  .tuple(fc.constantFrom(...STARTS), fc.uint8Array({ maxLength: 60, size: 'max' }))
  .map(([start, rest]): Uint8Array => Buffer.concat([Buffer.from(start), rest]));

const words = (values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [nth, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, nth * 4);
  return bytes;
};

/** A part of an RTCP packet: its header says anything about what follows. */
const rtcpPart = fc
  .record({
    version: fc.constantFrom(2, 2, 2, 0, 3),
    padding: fc.boolean(),
    count: fc.nat(31),
    type: fc.constantFrom(200, 201, 202, 203, 204, 205, 206, 207, 192, 208),
    length: fc.option(fc.constantFrom(0, 1, 6, 7, 255, 65_535), { nil: undefined }),
    body: fc.oneof(
      fc.uint8Array({ maxLength: 48, size: 'max' }),
      fc.array(fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1), { maxLength: 8 }).map(words),
    ),
  })
  .map(({ version, padding, count, type, length, body }) => {
    const head = Buffer.from([(version << 6) | (padding ? 32 : 0) | count, type, 0, 0]);
    head.writeUInt16BE(length ?? Math.floor(body.length / 4), 2);
    return Buffer.concat([head, body]);
  });

const rtcpBytes = fc
  .array(rtcpPart, { minLength: 1, maxLength: 3 })
  .map((parts): Uint8Array => Buffer.concat([...parts, Buffer.alloc(12)]));

const header: Arbitrary<RtpFields> = fc.record({
  payloadType: fc.oneof({ weight: 5, arbitrary: fc.constant(111) }, fc.nat(127)),
  sequenceNumber: fc.oneof(fc.nat(300), fc.nat(65_535)),
  timestamp: fc.oneof(
    fc.nat(100).map((nth) => nth * 960),
    fc.nat(2 ** 31),
    fc.constant(2 ** 32 - 1),
  ),
  ssrc: fc.oneof(fc.nat(20), fc.constantFrom(0, 2 ** 32 - 1)),
  marker: fc.boolean(),
  csrc: fc.array(fc.nat(9), { maxLength: 15 }),
  extension: fc.option(
    fc.record({
      profile: fc.constantFrom(0xbede, 0x1000, 0, 0xffff),
      length: fc.constantFrom(0, 1, 4, 100, 65_535),
      bytes: fc.uint8Array({ maxLength: 32 }),
      isWritten: fc.boolean(),
    }),
    { nil: undefined, freq: 3 },
  ),
});

const packet: Arbitrary<Packet> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('raw' as const), bytes: rawBytes, edits: byteEdits }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('rtp' as const),
      header,
      clip: fc.nat(500),
      edits: byteEdits,
      payload: fc.option(fc.uint8Array({ maxLength: 200, size: 'max' }), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('rtcp' as const),
      bytes: rtcpBytes,
      edits: byteEdits,
    }),
  },
);

interface Input {
  to: 'agent' | 'caller';
  packets: Packet[];
}

/** Larger datagrams can't be sent. */
const DATAGRAM_BYTES_MAX = 60_000;

/** One end of a call that sends what it likes. */
class Attacker {
  readonly #connection = new RTCPeerConnection(createPeerConfig({}));

  async offer(): Promise<string> {
    this.#connection.addTransceiver('audio', { direction: 'sendrecv' });
    await this.#connection.setLocalDescription(await this.#connection.createOffer());
    return this.#connection.localDescription?.sdp ?? '';
  }

  async accept(sdp: string): Promise<void> {
    await this.#connection.setRemoteDescription({ type: 'answer', sdp });
  }

  async answer(sdp: string): Promise<string> {
    await this.#connection.setRemoteDescription({ type: 'offer', sdp });
    await this.#connection.setLocalDescription(await this.#connection.createAnswer());
    return this.#connection.localDescription?.sdp ?? '';
  }

  get isConnected(): boolean {
    return this.#connection.connectionState === 'connected';
  }

  /** Sends a packet, encrypted if it is RTP or RTCP. */
  async send(sent: Packet, payload: Buffer): Promise<void> {
    const [dtls] = this.#connection.dtlsTransports;
    if (!dtls || !this.isConnected) return;
    const bytes = encrypt(sent, payload, dtls);
    const { connection } = dtls.iceTransport;
    if (bytes && bytes.length < DATAGRAM_BYTES_MAX)
      await connection.send(bytes).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function encrypt(sent: Packet, payload: Buffer, dtls: RTCDtlsTransport): Buffer | undefined {
  if (sent.kind === 'raw') return payload;
  try {
    if (sent.kind === 'rtcp') return dtls.srtcp.encrypt(payload);
    const { extension, csrc, ...fields } = sent.header;
    const elements = [{ id: 1, payload: Buffer.from(extension?.bytes ?? []) }];
    const rtp = new RtpHeader({
      ...fields,
      csrc,
      csrcLength: csrc.length,
      ...(extension?.isWritten && {
        // Any number is written.
        extensionProfile: extension.profile as RtpHeader['extensionProfile'],
        extensions: elements,
      }),
    });
    if (!extension || extension.isWritten) return dtls.srtp.encrypt(payload, rtp);
    // The library writes no wrong lengths, so the packet is changed after it was signed.
    const encrypted = dtls.srtp.encrypt(payload, rtp);
    const at = 12 + csrc.length * 4;
    const block = Buffer.from([0, 0, 0, 0, ...extension.bytes]);
    block.writeUInt16BE(extension.profile, 0);
    block.writeUInt16BE(extension.length, 2);
    const changed = Buffer.concat([encrypted.subarray(0, at), block, encrypted.subarray(at)]);
    changed[0] = (changed[0] ?? 0) | 0x10;
    return changed;
  } catch {
    // The library does not write such a packet.
    return undefined;
  }
}

/** A call to attack, and the attacker at its other end. */
interface AttackedCall {
  attacker: Attacker;
  close(): Promise<void>;
}

/** Calls the agent. */
async function callAgent(agent: RunningAgent): Promise<AttackedCall> {
  const attacker = new Attacker();
  const signaling: SignalingSocket = await openSignaling(agent.voiceUrl ?? '');
  signaling.send({ type: 'start_call', audio_config: { codec: 'opus' } });
  const ready = await signaling.next('call_ready');
  signaling.send(createAnswer(ready, await attacker.answer(readOfferSdp(ready))));
  await until('the call to the agent is connected', () => attacker.isConnected);
  return {
    attacker,
    async close() {
      signaling.socket.terminate();
      await attacker.close();
    },
  };
}

/** Is called by our caller, which hears, records, and measures like in a simulation. */
async function beCalled(): Promise<AttackedCall> {
  const attacker = new Attacker();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as {
        type: string;
        webrtc_answer?: { sdp: string };
      };
      if (message.type === 'start_call') {
        void attacker.offer().then((sdp) => {
          socket.send(
            JSON.stringify({
              type: 'call_ready',
              call_id: 'c',
              webrtc_offer: { type: 'offer', sdp },
            }),
          );
        });
      }
      if (message.webrtc_answer) void attacker.accept(message.webrtc_answer.sdp);
    });
  });
  const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'full' });
  let recording = new CallRecording();
  let packets = 0;
  const call = new OutgoingCall({
    clock: systemClock,
    target: {
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: undefined,
      ca: undefined,
      mediaAddress: undefined,
      answerForm: defaultAnswerForm,
    },
    onPacket(received) {
      activity.addPacket(received);
      // A long call would take as much memory as it should.
      packets += 1;
      if (packets % 2_000 === 0) {
        recording = new CallRecording();
        activity.beginTurn();
      }
      recording.addReceived(received);
    },
    onEnd: () => void call.hangUp(),
  });
  await call.place({ session_id: 's' });
  await call.connect();
  activity.payloadType = call.payloadType;
  await until('the caller is connected', () => attacker.isConnected);
  return {
    attacker,
    async close() {
      await call.hangUp();
      await attacker.close();
      activity.close();
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

/** Packets arrive in later turns of the event loop. */
const PAUSE_MS = 1;

export default defineTarget<Input>({
  about: 'STUN, DTLS, RTP, and RTCP packets, to connected calls of the agent and of our caller',
  inputs: fc.record({
    to: fc.constantFrom('agent', 'caller'),
    packets: fc.array(packet, { minLength: 1, maxLength: 40, size: 'max' }),
  }),
  inputsPerRound: 150,
  countOf: ({ packets }) => packets.length,
  async open() {
    const clips = (await readClips()).flatMap((clip) => clip.packets);
    const agent = await startAgent();
    const connect = { agent: () => callAgent(agent), caller: beCalled };
    let calls = { agent: await connect.agent(), caller: await connect.caller() };
    const payloadOf = (sent: Packet): Buffer => {
      const bytes =
        sent.kind === 'rtp' ? (sent.payload ?? clips[sent.clip % clips.length]) : sent.bytes;
      return editBytes(bytes ?? Buffer.alloc(0), sent.edits);
    };
    return {
      async send({ to, packets }) {
        for (const sent of packets) await calls[to].attacker.send(sent, payloadOf(sent));
        await systemClock.sleep(PAUSE_MS);
      },
      describe: ({ to, packets }) =>
        packets
          .map((sent) => {
            const fields = sent.kind === 'rtp' ? ` ${JSON.stringify(sent.header)}` : '';
            return `${sent.kind} to the ${to}${fields}: ${payloadOf(sent).toString('hex').slice(0, 2_000)}`;
          })
          .join('\n'),
      async reset() {
        // A peer may end its own call with what it sends, and can place another one.
        await calls.agent.close();
        await calls.caller.close();
        await until('all calls have ended', () => agent.calls().open === 0);
        agent.reset();
        calls = { agent: await connect.agent(), caller: await connect.caller() };
      },
      async close() {
        await calls.agent.close();
        await calls.caller.close();
        await agent.stop();
      },
    };
  },
});
