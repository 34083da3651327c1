import type { TranscriptUpload } from '../../../contract/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { yieldPeriodically } from '../../../platform/event-loop.ts';
import { RequestError } from '../../requests/errors.ts';
import { checkCandidate, convertCandidate, type Candidate } from './candidate.ts';
import { readTable } from './csv-rows.ts';
import { readJson, readJsonLines } from './json-rows.ts';
import { addProblem, checkSize, type FileProblems } from './problems.ts';

/** The formats of a file with transcripts. */
export const transcriptFormats = ['json', 'jsonl', 'csv'] as const;

export type TranscriptFormat = (typeof transcriptFormats)[number];

/** What a row is called in each format. */
export const rowNouns = {
  json: 'transcript',
  jsonl: 'line',
  csv: 'row',
} as const satisfies Record<TranscriptFormat, string>;

/** What was found in a file with transcripts. */
export interface TranscriptFile<Item> extends FileProblems {
  format: TranscriptFormat;
  /** The conversations without a problem. */
  items: Item[];
  /** How many conversations have a problem. */
  invalid: number;
}

/** How long reading may block the event loop. */
const BLOCKING_MS_MAX = 10;

/**
 * Reads the transcripts in a text.
 * @param format Default: the format that the text seems to have.
 * @param convert Returns what is needed of a transcript, with an id that identifies its conversation,
 * or throws an InvalidDocumentError.
 * @throws RequestError if the text as a whole is not in the format, or too large.
 */
export async function readTranscripts<Item extends { id: string }>(
  text: string,
  format: TranscriptFormat | undefined,
  convert: (upload: TranscriptUpload) => Item,
): Promise<TranscriptFile<Item>> {
  if (text.trim() === '') throw new RequestError('bad_request', 'The file is empty.');
  const found: TranscriptFile<Item> = {
    format: format ?? recognizeFormat(text),
    items: [],
    invalid: 0,
    problems: [],
    problemCount: 0,
  };
  const rowById = new Map<string, number>();
  const yieldIfDue = yieldPeriodically(systemClock, BLOCKING_MS_MAX);
  let turns = 0;
  for (const candidate of readCandidates(text, found)) {
    await yieldIfDue();
    if (!candidate) continue;
    const item = readCandidate(candidate, { found, convert, rowById });
    if (item) found.items.push(item);
    else found.invalid += 1;
    const { turns: own } = (candidate.value ?? {}) as { turns?: unknown };
    checkSize('turns', (turns += Array.isArray(own) ? own.length : 0));
  }
  if (found.items.length + found.problemCount === 0) {
    throw new RequestError('bad_request', 'The file contains no conversation.');
  }
  found.problems.sort((left, right) => left.row - right.row);
  return found;
}

/** Yields what may be a transcript; undefined where the caller may pause. */
function readCandidates(
  text: string,
  found: FileProblems & { format: TranscriptFormat },
): Generator<Candidate | undefined> {
  if (found.format === 'csv') return readTable(text, found);
  return found.format === 'json' ? readJson(text) : readJsonLines(text, found);
}

/** Returns the item of a candidate, or adds its problems. */
function readCandidate<Item extends { id: string }>(
  candidate: Candidate,
  {
    found,
    convert,
    rowById,
  }: {
    found: TranscriptFile<Item>;
    convert: (upload: TranscriptUpload) => Item;
    rowById: Map<string, number>;
  },
): Item | undefined {
  const { row, isBroken, locate, value } = candidate;
  const problems = value === undefined ? [] : checkCandidate(candidate);
  for (const problem of problems) addProblem(found, problem);
  if (isBroken || problems.length > 0) return undefined;
  const converted = convertCandidate(candidate, convert);
  if ('problem' in converted) {
    addProblem(found, converted.problem);
    return undefined;
  }
  const { item } = converted;
  const earlier = rowById.get(item.id);
  if (earlier !== undefined) {
    const problem = `expected a conversation that is not in the file yet, received that of ${rowNouns[found.format]} ${earlier}`;
    addProblem(found, { ...locate('/session_id'), problem });
    return undefined;
  }
  rowById.set(item.id, row);
  return item;
}

/** Recognizes the format of a text by its first line. */
function recognizeFormat(text: string): TranscriptFormat {
  const start = text.trimStart();
  if (start.startsWith('[')) return 'json';
  if (!start.startsWith('{')) return 'csv';
  const lineEnd = start.indexOf('\n');
  const rest = lineEnd < 0 ? '' : start.slice(lineEnd).trimStart();
  const isLine = start.slice(0, Math.max(0, lineEnd)).trimEnd().endsWith('}');
  return rest !== '' && (isLine || rest.startsWith('{')) ? 'jsonl' : 'json';
}
