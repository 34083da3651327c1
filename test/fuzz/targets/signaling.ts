/** WebSocket frames and messages of callers, to the reference agent. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { startAgent } from '../../../reference-agent/index.ts';
import { findViolations, type MessageName } from '../../../src/contract/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createPeer } from '../../../src/voice/peer/index.ts';
import { createAnswer, placeCall, readOfferSdp } from '../../support/calls/caller.ts';
import { until } from '../../support/until.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { byteEdits, editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { writeJson } from '../inputs/json-edits.ts';
import { messageInputs } from '../inputs/schema-inputs.ts';
import { candidateLine, editSdp, sdpEdits, type SdpEdit } from '../inputs/sdp-edits.ts';

/** What a caller does after the upgrade. */
type Step =
  | { kind: 'message'; value: unknown; edits: ByteEdit[] }
  | {
      kind: 'frame';
      opcode: number;
      isFinal: boolean;
      reserved: number;
      isMasked: boolean;
      length: number | undefined;
      payload: Uint8Array;
      edits: ByteEdit[];
    }
  | { kind: 'answer'; edits: SdpEdit[]; hasIds: boolean }
  | { kind: 'candidate'; candidate: unknown }
  | { kind: 'wait' };

interface Caller {
  /** Lines of the request in addition to those of every caller. */
  headers: string[];
  edits: ByteEdit[];
  steps: Step[];
  ending: 'close' | 'destroy' | 'end';
}

const NAMES = [
  'StartCall',
  'WebrtcAnswer',
  'IceCandidate',
  'Caption',
  'EndCall',
  'CallReady',
] as const;

const START = { type: 'start_call', session_id: 's', audio_config: { codec: 'opus' } };

const message = (values: Arbitrary<unknown>): Arbitrary<Step> =>
  fc.record({ kind: fc.constant('message' as const), value: values, edits: rareByteEdits });

const frame: Arbitrary<Step> = fc.record({
  kind: fc.constant('frame' as const),
  opcode: fc.nat(15),
  isFinal: fc.boolean(),
  reserved: fc.constantFrom(0, 0, 0, 1, 4, 7),
  isMasked: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.boolean()),
  length: fc.option(fc.constantFrom(0, 1, 125, 126, 65_535, 65_536, 65_537, 2 ** 31, 2 ** 53), {
    nil: undefined,
    freq: 3,
  }),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constant(Buffer.from(JSON.stringify(START))),
    fc.constantFrom(
      Buffer.from([3, 0xe8]),
      Buffer.from([0, 0]),
      Buffer.from([3, 0xe8, 0xff]),
      Buffer.alloc(200, 'a'),
    ),
  ),
  edits: rareByteEdits,
});

const step: Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: message(fc.constant(START)) },
  ...NAMES.map((name) => ({ weight: 1, arbitrary: message(messageInputs(name)) })),
  { weight: 3, arbitrary: frame },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      edits: sdpEdits,
      hasIds: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('candidate' as const),
      candidate: fc.oneof(
        candidateLine,
        candidateLine.map((candidate) => ({ candidate })),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'wait' as const }) },
);

const caller: Arbitrary<Caller> = fc.record({
  headers: fc.array(
    fc.constantFrom(
      ...['Origin: https://evil.example', 'Sec-WebSocket-Protocol: x', 'Sec-WebSocket-Version: 12'],
      ...[
        'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
        'Sec-WebSocket-Key: x',
      ],
      ...[
        'Upgrade: h2c',
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
        'Authorization: Bearer x',
      ],
      ...[
        'x-sandbox-kit-fault: bad_sdp',
        'x-sandbox-kit-fault: no_media',
        'x-sandbox-kit-fault: dropped_connection',
      ],
      ...['x-sandbox-kit-fault: wrong_codec', 'x-sandbox-kit-fault: {"kind":"latency"}'],
    ),
    { maxLength: 1 },
  ),
  edits: fc.oneof({ weight: 12, arbitrary: fc.constant<ByteEdit[]>([]) }, byteEdits),
  steps: fc.array(step, { maxLength: 6, size: 'max' }),
  ending: fc.constantFrom('close', 'destroy', 'end'),
});

function encodeUpgrade({ headers, edits }: Caller, host: string): Buffer {
  const lines = [
    ...['GET /voice HTTP/1.1', `Host: ${host}`, 'Upgrade: websocket', 'Connection: Upgrade'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    ...['Sec-WebSocket-Protocol: voice-agent', ...headers],
  ];
  return editBytes(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), edits);
}

const TEXT = 1;

/** Writes a frame, whose header may contradict its payload. */
function encodeFrame(
  payload: Uint8Array,
  { opcode = TEXT, isFinal = true, reserved = 0, isMasked = true, length = payload.length } = {},
): Buffer {
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  if (length < 126) head[1] = mask | length;
  else if (length < 65_536) {
    head[1] = mask | 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  if (!isMasked) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  return Buffer.concat([head, key, payload.map((byte, nth) => byte ^ (key[nth % 4] ?? 0))]);
}

/** The messages that the agent may send. */
const SENT: Readonly<Record<string, MessageName>> = {
  call_ready: 'CallReady',
  conversation_update: 'ConversationUpdate',
  error: 'VoiceError',
};

/** Reads the frames that the agent sends after its response. */
class Received {
  #bytes: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  /** The last `call_ready`. */
  ready: Record<string, unknown> | undefined;
  problem: string | undefined;

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (!this.#isUpgraded) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0 || !this.#bytes.toString('latin1', 0, 12).startsWith('HTTP/1.1 101')) return;
      this.#isUpgraded = true;
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    while (this.#readFrame());
  }

  #readFrame(): boolean {
    const [first = 0, second = 0] = this.#bytes;
    if (this.#bytes.length < 2) return false;
    const start = second < 126 ? 2 : second === 126 ? 4 : 10;
    if (this.#bytes.length < start) return false;
    const length =
      second < 126
        ? second
        : second === 126
          ? this.#bytes.readUInt16BE(2)
          : Number(this.#bytes.readBigUInt64BE(2));
    if (this.#bytes.length < start + length) return false;
    const payload = this.#bytes.subarray(start, start + length);
    this.#bytes = this.#bytes.subarray(start + length);
    if ((first & 15) === TEXT) this.#check(payload.toString('utf8'));
    return true;
  }

  #check(text: string): void {
    const value = JSON.parse(text) as Record<string, unknown>;
    const name = SENT[String(value['type'])];
    const violations = name
      ? findViolations(name, value)
      : [{ pointer: '/type', expected: 'known' }];
    const [violation] = violations;
    if (violation)
      this.problem ??= `${violation.pointer} must be ${violation.expected}: ${text.slice(0, 300)}`;
    if (name === 'CallReady') this.ready = value;
  }
}

/** The agent waits for the rest of an upgrade, or of a frame. */
const QUIET_MS = 5;

const wait = (): Promise<void> => systemClock.sleep(QUIET_MS);

/** The parts of a call that exist before it. */
interface CallParts {
  host: string;
  /** An answer to any offer of the agent. */
  answer: (offer: string) => Promise<string>;
}

async function call(plan: Caller, { host, answer }: CallParts): Promise<void> {
  const [hostname, port] = host.split(':');
  const socket = connect(Number(port), hostname).setNoDelay();
  const received = new Received();
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => received.add(chunk));
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  await once(socket, 'connect');
  socket.write(encodeUpgrade(plan, host));
  for (const each of plan.steps) {
    if (socket.destroyed) break;
    await send(socket, each, { received, answer });
  }
  if (plan.ending === 'close') socket.write(encodeFrame(Buffer.from([3, 0xe8]), { opcode: 8 }));
  if (plan.ending === 'end') socket.end();
  await Promise.race([closed, wait()]);
  socket.destroy();
  if (received.problem !== undefined) throw new Violation(`The agent sent: ${received.problem}`);
}

async function send(
  socket: Socket,
  each: Step,
  { received, answer }: { received: Received; answer: CallParts['answer'] },
): Promise<void> {
  const sendJson = (value: unknown): void => {
    socket.write(encodeFrame(Buffer.from(writeJson(value))));
  };
  const ids = received.ready ?? { call_id: 'call_x' };
  switch (each.kind) {
    case 'wait':
      // Most offers take longer than one turn of the event loop.
      for (let turns = 0; turns < 10 && !received.ready; turns += 1) await wait();
      return;
    case 'message':
      socket.write(encodeFrame(editBytes(Buffer.from(writeJson(each.value)), each.edits)));
      return;
    case 'frame':
      socket.write(
        editBytes(
          encodeFrame(each.payload, { ...each, length: each.length ?? each.payload.length }),
          each.edits,
        ),
      );
      return;
    case 'candidate':
      sendJson({ type: 'ice_candidate', call_id: ids['call_id'], candidate: each.candidate });
      return;
    case 'answer': {
      const sdp = received.ready ? await answer(readOfferSdp(received.ready)) : 'v=0\r\n';
      sendJson(createAnswer(each.hasIds ? ids : {}, editSdp(sdp, each.edits)));
    }
  }
}

export default defineTarget<Caller[]>({
  about: 'upgrades, frames, messages, answers, and candidates of callers, to the reference agent',
  inputs: fc.array(caller, { minLength: 1, maxLength: 6, size: 'max' }),
  inputsPerRound: 60,
  countOf: (callers) => callers.reduce((sum, { steps }) => sum + 1 + steps.length, 0),
  async open() {
    const agent = await startAgent({ voice: { answerMsMax: 2_000 } });
    const { host } = new URL(agent.url);
    const answering = createPeer({ clock: systemClock });
    let first: Promise<string> | undefined;
    const answer = (offer: string): Promise<string> => (first ??= answering.createAnswer(offer));
    return {
      async send(callers) {
        await Promise.all(callers.map((plan) => call(plan, { host, answer })));
      },
      async reset() {
        await until('all calls have ended', () => agent.calls().open === 0);
        agent.reset();
        const working = await placeCall(agent.voiceUrl ?? '');
        await until('a call has audio', () => working.received.length > 2);
        await working.hangUp();
        await until('the call has ended', () => agent.calls().open === 0);
      },
      async close() {
        await answering.close();
        await agent.stop();
      },
    };
  },
});
