import { findViolations, schemas, type TranscriptUpload } from '../../../contract/index.ts';
import { formatNumber } from '../../../report-kit/format.ts';
import { InvalidDocumentError } from '../../requests/errors.ts';
import { TEXT_LENGTH_MAX } from './csv.ts';
import type { FileProblem } from './problems.ts';

/** A value that may be a transcript, and its place in the file. */
export interface Candidate {
  value: unknown;
  /** Number of its first row. */
  row: number;
  /** Whether a problem in one of its rows is known already. */
  isBroken: boolean;
  /** Returns the place in the file of a JSON pointer into the value. */
  locate: (pointer: string) => Pick<FileProblem, 'row' | 'place'>;
}

const VIOLATIONS_MAX = 1_000;
const FIELDS_MAX = 20;
const EVALS_MAX = 1_000;
const TURNS_MAX = schemas.TranscriptUpload.properties.turns.maxItems;

/** Returns the problems of a candidate; none if its value is a `TranscriptUpload`. */
export function checkCandidate({ value, locate }: Candidate): FileProblem[] {
  const excess = findExcess(value);
  const violations = excess ? [excess] : findViolations('TranscriptUpload', value);
  return violations.slice(0, VIOLATIONS_MAX).map(({ pointer, expected, received }) => ({
    ...locate(pointer),
    problem: `expected ${expected}, received ${received}`,
  }));
}

interface Excess {
  pointer: string;
  expected: string;
  received: string;
}

/** Finds what is too large to be stored, or would make the validator collect millions of violations. */
function findExcess(value: unknown): Excess | undefined {
  const { turns, evals } = (value ?? {}) as Partial<Record<'turns' | 'evals', unknown>>;
  return (
    findLongList(turns, 'turns', TURNS_MAX) ??
    findLongList(evals, 'evals', EVALS_MAX) ??
    findWideObject(value, '') ??
    (Array.isArray(turns) ? (turns as unknown[]) : [])
      .map((turn, index) => {
        const pointer = `/turns/${index}`;
        return findWideObject(turn, pointer) ?? findLongText(turn, pointer);
      })
      .find((excess) => excess !== undefined)
  );
}

function findLongList(list: unknown, name: string, max: number): Excess | undefined {
  if (!Array.isArray(list) || list.length <= max) return undefined;
  const expected = `at most ${formatNumber(max)} ${name}`;
  return { pointer: `/${name}`, expected, received: formatNumber(list.length) };
}

function findWideObject(value: unknown, pointer: string): Excess | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { length } = Object.keys(value);
  if (length <= FIELDS_MAX) return undefined;
  return { pointer, expected: `at most ${FIELDS_MAX} fields`, received: formatNumber(length) };
}

function findLongText(turn: unknown, pointer: string): Excess | undefined {
  for (const name of ['user_input', 'agent_response'] as const) {
    const text = (turn as Partial<Record<typeof name, unknown>> | null)?.[name];
    if (typeof text !== 'string' || text.length <= TEXT_LENGTH_MAX) continue;
    const expected = `at most ${formatNumber(TEXT_LENGTH_MAX)} characters`;
    return { pointer: `${pointer}/${name}`, expected, received: formatNumber(text.length) };
  }
  return undefined;
}

/**
 * Converts a candidate without problems.
 * @param convert Throws an InvalidDocumentError if the transcript refers to what does not exist.
 */
export function convertCandidate<Item>(
  { value, locate }: Candidate,
  convert: (upload: TranscriptUpload) => Item,
): { item: Item } | { problem: FileProblem } {
  try {
    return { item: convert(value as TranscriptUpload) };
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    const { pointer, problem } = error;
    return { problem: { ...locate(pointer), problem: problem.slice(pointer.length).trim() } };
  }
}
