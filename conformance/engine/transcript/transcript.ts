import { parseJson } from '../../../src/platform/json.ts';
import {
  describeViolations,
  findViolations,
  type ExchangeRecord,
  type RunRecord,
} from '../../../src/contract/index.ts';

/** A recorded exchange with its parsed bodies. */
export interface Exchange extends ExchangeRecord {
  /** The response body as JSON; undefined if it is absent or not JSON, such as bytes that are not UTF-8. */
  json: unknown;
  /** The request body as JSON; undefined if it is absent or not JSON. */
  sent: unknown;
}

/** Everything that a run recorded: its settings, and all exchanges ordered by id. */
export interface Transcript {
  run: RunRecord;
  exchanges: Exchange[];
  /** When the peer stopped responding. The engine adds it before it judges. */
  crashes?: readonly Crash[];
}

/** A time when the peer did not respond, after it had responded before. */
export interface Crash {
  /** Milliseconds from the first failed connection until the peer responded or the wait ended. */
  downMs: number;
  cameBack: boolean;
  /** The requests and calls that were in flight when the peer stopped. */
  suspects: readonly Exchange[];
  /** The suspects whose connection failed again when the request was sent alone. */
  culprits: readonly Exchange[];
  /** Requests that never reached the peer. */
  refused: readonly Exchange[];
}

/** Parses the bodies of a recorded exchange. */
export function toExchange(record: ExchangeRecord): Exchange {
  return {
    ...record,
    json: record.response?.bodyBase64 === undefined ? parseJson(record.response?.body) : undefined,
    sent: parseJson(record.request.body),
  };
}

/** A recording can't be read. The message names the line and what is wrong. */
export class InvalidRecordingError extends Error {
  override name = 'InvalidRecordingError';
}

/**
 * Reads a recording: NDJSON with a run record in the first line, followed by exchange records.
 *
 * @throws {InvalidRecordingError} if a line is not the expected record.
 */
export function readTranscript(ndjson: string): Transcript {
  const lines = ndjson.split('\n').filter((line) => line.trim() !== '');
  const [run, ...rest] = lines.map((line, index) => readLine(line, index + 1));
  if (run?.record !== 'run') throw new InvalidRecordingError(NO_RUN);
  const exchanges = rest.map((record, index) => {
    if (record.record === 'exchange') return toExchange(record);
    throw new InvalidRecordingError(`line ${index + 2}: expected an exchange record`);
  });
  return { run, exchanges: exchanges.sort((a, b) => a.id - b.id) };
}

const NO_RUN = 'line 1: expected a run record, such as {"record":"run",…}';

function readLine(line: string, number: number): RunRecord | ExchangeRecord {
  const value = parseJson(line) as { record?: string } | null | undefined;
  if (value === undefined) throw new InvalidRecordingError(`line ${number}: not JSON`);
  if (number === 1 && value?.record !== 'run') throw new InvalidRecordingError(NO_RUN);
  const problems = findViolations(value?.record === 'run' ? 'RunRecord' : 'ExchangeRecord', value);
  if (problems.length > 0) {
    throw new InvalidRecordingError(`line ${number}: ${describeViolations(problems)}`);
  }
  return value as RunRecord | ExchangeRecord;
}

/** Writes a transcript as NDJSON, in the format that `readTranscript` reads. */
export function writeTranscript({ run, exchanges }: Pick<Transcript, 'run' | 'exchanges'>): string {
  const records = exchanges.map(({ json, sent, ...record }) => record);
  return [run, ...records].map((record) => `${JSON.stringify(record)}\n`).join('');
}
