import { isMap, isScalar, type Document } from 'yaml';
import { valueAt, type Violation } from '../../contract/index.ts';
import { suggestion } from '../../platform/suggest.ts';

/** What is wrong with a document, as its author is told. */
export interface YamlMisfit {
  pointer: string;
  /** Whether the name of the field is what is wrong, not what stands in it. */
  isName: boolean;
  /** A sentence without its end. */
  says: string;
}

/**
 * The violation that says most to the author of a file: a field that is none comes first, since a
 * misspelt one is missed under its right name, too. Undefined where there are none.
 */
export function misfitOf(
  found: readonly Violation[],
  parsed: Document,
  value: unknown,
  whole: string,
): YamlMisfit | undefined {
  const wrong = found.find(({ fields }) => fields !== undefined) ?? found[0];
  if (!wrong) return undefined;
  const { pointer, expected, received, fields } = wrong;
  if (fields !== undefined) {
    const name = keysOf(pointer).at(-1) ?? '';
    const near = suggestion(name, fields, '', '`');
    const all = fields.length === 0 ? '' : `; there are ${fields.join(', ')}`;
    const instead = near === '' ? all : `; ${near}`;
    return { pointer, isName: true, says: `\`${name}\` is no field here${instead}` };
  }
  const says = `${pointer || whole} must be ${expected}, got ${received}`;
  const quoted = isQuotable(valueAt(value, pointer), expected) && sourceOf(parsed, pointer);
  return { pointer, isName: false, says: quoted ? `${says}; put it in quotes: "${quoted}"` : says };
}

/** Where the name of a field begins; undefined where there is no such field. */
export function nameOffsetOf(parsed: Document, pointer: string): number | undefined {
  const keys = keysOf(pointer);
  const name = keys.pop();
  const around = keys.length === 0 ? parsed.contents : parsed.getIn(keys.map(pathKey), true);
  if (!isMap(around)) return undefined;
  const key = around.items.map((pair) => pair.key).find((one) => isNamed(one, name));
  return isScalar(key) ? key.range?.[0] : undefined;
}

/** The parts of a JSON pointer. */
export const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

/** A part of a pointer as the YAML library takes it. */
export const pathKey = (key: string): string | number => (/^\d+$/.test(key) ? Number(key) : key);

const isNamed = (key: unknown, name: string | undefined): boolean =>
  isScalar(key) && String(key.value) === name;

const isQuotable = (value: unknown, expected: string): boolean =>
  expected.startsWith('a string') && (typeof value === 'number' || typeof value === 'boolean');

/** A scalar as its author wrote it. */
function sourceOf(parsed: Document, pointer: string): string | undefined {
  const node = parsed.getIn(keysOf(pointer).map(pathKey), true);
  return isScalar(node) ? node.source : undefined;
}
