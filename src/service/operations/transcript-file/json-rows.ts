import { errorMessage } from '../../../platform/error-origin.ts';
import { parseBoundedJson } from '../../requests/bounded-json.ts';
import { RequestError } from '../../requests/errors.ts';
import type { Candidate } from './candidate.ts';
import { addProblem, checkSize, type FileProblems } from './problems.ts';

/** Yields the transcripts of a JSON text: one, or an array of them. @throws RequestError. */
export function* readJson(text: string): Generator<Candidate> {
  const value = parseFile(text);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  checkSize('conversations', list.length);
  for (const [index, item] of list.entries()) yield toCandidate(item, index + 1);
}

/** Yields the transcripts of a JSONL text, one per line. Empty lines are skipped. */
export function* readJsonLines(
  text: string,
  found: FileProblems,
): Generator<Candidate | undefined> {
  let [row, count] = [0, 0];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    at = end < 0 ? text.length : end + 1;
    row += 1;
    if (line === '') {
      yield undefined;
      continue;
    }
    checkSize('conversations', (count += 1));
    try {
      yield toCandidate(parseBoundedJson(line, 'The line'), row);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const problem = `expected a JSON object on this line, received ${preview(line)}: ${error.message}`;
      addProblem(found, { row, place: '', problem });
      yield { value: undefined, row, isBroken: true, locate: () => ({ row, place: '' }) };
    }
  }
}

const toCandidate = (value: unknown, row: number): Candidate => ({
  value,
  row,
  isBroken: false,
  locate: (place) => ({ row, place }),
});

const preview = (text: string): string =>
  JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}...` : text);

function parseFile(text: string): unknown {
  try {
    return parseBoundedJson(text, 'The file');
  } catch (error) {
    if (!(error instanceof RequestError) || !(error.cause instanceof SyntaxError)) throw error;
    const message = errorMessage(error.cause);
    const line = findErrorLine(text, message);
    const where = line === undefined ? '' : ` in line ${line}`;
    const reason = message
      .replace(/ (in JSON at position .*|is not valid JSON)$/s, '')
      .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
    throw new RequestError('bad_request', `The file is not valid JSON${where}: ${reason}.`);
  }
}

/** Finds the line that an error of `JSON.parse` is about, by the position or the quote in its message. */
function findErrorLine(text: string, message: string): number | undefined {
  const at = findErrorOffset(text, message);
  return at === undefined ? undefined : text.slice(0, at).split('\n').length;
}

function findErrorOffset(text: string, message: string): number | undefined {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  if (message.startsWith('Unexpected end')) return text.trimEnd().length;
  // The message quotes ten characters before the mistake, and some after it.
  const [, quote = ''] = /, \.{3}"(.+)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  const at = quote === '' ? -1 : text.indexOf(quote);
  const isOnlyOne = at >= 0 && text.indexOf(quote, at + 1) < 0;
  return isOnlyOne ? at + QUOTED_BEFORE : undefined;
}

const QUOTED_BEFORE = 10;
