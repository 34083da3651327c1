import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { valueAt, violations, type MessageName, type Messages } from '../../contract/index.ts';
import { readTextFile } from './files.ts';
import { UsageError } from '../flags/usage-error.ts';
import { keysOf, misfitOf, nameOffsetOf, pathKey } from './yaml-error.ts';

/** A document of a YAML file, and where in the file things stand. */
export interface YamlDocument<Name extends MessageName> {
  value: Messages[Name];
  /** Path, line and column of a place of the document, as `path:line:column`. */
  place: (pointer: string) => string;
}

const aliasesMax = 100;

/**
 * Reads all documents of a YAML file (JSON is YAML, too), each of which must be that message.
 *
 * @throws {UsageError} with the flag, the file, line and column, and what was expected there.
 */
export function readYamlFile<Name extends MessageName>(
  path: string,
  flag: string,
  name: Name,
): YamlDocument<Name>[] {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(readTextFile(path, flag), { lineCounter: lines });
  const documents = 'empty' in parsed ? [] : parsed;
  if (documents.length === 0) throw new UsageError(`${flag}: ${path} holds no ${name}.`);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  return documents.map((document) => {
    const [broken] = document.errors;
    if (broken) {
      const [what = ''] = broken.message.split('\n');
      const said = what.replace(/ at line \d+, column \d+/, '').replace(/[.:]$/, '');
      throw new UsageError(`${flag}: ${at(broken.pos[0])}: ${said}.`);
    }
    const start = document.contents?.range[0] ?? document.range[0];
    const value = valueOf(document, (what) => new UsageError(`${flag}: ${at(start)}: ${what}.`));
    const place = (pointer: string): string => at(offsetOf(document, value, pointer) ?? start);
    const wrong = misfitOf(violations(name, value), document, value, `a ${name}`);
    if (!wrong) return { value: value as Messages[Name], place };
    const named = wrong.isName ? nameOffsetOf(document, wrong.pointer) : undefined;
    const where = named === undefined ? place(wrong.pointer) : at(named);
    throw new UsageError(`${flag}: ${where}: ${wrong.says}.`);
  });
}

/**
 * What a document says, with what its aliases stand for.
 *
 * @throws {UsageError} made by `wrong`, which is given a sentence without its end.
 */
export function valueOf(parsed: Document, wrong: (what: string) => UsageError): unknown {
  try {
    return parsed.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    const [, alias] = /alias[^:]*: (\S+)/.exec(error instanceof Error ? error.message : '') ?? [];
    const what =
      alias === undefined
        ? 'its aliases stand for too much; write out what they stand for'
        : `the alias *${alias} stands for nothing: there is no &${alias} before it`;
    throw wrong(what);
  }
}

/** Where a place begins, or the nearest thing around it; undefined where that is the whole. */
export function offsetOf(parsed: Document, value: unknown, pointer: string): number | undefined {
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    if (valueAt(value, place) === undefined) continue;
    const node = parsed.getIn(keysOf(place).map(pathKey), true) as
      { range?: [number, number, number] } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}
