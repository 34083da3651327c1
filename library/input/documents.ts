/** YAML and JSON files that must match a message of the contract. Errors have a line and a column. */
import { isMap, isScalar, LineCounter, parseAllDocuments, parseDocument, stringify } from 'yaml';
import type { Document, YAMLParseError } from 'yaml';
import {
  resolvePointer,
  findViolations,
  type MessageName,
  type Messages,
  type SeedDocument,
  type Violation,
} from '../../src/contract/index.ts';
import type { ReadDocument, TextPlace } from '../../src/service/index.ts';
import { errorMessage } from '../../src/platform/error-origin.ts';
import { createFileError, SandboxKitError } from '../../src/platform/sandbox-kit-error.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { readTextFile } from './files.ts';
import { unescapePointerKey } from '../../src/platform/json-pointer.ts';

/** One document of a YAML file. */
export interface YamlDocument<Name extends MessageName> {
  value: Messages[Name];
  /** Returns `path:line:column` of a JSON pointer. */
  locate: (pointer: string) => string;
}

/** Returns a document as YAML. */
export const writeDocumentText = (document: object): string =>
  stringify(document, { lineWidth: 100 });

/**
 * Reads all documents of a YAML or JSON file. Each of them must match the message: the documents that
 * don't are left out, and `problems` receives what is wrong with them, with the path and the position.
 *
 * @throws {SandboxKitError} with the option and the path, if the file can't be read or has no document.
 */
export function readYamlFile<Name extends MessageName>(
  path: string,
  { option, name, problems }: { option: string; name: Name; problems: string[] },
): YamlDocument<Name>[] {
  const text = readTextFile(path, option);
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines });
  const documents = 'empty' in parsed ? [] : parsed;
  if (documents.length === 0)
    throw new SandboxKitError('invalid_file', `${path} (${option}) contains no ${name}.`);
  return documents.flatMap((document) => {
    const source = createSource({ path, text, lines, document });
    try {
      const value = source.read();
      source.check(name, value, `the ${name}`);
      return [
        { value: value as Messages[Name], locate: (pointer) => source.locate(pointer, value) },
      ];
    } catch (error) {
      if (!(error instanceof SandboxKitError)) throw error;
      problems.push(...(error.problems.length > 0 ? error.problems : [error.message]));
      return [];
    }
  });
}

/** A problem of a text that is not a file. */
class TextProblem extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Reads a text with one YAML or JSON document, which must match the message. */
export function readDocumentText<Name extends MessageName>(
  text: string,
  name: Name,
): ReadDocument<Name> {
  const lines = new LineCounter();
  const placeOf = (offset: number): TextPlace => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  try {
    const document = parseDocument(text, { lineCounter: lines });
    const createError = (offset: number, message: string): Error =>
      new TextProblem(offset, /[.?]$/.test(message) ? message : `${message}.`);
    const source = createSource({ path: '', text, lines, document, createError });
    const value = source.read();
    source.check(name, value, `the ${name}`);
    return {
      value: value as Messages[Name],
      locate: (pointer) => placeOf(source.offsetOf(pointer, value)),
    };
  } catch (error) {
    if (error instanceof TextProblem) {
      return { problem: error.message, place: placeOf(error.offset) };
    }
    if (!(error instanceof RangeError)) throw error;
    return { problem: 'The document is nested too deeply.', place: { line: 1, column: 1 } };
  }
}

/** A YAML file of any shape, for a reader that checks it itself. */
export interface YamlSource {
  document: Document;
  /** Creates an error about an offset in the file. `message` is a sentence without a full stop. */
  errorAt: (offset: number, message: string) => SandboxKitError;
}

/**
 * Reads a file with one YAML document.
 *
 * @throws {SandboxKitError} with the path, the line, and the column of a syntax error.
 */
export function readYamlSource(path: string, option: string): YamlSource {
  const text = readTextFile(path, option);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  createSource({ path, text, lines, document }).read();
  return {
    document,
    errorAt: (offset, message) =>
      new SandboxKitError('invalid_file', `${formatPosition(path, lines, offset)}: ${message}`),
  };
}

/** A seed document with the positions of its parts. */
export interface SeedFile {
  document: SeedDocument;
  /**
   * Creates an error about a place in the document. `message` is a sentence without a full stop;
   * `otherPointer` is a second place whose line is added to it.
   */
  errorAt: (pointer: string, message: string, otherPointer?: string) => SandboxKitError;
}

/**
 * Reads a seed document in YAML or JSON.
 *
 * @throws {SandboxKitError} with the path and the position of the error.
 */
export function readSeedFile(path: string): SeedFile {
  const text = readTextFile(path, '--seed-file');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const source = createSource({ path, text, lines, document });
  const value = source.read();
  source.check('SeedDocument', value, 'the document');
  return {
    document: value as SeedDocument,
    errorAt(pointer, message, otherPointer) {
      const other =
        otherPointer === undefined ? '' : ` (line ${source.lineOf(otherPointer, value)})`;
      return new SandboxKitError(
        'invalid_file',
        `${source.locate(pointer, value)}: ${message}${other}.`,
      );
    },
  };
}

/**
 * Reads a JSON file. Pass the value to `check` to validate it against a message.
 *
 * @throws {SandboxKitError} with the path, the line, and the column if it is not JSON.
 */
export function readJsonFile(
  path: string,
  option: string,
): { value: unknown; check: (name: MessageName) => void; locate: (pointer: string) => string } {
  const text = readTextFile(path, option);
  const parseSource = (): Source => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines });
    return createSource({ path, text, lines, document, isJson: true });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { at, message } = describeJsonError(text, errorMessage(error), 0);
    const lines = new LineCounter();
    parseDocument(text, { lineCounter: lines });
    throw new SandboxKitError('invalid_file', `${formatPosition(path, lines, at)}: ${message}.`);
  }
  return {
    value,
    check(name) {
      // Reports can be large: find the position only if there is an error to locate.
      if (findViolations(name, value).length > 0) parseSource().check(name, value, `the ${name}`);
    },
    locate: (pointer) => parseSource().locate(pointer, value),
  };
}

/** A document with its file. */
interface Source {
  read: () => unknown;
  check: (name: MessageName, value: unknown, root: string) => void;
  locate: (pointer: string, value: unknown) => string;
  lineOf: (pointer: string, value: unknown) => number;
  offsetOf: (pointer: string, value: unknown) => number;
}

/** Aliases that one document can resolve; more could exhaust memory. */
const ALIASES_MAX = 100;

function createSource(file: {
  path: string;
  text: string;
  lines: LineCounter;
  document: Document;
  isJson?: boolean;
  /** Default: an error that starts with the path and the position. */
  createError?: (offset: number, message: string) => Error;
}): Source {
  const { path, text, lines, document } = file;
  const isJson = file.isJson ?? (/\.json$/i.test(path) || /^\s*\{\s*"/.test(text));
  const contents = document.contents as { range?: readonly number[] | null } | null;
  const start = contents?.range?.[0] ?? document.range?.[0] ?? 0;
  const errorAt =
    file.createError ??
    ((offset: number, message: string): Error =>
      new SandboxKitError('invalid_file', `${formatPosition(path, lines, offset)}: ${message}.`));
  const offsetOf = (pointer: string, value: unknown): number =>
    offsetOfPointer(document, value, pointer) ?? start;
  return {
    read() {
      const [error] = document.errors;
      if (error) {
        const { at, message } = describeSyntaxError(text, error, isJson);
        throw errorAt(at, message);
      }
      try {
        return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
      } catch (error) {
        throw errorAt(start, describeAliasError(error));
      }
    },
    check(name, value, root) {
      const problems = describeViolations(findViolations(name, value), document, value, root)
        .map(({ pointer, isName, message }) => {
          const nameOffset = isName ? offsetOfKey(document, pointer) : undefined;
          return { at: nameOffset ?? offsetOf(pointer, value), message };
        })
        .sort((one, other) => one.at - other.at);
      const [first, ...others] = problems;
      if (!first) return;
      if (others.length === 0 || file.createError) throw errorAt(first.at, first.message);
      throw createFileError(
        problems.map(({ at, message }) => `${formatPosition(path, lines, at)}: ${message}`),
      );
    },
    locate: (pointer, value) => formatPosition(path, lines, offsetOf(pointer, value)),
    lineOf: (pointer, value) => lines.linePos(offsetOf(pointer, value)).line,
    offsetOf,
  };
}

function formatPosition(path: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${path}:${Math.max(1, line)}:${Math.max(1, col)}`;
}

/** A syntax error: its offset, and a sentence without a full stop. */
interface SyntaxProblem {
  at: number;
  message: string;
}

function describeSyntaxError(
  text: string,
  { code, pos, message }: Pick<YAMLParseError, 'code' | 'pos' | 'message'>,
  isJson: boolean,
): SyntaxProblem {
  const [at] = pos;
  if (code === 'DUPLICATE_KEY') {
    const [, key = ''] = /^["']?([^"':,\n]{1,100})/.exec(text.slice(at)) ?? [];
    return { at, message: `Duplicate key ${key.trim()}` };
  }
  if (isJson) {
    try {
      JSON.parse(text);
    } catch (error) {
      return describeJsonError(text, errorMessage(error), at);
    }
  }
  if (code === 'MULTIPLE_DOCS') {
    return { at, message: 'The file contains a second document. Remove the --- line' };
  }
  const [first = ''] = message.split('\n');
  const reason = first.replace(/ at line \d+, column \d+/, '').replace(/[.:]+$/, '');
  return { at, message: `Invalid YAML: ${reason}` };
}

/** Words an error of `JSON.parse` without the quoted source that Node adds to it. */
function describeJsonError(text: string, nodeMessage: string, fallbackAt: number): SyntaxProblem {
  const [, position] = /at position (\d+)/.exec(nodeMessage) ?? [];
  const reason = nodeMessage
    .replace(/ in JSON at position .*$/s, '')
    .replace(/, ?(\.\.\.)?".*is not valid JSON$/s, '')
    .replace(/^Unexpected end of JSON input$/, 'unexpected end of file')
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  const end = text.trimEnd().length;
  const at = reason === 'unexpected end of file' ? end : Number(position ?? fallbackAt);
  return { at: Math.min(at, Math.max(0, end - 1)), message: `Invalid JSON: ${reason}` };
}

function describeAliasError(error: unknown): string {
  const [, alias] = /alias[^:]*: (\S+)/.exec(errorMessage(error)) ?? [];
  return alias === undefined
    ? 'The aliases expand to too many values. Write the values out'
    : `Unknown alias *${alias}: no anchor &${alias} before it`;
}

/** What is wrong with a document. */
interface DocumentProblem {
  pointer: string;
  /** Whether the name of the field is wrong, not its value. */
  isName: boolean;
  /** A sentence without a full stop. */
  message: string;
}

/**
 * Describes violations, one for each place, and one for all unknown fields of an object that are like no
 * known field. The right name of a misspelled field is not missing.
 */
function describeViolations(
  all: readonly Violation[],
  document: Document,
  value: unknown,
  root: string,
): DocumentProblem[] {
  const misspelled = new Set(all.map(meantPointer));
  const byPointer = new Map(
    all.filter(({ pointer }) => !misspelled.has(pointer)).map((each) => [each.pointer, each]),
  );
  const violations = [...byPointer.values()];
  const isUnlike = (each: Violation): boolean =>
    each.fields !== undefined && meantPointer(each) === undefined;
  const unlike = Map.groupBy(violations.filter(isUnlike), ({ pointer }) => parentOf(pointer));
  return [
    ...Array.from(unlike.values(), describeUnknownFields),
    ...violations
      .filter((each) => !isUnlike(each))
      .map((each) => describeViolation(each, document, value, root)),
  ];
}

/** Returns the place of the field that an unknown one probably means. */
function meantPointer({ pointer, fields = [] }: Violation): string | undefined {
  const meant = findClosest(nameOf(pointer), fields);
  return meant && `${parentOf(pointer)}/${meant}`;
}

/** The most unknown fields that one problem names. */
const NAMED_MAX = 5;

/** Describes the unknown fields of one object that are like none of its known fields. */
function describeUnknownFields(unknown: readonly Violation[]): DocumentProblem {
  const [first] = unknown;
  const fields = first?.fields ?? [];
  const names = unknown.map((each) => `\`${nameOf(each.pointer)}\``);
  const noun = names.length === 1 ? 'field' : 'fields';
  const known = fields.length === 0 ? '' : `. Known fields: ${fields.join(', ')}`;
  const message = `Unknown ${noun} ${formatList(names, NAMED_MAX)}${known}`;
  return { pointer: first?.pointer ?? '', isName: true, message };
}

function describeViolation(
  { pointer, expected, received, fields }: Violation,
  document: Document,
  value: unknown,
  root: string,
): DocumentProblem {
  if (fields !== undefined) {
    const closest = findClosest(nameOf(pointer), fields) ?? '';
    const message = `Unknown field \`${nameOf(pointer)}\`. Did you mean \`${closest}\`?`;
    return { pointer, isName: true, message };
  }
  const message = `${pointer || root} must be ${expected}, got ${received}`;
  const source =
    isQuotable(resolvePointer(value, pointer), expected) && sourceAt(document, pointer);
  const quoted = source ? `${message}. Put it in quotes: "${source}"` : message;
  return { pointer, isName: false, message: quoted };
}

/** Returns the offset of a place, or of the closest parent that has one. */
function offsetOfPointer(document: Document, value: unknown, pointer: string): number | undefined {
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    if (resolvePointer(value, place) === undefined) continue;
    const node = document.getIn(keysOf(place).map(toYamlKey), true) as
      { range?: [number, number, number] } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}

/** Returns the offset of a field name. */
function offsetOfKey(document: Document, pointer: string): number | undefined {
  const keys = keysOf(pointer);
  const name = keys.pop();
  const parent = keys.length === 0 ? document.contents : document.getIn(keys.map(toYamlKey), true);
  if (!isMap(parent)) return undefined;
  const key = parent.items
    .map((pair) => pair.key)
    .find((candidate) => isScalar(candidate) && String(candidate.value) === name);
  return isScalar(key) ? key.range?.[0] : undefined;
}

/** Returns the pointer to the object that has a field. */
const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'));

/** Returns the name of the field at a pointer. */
const nameOf = (pointer: string): string => keysOf(pointer).at(-1) ?? '';

/** Splits a JSON pointer (RFC 6901). */
const keysOf = (pointer: string): string[] => pointer.split('/').slice(1).map(unescapePointerKey);

/** The YAML library needs indexes as numbers. */
const toYamlKey = (key: string): string | number => (/^\d+$/.test(key) ? Number(key) : key);

const isQuotable = (value: unknown, expected: string): boolean =>
  expected.startsWith('a string') && (typeof value === 'number' || typeof value === 'boolean');

/** Returns a scalar as the author wrote it. */
function sourceAt(document: Document, pointer: string): string | undefined {
  const node = document.getIn(keysOf(pointer).map(toYamlKey), true);
  return isScalar(node) ? node.source : undefined;
}
