/** Bodies of trace requests, to the decoder of the service and to `lint-traces`, without HTTP. */
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { lintTraces } from '../../../src/service/index.ts';
import { decodeBody, type Decoded } from '../../../src/service/ingest/decode-body.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { byteEdits, editBytes, type ByteEdit } from '../inputs/byte-edits.ts';
import { toProtobuf, traceInputs, traces } from '../inputs/trace-inputs.ts';

/** A body in each of its forms, and requests that mean the same in both formats. */
type Input =
  | { kind: 'json'; value: unknown; edits: ByteEdit[] }
  | { kind: 'protobuf'; value: unknown; edits: ByteEdit[] }
  | { kind: 'gzip'; value: unknown; edits: ByteEdit[] }
  | { kind: 'both'; value: unknown };

const of = (kind: 'json' | 'protobuf' | 'gzip', value: Arbitrary<unknown>): Arbitrary<Input> =>
  fc.record({ kind: fc.constant(kind), value, edits: byteEdits });

const input: Arbitrary<Input> = fc.oneof(
  of('json', traceInputs),
  of('protobuf', traces),
  { weight: 1, arbitrary: of('gzip', traceInputs) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('both' as const), value: traces }) },
);

const encodeJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function encode({ kind, value, ...more }: Input): Buffer {
  const edits = 'edits' in more ? more.edits : [];
  if (kind === 'protobuf') return editBytes(toProtobuf(value) ?? encodeJson(value), edits);
  if (kind === 'gzip') return editBytes(gzipSync(encodeJson(value)), edits);
  return editBytes(encodeJson(value), edits);
}

/** Decodes a body, and checks the result. */
function decode(bytes: Uint8Array, contentType: 'json' | 'protobuf', gzip = false): Decoded {
  const body = new Uint8Array(bytes).buffer;
  const read = decodeBody({ ownerId: 'o', receivedAtMs: 0, contentType, gzip, body });
  const decoded = read({ findConversations: () => new Map([['0'.repeat(32), 'c']]) });
  if (decoded.kind === 'failed') throw new Violation(`The decoder failed: ${decoded.message}`);
  if ('message' in decoded && decoded.message === '')
    throw new Violation('An error has no message.');
  return decoded;
}

/** Ids that can't be bytes, which protobuf requires. */
const NOT_BYTES = /"(?:traceId|spanId|parentSpanId)":"(?!(?:[0-9A-Fa-f]{2})*")/;

/** Checks that both formats are read alike. */
function compareFormats(value: unknown): void {
  if (NOT_BYTES.test(JSON.stringify(value))) return;
  const protobuf = toProtobuf(value);
  const json = decode(encodeJson(value), 'json');
  // JSON can say what protobuf can't, such as times that are not integers.
  if (!protobuf || json.kind === 'malformed') return;
  const other = decode(protobuf, 'protobuf');
  const [one, two] = [json, other].map(({ bytes: _, ...rest }) => rest);
  if (!isDeepStrictEqual(one, two)) {
    throw new Violation(`JSON and protobuf differ: ${JSON.stringify(one)}\n${JSON.stringify(two)}`);
  }
}

export default defineTarget<Input>({
  about: 'bodies of trace requests, to the decoder and to lint-traces',
  inputs: input,
  inputsPerRound: 2_000,
  open: () =>
    Promise.resolve({
      send(sent) {
        if (sent.kind === 'both') compareFormats(sent.value);
        const bytes = encode(sent);
        decode(bytes, sent.kind === 'protobuf' ? 'protobuf' : 'json', sent.kind === 'gzip');
        const { refused, spans } = lintTraces(bytes, {});
        if (refused?.code === 'failed')
          throw new Violation(`lint-traces failed: ${refused.message}`);
        if (refused && spans > 0) throw new Violation('A refused request has spans.');
      },
      describe: (sent) =>
        `${sent.kind}: ${JSON.stringify(encode(sent).toString('latin1').slice(0, 4_000))}`,
      reset: () => undefined,
      close: () => undefined,
    }),
});
