/** Texts of scenarios, personas, seed data, and transcripts, to their readers. */
import fc, { type Arbitrary } from 'fast-check';
import { stringify } from 'yaml';
import { isMessage } from '../../../src/contract/index.ts';
import { readDocumentText } from '../../../library/input/documents.ts';
import { RequestError } from '../../../src/service/requests/errors.ts';
import { decodeText } from '../../../src/service/operations/transcript-file/decode-text.ts';
import { readTranscripts } from '../../../src/service/operations/transcript-file/read-transcripts.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { byteEdits, editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { writeJson } from '../inputs/json-edits.ts';
import { messageInputs } from '../inputs/schema-inputs.ts';
import { WORDS } from '../inputs/words.ts';

const NAMES = ['Scenario', 'Persona', 'SeedDocument', 'EvalDefinition'] as const;

/** A document, or a file of transcripts. */
type Input =
  | {
      kind: 'document';
      name: (typeof NAMES)[number];
      isYaml: boolean;
      value: unknown;
      edits: ByteEdit[];
    }
  | {
      kind: 'transcripts';
      format: 'csv' | 'json' | 'jsonl' | undefined;
      text: string;
      edits: ByteEdit[];
    };

const documents = (name: (typeof NAMES)[number]): Arbitrary<Input> =>
  fc.record({
    kind: fc.constant('document' as const),
    name: fc.constant(name),
    isYaml: fc.boolean(),
    value: messageInputs(name),
    edits: rareByteEdits,
  });

/** A cell, quoted in most cases. */
const cell = fc
  .tuple(fc.constantFrom('a', 'Hello', '2026-11-20T09:30:00Z', '{"k":1}', ...WORDS), fc.nat(9))
  .map(([text, quotes]) => (quotes === 0 ? text : `"${text.replaceAll('"', '""')}"`));

const columns = fc.subarray(
  [
    ...[
      'session_id',
      'user_input',
      'agent_response',
      'started_at',
      'ended_at',
      'metadata',
      'run',
      'evals',
    ],
    ...['evaluation_metadata', 'Session ID', 'x', ''],
  ],
  { minLength: 1 },
);

const csv = fc
  .tuple(
    columns,
    fc.array(fc.array(cell, { maxLength: 10 }), { maxLength: 6 }),
    fc.constantFrom(',', ';', '\t'),
    fc.constantFrom('\n', '\r\n', '\r'),
  )
  .map(([head, rows, comma, end]) => [head, ...rows].map((row) => row.join(comma)).join(end));

const json = fc.oneof(
  messageInputs('TranscriptUpload').map((value) => JSON.stringify(value)),
  fc.array(messageInputs('TranscriptUpload'), { maxLength: 4 }).map((list) => JSON.stringify(list)),
  fc
    .array(messageInputs('TranscriptUpload'), { maxLength: 4 })
    .map((list) => list.map((value) => JSON.stringify(value)).join('\n')),
);

const transcripts: Arbitrary<Input> = fc.record({
  kind: fc.constant('transcripts' as const),
  format: fc.constantFrom('csv' as const, 'json', 'jsonl', undefined),
  text: fc.oneof(csv, json),
  edits: byteEdits,
});

function encode(sent: Input): Buffer {
  if (sent.kind === 'transcripts') return editBytes(Buffer.from(sent.text), sent.edits);
  const { value, isYaml, edits } = sent;
  const text = isYaml ? writeYaml(value) : writeJson(value);
  return editBytes(Buffer.from(text), edits);
}

/** Writes YAML; JSON if the value is too deep for it. */
function writeYaml(value: unknown): string {
  try {
    return stringify(value, { lineWidth: 100 });
  } catch {
    return writeJson(value);
  }
}

function readDocument(sent: Extract<Input, { kind: 'document' }>): void {
  const { name } = sent;
  const read = readDocumentText(encode(sent).toString('utf8'), name);
  if (read.problem !== undefined) {
    if (!/[.?]$/.test(read.problem)) throw new Violation(`Not a sentence: ${read.problem}`);
    const { line, column } = read.place;
    if (!(line >= 1 && column >= 1)) throw new Violation(`No place: ${line}:${column}`);
    checkAccepted(sent, read.problem);
    return;
  }
  if (!isMessage(name, read.value)) throw new Violation(`Read what is not a ${name}.`);
}

/** A valid document in JSON is accepted. */
function checkAccepted(
  { name, value, edits, isYaml }: Extract<Input, { kind: 'document' }>,
  problem: string,
): void {
  if (isYaml || edits.length > 0) return;
  const written: unknown = JSON.parse(writeJson(value));
  if (isMessage(name, written)) throw new Violation(`A valid ${name} is refused: ${problem}`);
}

async function readFile(sent: Extract<Input, { kind: 'transcripts' }>): Promise<void> {
  try {
    const text = decodeText(encode(sent));
    const { problems } = await readTranscripts(text, sent.format, (upload) => ({
      ...upload,
      id: upload.session_id,
    }));
    for (const { problem } of problems) {
      if (problem === '') throw new Violation('A problem has no text.');
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
}

export default defineTarget<Input>({
  about: 'texts of scenarios, personas, seed data, evals, and transcripts, to their readers',
  inputs: fc.oneof(...NAMES.map(documents), { weight: 2, arbitrary: transcripts }),
  inputsPerRound: 500,
  open: () =>
    Promise.resolve({
      send: (sent) => (sent.kind === 'document' ? readDocument(sent) : readFile(sent)),
      describe(sent) {
        const name = sent.kind === 'document' ? sent.name : `transcripts, ${String(sent.format)}`;
        return `${name}: ${encode(sent).toString('utf8').slice(0, 4_000)}`;
      },
      reset: () => undefined,
      close: () => undefined,
    }),
});
