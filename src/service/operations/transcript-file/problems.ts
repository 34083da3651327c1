import { formatNumber } from '../../../report-kit/format.ts';
import { RequestError } from '../../requests/errors.ts';

/** A problem in a file of transcripts. */
export interface FileProblem {
  /** The row of a table, the line of a JSONL file, or the number of a transcript in a JSON file. */
  row: number;
  /** The column or the JSON pointer; empty for a whole row. */
  place: string;
  /** What was expected, and what was received. */
  problem: string;
}

/** The problems of a file: the first ones, and how many there are. */
export interface FileProblems {
  problems: FileProblem[];
  problemCount: number;
}

const PROBLEMS_KEPT_MAX = 100;

/** Counts a problem, and keeps it if it is one of the first. */
export function addProblem(found: FileProblems, problem: FileProblem): void {
  found.problemCount += 1;
  if (found.problems.length < PROBLEMS_KEPT_MAX) found.problems.push(problem);
}

/** Limits of a file, so that it is stored within seconds. */
export const FILE_LIMITS = { conversations: 20_000, turns: 100_000 };

/** Refuses a file that is too large as a whole. @throws RequestError `too_large`. */
export function checkSize(what: 'conversations' | 'turns', count: number): void {
  const max = FILE_LIMITS[what];
  if (count <= max) return;
  const message = `The file has more than ${formatNumber(max)} ${what}. Split it.`;
  throw new RequestError('too_large', message);
}
