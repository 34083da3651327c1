import { isObject } from '../../platform/json.ts';

/** One step of a path: a key, an index (-1 is the last element), or `any` for all children. */
export type PathStep = { key: string } | { index: number } | 'any';

const PATH_CHARS_MAX = 500;
/** The number of values that wildcards may select at each step. */
const VALUES_MAX = 10_000;

/** Matches a quoted key, an index, a wildcard or a plain key. No two alternatives overlap. */
const STEP =
  /\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\]|\[(-?\d{1,9})\]|\[\*\]|\.\*|\.([\p{L}_$][\p{L}\p{N}_$-]*)/uy;

/**
 * Parses the safe subset of JSONPath that evals may use: keys and indexes such as `$.a.b[0]["c"]`,
 * `[-1]` for the last element, and `[*]` or `.*` for all children. Filters, functions and recursive
 * descent are not supported. Returns the reason as a string if the path is invalid.
 */
export function parsePath(path: string): PathStep[] | string {
  if (path.length > PATH_CHARS_MAX) return `it is longer than ${PATH_CHARS_MAX} characters`;
  if (!path.startsWith('$')) return 'it must begin with $';
  const steps: PathStep[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (!match) return `expected .key, ["key"], [0] or [*] at character ${at + 1}`;
    const [whole, double, single, index, plain] = match;
    const key = plain ?? double ?? single;
    if (key !== undefined) steps.push({ key: plain ?? key.replaceAll(/\\(.)/gsu, '$1') });
    else steps.push(index === undefined ? 'any' : { index: Number(index) });
    at += whole.length;
  }
  return steps;
}

/** Returns the values at a path, or none if it leads nowhere. Inherited keys don't count. */
export function findValues(root: unknown, steps: readonly PathStep[]): unknown[] {
  let values = [root];
  for (const step of steps) {
    values = values.flatMap((value) => selectChildren(value, step)).slice(0, VALUES_MAX);
  }
  return values;
}

function selectChildren(value: unknown, step: PathStep): unknown[] {
  if (Array.isArray(value)) {
    const list: unknown[] = value;
    if (step === 'any') return list;
    if (!('index' in step)) return [];
    const at = step.index < 0 ? list.length + step.index : step.index;
    return list.slice(at < 0 ? list.length : at).slice(0, 1);
  }
  if (!isObject(value)) return [];
  if (step === 'any') return Object.values(value);
  return 'key' in step && Object.hasOwn(value, step.key) ? [value[step.key]] : [];
}
