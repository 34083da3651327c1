/** The positions of the parts of a document in its text. */
import { isMap, isScalar, type Document } from 'yaml';
import { resolvePointer } from '../../src/contract/index.ts';
import { unescapePointerKey } from '../../src/platform/json-pointer.ts';

/** Returns the offset of a place, or of the closest parent that has one. */
export function offsetOfPointer(
  document: Document,
  value: unknown,
  pointer: string,
): number | undefined {
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    if (resolvePointer(value, place) === undefined) continue;
    const node = document.getIn(keysOf(place).map(toYamlKey), true) as
      { range?: [number, number, number] } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}

/** Returns the offset of a field name. */
export function offsetOfKey(document: Document, pointer: string): number | undefined {
  const keys = keysOf(pointer);
  const name = keys.pop();
  const parent = keys.length === 0 ? document.contents : document.getIn(keys.map(toYamlKey), true);
  if (!isMap(parent)) return undefined;
  const key = parent.items
    .map((pair) => pair.key)
    .find((candidate) => isScalar(candidate) && String(candidate.value) === name);
  return isScalar(key) ? key.range?.[0] : undefined;
}

/** Returns a scalar as the author wrote it. */
export function sourceAt(document: Document, pointer: string): string | undefined {
  const node = document.getIn(keysOf(pointer).map(toYamlKey), true);
  return isScalar(node) ? node.source : undefined;
}

/** Splits a JSON pointer (RFC 6901). */
export const keysOf = (pointer: string): string[] =>
  pointer.split('/').slice(1).map(unescapePointerKey);

/** The YAML library needs indexes as numbers. */
const toYamlKey = (key: string): string | number => (/^\d+$/.test(key) ? Number(key) : key);
