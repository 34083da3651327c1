import { LineCounter, parseDocument, type Document } from 'yaml';
import { valueAt, violations, type SeedDocument } from '../contract/index.ts';
import { readTextFile } from './files.ts';
import { notJson, notYaml } from './seed-syntax.ts';
import { UsageError } from './usage-error.ts';

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
  const lineOf = (pointer: string): number => lineIn({ parsed, value, lines }, pointer);
  const misfit: SeedFile['misfit'] = (pointer, message, besides) => {
    const where = besides === undefined ? '' : ` (line ${lineOf(besides)})`;
    return wrongAt(lineOf(pointer), `${message}${where}`);
  };
  const [wrong] = violations('SeedDocument', value);
  if (!wrong) return { document: value as SeedDocument, misfit };
  const where = wrong.pointer === '' ? 'the document' : wrong.pointer;
  throw misfit(wrong.pointer, `${where} must be ${wrong.expected}, got ${wrong.received}`);
}

/** What the document says, with what its aliases stand for. */
function valueOf(parsed: Document, wrong: (what: string) => UsageError): unknown {
  try {
    return parsed.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const [, alias] = /alias[^:]*: (\S+)/.exec(error instanceof Error ? error.message : '') ?? [];
    const what =
      alias === undefined
        ? 'its aliases stand for too much; write out what they stand for'
        : `the alias *${alias} stands for nothing: there is no &${alias} before it`;
    throw wrong(what);
  }
}

/** The line of a place, or of the nearest thing around it that is there. */
function lineIn(
  { parsed, value, lines }: { parsed: Document; value: unknown; lines: LineCounter },
  pointer: string,
): number {
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    if (valueAt(value, place) === undefined) continue;
    const keys = place
      .slice(1)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const node = parsed.getIn(
      keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
      true,
    ) as { range?: [number, number, number] } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
