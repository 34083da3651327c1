import { formatValue } from '../../../contract/index.ts';
import { formatList } from '../../../report-kit/format.ts';
import { didYouMean } from '../../../platform/suggest.ts';
import { parseBoundedJson } from '../../requests/bounded-json.ts';
import { RequestError } from '../../requests/errors.ts';
import type { Candidate } from './candidate.ts';
import { readCsv, type CsvRow } from './csv.ts';
import { addProblem, checkSize, type FileProblems } from './problems.ts';

/** A column of a CSV file. */
interface Column {
  name: string;
  isRequired?: boolean;
  /** Whether the cells contain JSON. */
  isJson?: boolean;
  /** Whether it is about a turn; the others are about the conversation. */
  isOfTurn?: boolean;
  meaning: string;
  example: string;
}

/** The columns of a CSV file, which are named after the fields of the JSON formats. */
export const csvColumns: readonly Column[] = [
  {
    name: 'session_id',
    isRequired: true,
    example: 't-1',
    meaning: 'The conversation. All rows with the same value are one conversation, in their order.',
  },
  {
    name: 'user_input',
    isRequired: true,
    isOfTurn: true,
    example: 'Where is my order?',
    meaning: 'What the user said.',
  },
  {
    name: 'agent_response',
    isRequired: true,
    isOfTurn: true,
    example: 'It was shipped.',
    meaning: 'What the agent answered.',
  },
  {
    name: 'evaluation_metadata',
    isJson: true,
    isOfTurn: true,
    example: '{"order_found":true}',
    meaning: 'Evaluation hints of the turn: a JSON object.',
  },
  {
    name: 'started_at',
    example: '2026-11-20T09:30:00Z',
    meaning: 'When the conversation started (ISO 8601). Default: now.',
  },
  {
    name: 'metadata',
    isJson: true,
    example: '{"tier":"gold"}',
    meaning: 'Metadata of the conversation: a JSON object.',
  },
  { name: 'run', example: 'Week 47', meaning: 'The run of the conversation.' },
  {
    name: 'evals',
    isJson: true,
    example: '["found","polite"]',
    meaning: 'Evals that score the conversation: a JSON array of their ids.',
  },
];

const columnNames = csvColumns.map(({ name }) => name);
const requiredNames = csvColumns.filter(({ isRequired }) => isRequired).map(({ name }) => name);
const SEPARATORS = [',', ';', '\t'] as const;
const NAMES_SHOWN_MAX = 8;
/** How many empty rows may precede the header. */
const EMPTY_ROWS_MAX = 1_000;

/** A conversation, as far as it was read. */
interface Conversation {
  value: Record<string, unknown> & { turns: Record<string, unknown>[] };
  isBroken: boolean;
  /** The row of each turn. */
  rows: number[];
  /** The row and the text of each cell about the conversation, by column. */
  said: Map<string, { row: number; cell: string }>;
}

/**
 * Reads a CSV text with one turn per row. Yields undefined after each row, and the conversations at the
 * end. @throws RequestError if the header does not name the columns.
 */
export function* readTable(text: string, found: FileProblems): Generator<Candidate | undefined> {
  const rows = readCsv(text, findSeparator(text));
  const columns = readHeader(rows, found);
  const conversations = new Map<string, Conversation>();
  for (const row of rows) {
    checkSize('turns', row.row - 1);
    const isEmpty = row.problem === undefined && row.cells.every((cell) => cell === '');
    if (!isEmpty) readRow(row, { columns, conversations, found });
    yield undefined;
  }
  checkSize('conversations', conversations.size);
  for (const { value, isBroken, rows: rowNumbers, said } of conversations.values()) {
    const row = rowNumbers[0] ?? 0;
    const locate: Candidate['locate'] = (pointer) => {
      const [, name = '', index = '', field] = pointer.split('/');
      return name === 'turns'
        ? { row: rowNumbers[Number(index)] ?? row, place: field ?? '' }
        : { row: said.get(name)?.row ?? row, place: name };
    };
    // Without a single turn, the problems of its rows are known already.
    yield { value: value.turns.length === 0 ? undefined : value, row, isBroken, locate };
  }
}

/** Finds the separator that gives the first row the most columns. */
function findSeparator(text: string): string {
  const counts = SEPARATORS.map((separator) => {
    const header = findHeader(readCsv(text, separator));
    return header?.cells.filter((cell) => columnNames.includes(toName(cell))).length ?? 0;
  });
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Returns the first row that is not empty. The generator yields the rows after it. */
function findHeader(rows: Generator<CsvRow>): CsvRow | undefined {
  // A `for` loop would end the generator.
  for (let next = rows.next(); !next.done; next = rows.next()) {
    if (next.value.cells.some((cell) => cell.trim() !== '')) return next.value;
    if (next.value.row >= EMPTY_ROWS_MAX) break;
  }
  return undefined;
}

const toName = (cell: string): string => cell.trim().toLowerCase();

/** Reads the names of the columns; undefined for an unknown one. @throws RequestError. */
function readHeader(rows: Generator<CsvRow>, found: FileProblems): (Column | undefined)[] {
  const { cells = [], row = 1 } = findHeader(rows) ?? {};
  const names = cells.map(toName);
  const missing = requiredNames.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const shown = formatList(
      cells.map((cell) => formatValue(cell)),
      NAMES_SHOWN_MAX,
    );
    const message =
      `The first row must name the columns ${formatList(requiredNames)}; ` +
      `${formatList(missing)} ${missing.length === 1 ? 'is' : 'are'} missing. Received ${shown || 'nothing'}.`;
    throw new RequestError('bad_request', message);
  }
  const repeated = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  if (repeated !== undefined) {
    const message = `The first row names the column ${formatValue(repeated)} twice. Remove one.`;
    throw new RequestError('bad_request', message);
  }
  return names.map((name, index) => {
    const column = csvColumns.find((known) => known.name === name);
    if (!column && name !== '') {
      const hint = didYouMean(name, columnNames, `The columns are ${formatList(columnNames)}.`);
      const problem = `expected a known column, received ${formatValue(cells[index])}. ${hint}`;
      addProblem(found, { row, place: formatValue(cells[index]), problem });
    }
    return column;
  });
}

interface TableState {
  columns: readonly (Column | undefined)[];
  conversations: Map<string, Conversation>;
  found: FileProblems;
}

/** Adds the turn of a row to its conversation. */
function readRow(
  { row, cells, problem }: CsvRow,
  { columns, conversations, found }: TableState,
): void {
  const id = cells[columns.findIndex((column) => column?.name === 'session_id')] ?? '';
  let conversation = conversations.get(id);
  if (!conversation) {
    const value = { session_id: id, turns: [] };
    conversation = { value, isBroken: false, rows: [], said: new Map() };
    if (id !== '') conversations.set(id, conversation);
  }
  const { value, said } = conversation;
  const report = (place: string, text: string): void => {
    conversation.isBroken = true;
    addProblem(found, { row, place, problem: text });
  };
  const mistake = problem ?? findCellMistake(cells, columns.length);
  if (mistake !== undefined || id === '') {
    const noId = 'expected the id of the conversation, received an empty cell';
    report(mistake === undefined ? 'session_id' : '', mistake ?? noId);
    return;
  }
  const turn: Record<string, unknown> = {};
  value.turns.push(turn);
  conversation.rows.push(row);
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (!column || column.name === 'session_id' || (cell === '' && !column.isRequired)) continue;
    const { name, isJson, isOfTurn } = column;
    const before = said.get(name);
    if (before && before.cell !== cell) {
      report(
        name,
        `expected ${formatValue(before.cell)} as in row ${before.row}, or nothing, received ${formatValue(cell)}`,
      );
    }
    if (before) continue;
    const content = isJson ? parseCell(cell) : cell;
    if (content === undefined) {
      report(name, `expected JSON, received ${formatValue(cell)}`);
      continue;
    }
    (isOfTurn ? turn : value)[name] = content;
    if (!isOfTurn) said.set(name, { row, cell });
  }
}

/** Compares the number of cells with that of the header. Empty cells at the end are fine. */
function findCellMistake(cells: readonly string[], count: number): string | undefined {
  const isEven = cells.length >= count && cells.slice(count).every((cell) => cell === '');
  return isEven
    ? undefined
    : `expected ${count} cells as in the first row, received ${cells.length}`;
}

/** Returns the value of a cell with JSON; undefined if it is not JSON. */
function parseCell(cell: string): unknown {
  try {
    return parseBoundedJson(cell);
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}
