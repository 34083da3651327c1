/** YAML and JSON files that must match a message of the contract. Errors have a line and a column. */
import { LineCounter, parseAllDocuments, parseDocument, stringify, type Document } from 'yaml';
import {
  findViolations,
  type MessageName,
  type Messages,
  type SeedDocument,
} from '../../src/contract/index.ts';
import type { ReadDocument, TextPlace } from '../../src/service/index.ts';
import { errorMessage } from '../../src/platform/error-origin.ts';
import { createFileError, SandboxKitError } from '../../src/platform/sandbox-kit-error.ts';
import { offsetOfKey, offsetOfPointer } from './document-places.ts';
import { describeViolations } from './document-problems.ts';
import { readFilledFile, readTextFile } from './files.ts';
import { describeAliasError, describeJsonError, describeSyntaxError } from './syntax-problems.ts';

/** One document of a YAML file. */
export interface YamlDocument<Name extends MessageName> {
  value: Messages[Name];
  /** Returns `path:line:column` of a JSON pointer. */
  locate: (pointer: string) => string;
}

/** The name of a document in messages, with its article. */
const nouns: Partial<Record<MessageName, string>> = {
  AgentScript: 'a script',
  CheckReport: 'a report of check',
  EvalDefinition: 'an eval',
  LoadReport: 'a report of load',
  Persona: 'a persona',
  Scenario: 'a scenario',
  SeedDocument: 'a document',
  SimulationReport: 'a report of simulate',
};

const nounOf = (name: MessageName): string => nouns[name] ?? `a ${name}`;

/** Returns what messages call a document that was mentioned before. */
const rootOf = (name: MessageName): string => nounOf(name).replace(/^an? /, 'the ');

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
  if (documents.length === 0) {
    const problem = text.trim() === '' ? 'is empty' : 'has only comments';
    throw new SandboxKitError(
      'invalid_file',
      `${path} (${option}) ${problem}. It must contain ${nounOf(name)}.`,
    );
  }
  return documents.flatMap((document) => {
    const source = createSource({ path, text, lines, document });
    try {
      const value = source.read();
      source.check(name, value);
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
    source.check(name, value);
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
  const { lines, document } = parseWithLines(text);
  createSource({ path, text, lines, document }).read();
  return {
    document,
    errorAt: (offset, message) => createPlaceError(formatPosition(path, lines, offset), message),
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
export function readSeedFile(path: string, option: string): SeedFile {
  const text = readFilledFile(path, option, 'a seed document');
  const source = createSource({ path, text, ...parseWithLines(text) });
  const value = source.read();
  source.check('SeedDocument', value);
  return {
    document: value as SeedDocument,
    errorAt(pointer, message, otherPointer) {
      const other =
        otherPointer === undefined ? '' : ` (line ${source.lineOf(otherPointer, value)})`;
      return createPlaceError(source.locate(pointer, value), `${message}${other}.`);
    },
  };
}

/**
 * Reads a JSON file. Pass the value to `check` to validate it against a message.
 *
 * @param expected What the file must be, for the message about an empty one.
 * @throws {SandboxKitError} with the path, the line, and the column if it is not JSON.
 */
export function readJsonFile(
  path: string,
  option: string,
  expected: string,
): { value: unknown; check: (name: MessageName) => void; locate: (pointer: string) => string } {
  const text = readFilledFile(path, option, expected);
  const parseSource = (): Source =>
    createSource({ path, text, ...parseWithLines(text), isJson: true });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { at, message } = describeJsonError(text, errorMessage(error), 0);
    throw createPlaceError(formatPosition(path, parseWithLines(text).lines, at), `${message}.`);
  }
  return {
    value,
    check(name) {
      // Reports can be large: find the position only if there is an error to locate.
      if (findViolations(name, value).length > 0) parseSource().check(name, value);
    },
    locate: (pointer) => parseSource().locate(pointer, value),
  };
}

/** Parses a text with one document, and keeps its errors for `Source.read`. */
function parseWithLines(text: string): { lines: LineCounter; document: Document } {
  const lines = new LineCounter();
  return { lines, document: parseDocument(text, { lineCounter: lines }) };
}

/** A document with its file. */
interface Source {
  read: () => unknown;
  check: (name: MessageName, value: unknown) => void;
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
      createPlaceError(formatPosition(path, lines, offset), `${message}.`));
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
    check(name, value) {
      const violations = findViolations(name, value);
      const problems = describeViolations(violations, document, value, rootOf(name))
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

const createPlaceError = (place: string, message: string): SandboxKitError =>
  new SandboxKitError('invalid_file', `${place}: ${message}`);

function formatPosition(path: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${path}:${Math.max(1, line)}:${Math.max(1, col)}`;
}
