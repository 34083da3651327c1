import { formatNumber } from '../../../report-kit/format.ts';

/** A row of a table. Rows are counted as spreadsheets show them: from 1, with empty ones. */
export interface CsvRow {
  row: number;
  cells: string[];
  /** The problem with the quotes or the size of a row. */
  problem?: string;
}

const CELLS_MAX = 1_000;

/** The longest text of a turn. */
export const TEXT_LENGTH_MAX = 1_000_000;

/**
 * Yields the rows of a CSV text (RFC 4180). Lines end with LF, CRLF, or CR; quotes inside cells that
 * do not start with one are text.
 * @param separator One character.
 */
export function* readCsv(text: string, separator: string): Generator<CsvRow> {
  const plainCell = new RegExp(`[^${separator}\\r\\n]*`, 'y');
  let at = 0;
  for (let row = 1; at < text.length; row += 1) {
    const found: CsvRow = { row, cells: [] };
    for (;;) {
      const cell =
        text[at] === '"' ? readQuoted(text, at) : { value: '', end: at, problem: undefined };
      plainCell.lastIndex = cell.end;
      const [rest = ''] = plainCell.exec(text) ?? [];
      if (rest !== '' && text[at] === '"') {
        cell.problem ??= `expected a separator after the closing quote, received ${JSON.stringify(rest.slice(0, 20))}`;
      }
      found.cells.push(cell.value + rest);
      if (cell.problem !== undefined) found.problem ??= cell.problem;
      at = cell.end + rest.length;
      if (text[at] !== separator) break;
      at += 1;
      if (found.cells.length < CELLS_MAX) continue;
      found.problem = `expected at most ${CELLS_MAX} cells, received more`;
      at = findLineEnd(text, at);
      break;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    yield found;
  }
}

/** Reads a cell in quotes that starts at an offset. Two quotes inside it mean one. */
function readQuoted(
  text: string,
  start: number,
): { value: string; end: number; problem: string | undefined } {
  let quoteAt = text.indexOf('"', start + 1);
  let hasQuotes = false;
  while (quoteAt >= 0 && text[quoteAt + 1] === '"') {
    hasQuotes = true;
    quoteAt = text.indexOf('"', quoteAt + 2);
  }
  const end = quoteAt < 0 ? text.length : quoteAt;
  const value = text.slice(start + 1, end);
  if (quoteAt < 0) {
    const problem = 'expected a closing quote for a cell of this row, received the end of the file';
    return { value, end, problem };
  }
  if (value.length > TEXT_LENGTH_MAX) {
    const problem = `expected at most ${formatNumber(TEXT_LENGTH_MAX)} characters in a cell, received ${formatNumber(value.length)}`;
    return { value, end: end + 1, problem };
  }
  const unescaped = hasQuotes ? value.replaceAll('""', '"') : value;
  return { value: unescaped, end: end + 1, problem: undefined };
}

function findLineEnd(text: string, from: number): number {
  const end = text.slice(from).search(/[\r\n]/);
  return end < 0 ? text.length : from + end;
}
