import {
  explain,
  violations,
  type ExchangeRecord,
  type RunRecord,
} from '../../../src/contract/index.ts';

/** A recorded exchange with what the checks read from it. */
export interface Exchange extends ExchangeRecord {
  /** The body of the answer as JSON; undefined where there is none or it is not JSON. */
  json: unknown;
  /** The body of the request as JSON; undefined likewise. */
  sent: unknown;
}

/** A check run as it is judged: what was asked for, and every exchange in order of its id. */
export interface Transcript {
  run: RunRecord;
  exchanges: Exchange[];
}

/** A recorded exchange as the checks see it. */
export function toExchange(record: ExchangeRecord): Exchange {
  return {
    ...record,
    json: parse(record.response?.body),
    sent: parse(record.request.body),
  };
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Why a recording can't be read. */
export class InvalidRecordingError extends Error {
  override name = 'InvalidRecordingError';
}

/**
 * Reads a recording: NDJSON, a run record first, then exchange records.
 *
 * @throws {InvalidRecordingError} with the line number and what is wrong there.
 */
export function readTranscript(ndjson: string): Transcript {
  const lines = ndjson.split('\n').filter((line) => line.trim() !== '');
  const [first, ...rest] = lines.map((line, index) => readLine(line, index + 1));
  if (first?.record !== 'run') throw new InvalidRecordingError('line 1: a run record is expected');
  const exchanges = rest.map((record, index) => {
    if (record.record === 'exchange') return toExchange(record);
    throw new InvalidRecordingError(`line ${index + 2}: an exchange record is expected`);
  });
  return { run: first, exchanges: exchanges.sort((one, other) => one.id - other.id) };
}

function readLine(line: string, number: number): RunRecord | ExchangeRecord {
  const value = parse(line) as { record?: string } | null | undefined;
  if (value === undefined) throw new InvalidRecordingError(`line ${number}: not JSON`);
  const found = violations(value?.record === 'run' ? 'RunRecord' : 'ExchangeRecord', value);
  if (found.length > 0) throw new InvalidRecordingError(`line ${number}: ${explain(found)}`);
  return value as RunRecord | ExchangeRecord;
}

/** Writes a transcript as NDJSON, the form that `readTranscript` reads. */
export function writeTranscript({ run, exchanges }: Transcript): string {
  const records = exchanges.map(({ json, sent, ...record }) => record);
  return [run, ...records].map((record) => `${JSON.stringify(record)}\n`).join('');
}
