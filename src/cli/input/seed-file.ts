import { LineCounter, parseDocument } from 'yaml';
import { violations, type SeedDocument } from '../../contract/index.ts';
import { readTextFile } from './files.ts';
import { notJson, notYaml } from './seed-syntax.ts';
import { UsageError } from '../flags/usage-error.ts';
import { offsetOf, valueOf } from './yaml-file.ts';
import { misfitOf } from './yaml-error.ts';

/** A seed document, and where in its file things stand. */
export interface SeedFile {
  document: SeedDocument;
  /**
   * What is wrong at a place of the document, as its caller is told; a sentence without its end,
   * which ends with `besides` where another place is given.
   */
  misfit: (pointer: string, message: string, besides?: string) => UsageError;
}

/**
 * Reads a seed document, YAML or JSON (which is YAML, too).
 *
 * @throws {UsageError} with the file, the line and what was expected there.
 */
export function readSeedFile(path: string): SeedFile {
  const lines = new LineCounter();
  const text = readTextFile(path, '--seed-file');
  const parsed = parseDocument(text, { lineCounter: lines });
  const wrongAt = (line: number, what: string): UsageError =>
    new UsageError(`--seed-file: ${path}:${line}: ${what}.`);
  const [broken] = parsed.errors;
  if (broken) {
    const isJson = /\.json$/i.test(path) || /^\s*\{\s*"/.test(text);
    const { at, what } = (isJson ? notJson(text, broken) : undefined) ?? notYaml(text, broken);
    throw wrongAt(lines.linePos(at).line, what);
  }
  const value = valueOf(parsed, (what) => wrongAt(1, what));
  const lineOf = (pointer: string): number => {
    const offset = offsetOf(parsed, value, pointer);
    return offset === undefined ? 1 : lines.linePos(offset).line;
  };
  const misfit: SeedFile['misfit'] = (pointer, message, besides) => {
    const where = besides === undefined ? '' : ` (line ${lineOf(besides)})`;
    return wrongAt(lineOf(pointer), `${message}${where}`);
  };
  const wrong = misfitOf(violations('SeedDocument', value), parsed, value, 'the document');
  if (!wrong) return { document: value as SeedDocument, misfit };
  throw misfit(wrong.pointer, wrong.says);
}
