/** Audio that sandboxes and speech endpoints send, to its readers: Opus packets, Ogg and WAV files. */
import fc, { type Arbitrary } from 'fast-check';
import {
  countPacketTicks,
  createDecoder,
  readClips,
  readOgg,
  writeOgg,
} from '../../../src/voice/opus/index.ts';
import { delimitPacket } from '../../../src/voice/opus/packet.ts';
import { OggError } from '../../../src/voice/opus/ogg.ts';
import { readWav, WavError } from '../../../src/voice/speech/wav.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { byteEdits, editBytes, type ByteEdit } from '../inputs/byte-edits.ts';

type Input = { edits: ByteEdit[] } & (
  | { kind: 'packet'; packet: number; bytes: Uint8Array | undefined }
  | { kind: 'ogg'; packets: number }
  | {
      kind: 'wav';
      coding: number;
      channels: number;
      rate: number;
      bits: number;
      length: number;
      bytes: Uint8Array;
    }
);

const input: Arbitrary<Input> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('packet' as const),
      packet: fc.nat(200),
      edits: byteEdits,
      bytes: fc.option(fc.uint8Array({ maxLength: 300, size: 'max' }), { nil: undefined }),
    }),
  },
  fc.record({ kind: fc.constant('ogg' as const), packets: fc.nat(60), edits: byteEdits }),
  fc.record({
    kind: fc.constant('wav' as const),
    edits: byteEdits,
    coding: fc.constantFrom(1, 3, 0xfffe, 0, 7),
    channels: fc.constantFrom(1, 2, 8, 0, 9, 65_535),
    rate: fc.constantFrom(48_000, 8_000, 192_000, 0, 7_999, 4_294_967_295),
    bits: fc.constantFrom(8, 16, 24, 32, 64, 0, 7, 65_535),
    length: fc.constantFrom(0, 1, 1_000, 4_294_967_295),
    bytes: fc.uint8Array({ maxLength: 64 }),
  }),
);

/** Writes a WAV file with any values in its header. */
function makeWav({
  coding,
  channels,
  rate,
  bits,
  length,
  bytes,
}: Extract<Input, { kind: 'wav' }>): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(coding, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(length, 40);
  return Buffer.concat([head, bytes]);
}

/** Calls a reader that may throw one kind of error. */
function read(reader: () => unknown, ErrorType: new (...args: never[]) => Error): void {
  try {
    reader();
  } catch (error) {
    if (!(error instanceof ErrorType)) throw error;
  }
}

export default defineTarget<Input>({
  about: 'Opus packets, Ogg and WAV files, to their readers',
  inputs: input,
  inputsPerRound: 3_000,
  async open() {
    const packets = (await readClips()).flatMap((clip) => clip.packets);
    const decoder = await createDecoder();
    const encode = (sent: Input): Buffer => {
      if (sent.kind === 'wav') return editBytes(makeWav(sent), sent.edits);
      if (sent.kind === 'ogg')
        return editBytes(writeOgg(packets.slice(0, sent.packets)), sent.edits);
      return editBytes(
        sent.bytes ?? packets[sent.packet % packets.length] ?? Buffer.alloc(0),
        sent.edits,
      );
    };
    return {
      send(sent) {
        const bytes = encode(sent);
        if (sent.kind === 'wav') read(() => readWav(bytes), WavError);
        else if (sent.kind === 'ogg') read(() => readOgg(bytes), OggError);
        else {
          const ticks = countPacketTicks(bytes);
          if (ticks !== undefined && ticks > 5_760)
            throw new Violation(`A packet of ${ticks} ticks.`);
          delimitPacket(bytes);
          decoder.decode(bytes);
        }
      },
      describe: (sent) => `${sent.kind}: ${encode(sent).toString('hex').slice(0, 4_000)}`,
      reset: () => undefined,
      close: () => decoder.free(),
    };
  },
});
