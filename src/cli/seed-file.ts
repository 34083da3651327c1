import { LineCounter, parseDocument } from 'yaml';
import { valueAt, violations, type SeedDocument } from '../contract/index.ts';
import { readTextFile } from './files.ts';
import { UsageError } from './usage-error.ts';

/** A seed document, and where in its file things stand. */
export interface SeedFile {
  document: SeedDocument;
  /** What is wrong at a place of the document, as its caller is told; a sentence without its end. */
  misfit: (pointer: string, message: string) => UsageError;
}

/**
 * Reads a seed document, YAML or JSON (which is YAML, too).
 *
 * @throws {UsageError} with the file, the line and what was expected there.
 */
export function readSeedFile(path: string): SeedFile {
  const lines = new LineCounter();
  const document = parseDocument(readTextFile(path, '--seed-file'), { lineCounter: lines });
  const [broken] = document.errors;
  if (broken) {
    const { line } = lines.linePos(broken.pos[0]);
    const [what = ''] = broken.message.split('\n');
    throw new UsageError(`--seed-file: ${path}:${line}: ${what.replace(/[.:]$/, '')}.`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const misfit = (pointer: string, message: string): UsageError =>
    new UsageError(`--seed-file: ${path}:${lineOf(pointer)}: ${message}.`);
  const [wrong] = violations('SeedDocument', value);
  if (!wrong) return { document: value as SeedDocument, misfit };
  const where = wrong.pointer === '' ? 'the document' : wrong.pointer;
  throw misfit(wrong.pointer, `${where} must be ${wrong.expected}, got ${wrong.received}`);

  /** The line of a place, or of the nearest thing around it that is there. */
  function lineOf(pointer: string): number {
    for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      if (valueAt(value, place) === undefined) continue;
      const keys = place
        .slice(1)
        .split('/')
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
      const node = document.getIn(
        keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
        true,
      ) as { range?: [number, number, number] } | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  }
}
