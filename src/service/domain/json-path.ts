import { isObject } from '../../platform/json.ts';

/** One step of a path: a key, a place in a list (-1 is the last), or all of either. */
export type Step = { key: string } | { index: number } | 'any';

/** How long a path may be, and how many values it may branch into. */
const pathCharsMax = 500;
const valuesMax = 10_000;

/** A quoted key, a place, any, a plain key; each alternative begins with what no other begins with. */
const STEP =
  /\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\]|\[(-?\d{1,9})\]|\[\*\]|\.\*|\.([\p{L}_$][\p{L}\p{N}_$-]*)/uy;

/**
 * Reads the small and safe part of JSONPath that evals may use: `$.a.b[0]["c"]`, with `[-1]` for the
 * last, and `[*]` or `.*` for any. No filters, no functions, no recursive descent. A text says what is
 * wrong with the path.
 */
export function readPath(path: string): Step[] | string {
  if (path.length > pathCharsMax) return `it is longer than ${pathCharsMax} characters`;
  if (!path.startsWith('$')) return 'it does not begin with $';
  const steps: Step[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (!found) return `what stands at character ${at + 1} is not .key, ["key"], [0] or [*]`;
    const [whole, double, single, index, plain] = found;
    const key = plain ?? double ?? single;
    if (key !== undefined) steps.push({ key: plain ?? key.replaceAll(/\\(.)/gsu, '$1') });
    else steps.push(index === undefined ? 'any' : { index: Number(index) });
    at += whole.length;
  }
  return steps;
}

/** The values at a path; empty when nothing stands there. Only own keys are looked at. */
export function valuesAt(root: unknown, steps: readonly Step[]): unknown[] {
  let values = [root];
  for (const step of steps) {
    values = values.flatMap((value) => childrenOf(value, step)).slice(0, valuesMax);
  }
  return values;
}

function childrenOf(value: unknown, step: Step): unknown[] {
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
