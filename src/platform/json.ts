/** Returns whether a value is a JSON object: not null and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper values could exhaust the stack of recursive functions, such as `JSON.stringify`. */
const DEPTH_MAX = 200;

/** Parsing more objects and arrays takes seconds, and hundreds of megabytes. */
const CONTAINERS_MAX = 1_000_000;

/**
 * Returns what is too much about the arrays and objects in a JSON text, to be read after its name.
 * @param depthMax Infinity if the reader of the value limits its depth.
 */
export function findJsonExcess(json: string, depthMax = DEPTH_MAX): string | undefined {
  if (depthMax === Infinity && json.length <= CONTAINERS_MAX) return undefined;
  let [depth, containers] = [0, 0];
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') index = findStringEnd(json, index);
    else if (character === '[' || character === '{') {
      depth += 1;
      containers += 1;
      if (depth > depthMax) return `is nested more than ${depthMax} levels deep`;
      if (containers > CONTAINERS_MAX)
        return `has more than ${CONTAINERS_MAX.toLocaleString('en-US')} objects and arrays`;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return undefined;
}

/**
 * Returns the index of the quote that closes a string, or the length of the text if no quote does. Most
 * of a JSON text is strings, and `indexOf` is much faster than a loop over their characters.
 */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}

/**
 * Returns the value that a JSON text contains; undefined if there is no text, it is not JSON, or it is
 * nested too deeply.
 */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined || findJsonExcess(text) !== undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the object that a JSON text contains; undefined if it is not an object. */
export function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Describes a value without its text: "a string", "an array", "3.5". */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === '') return 'an empty string';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns whether two JSON values are equal. The order of object keys does not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (isObject(a) && isObject(b)) {
    return Object.keys(a).length === Object.keys(b).length && everyKeyMatches(a, b, isSameJson);
  }
  return compareElements(a, b, isSameJson);
}

/**
 * Returns whether `value` contains everything in `expected`. Objects may have extra keys at any
 * depth; arrays must have the same length and match element by element.
 */
export function containsJson(value: unknown, expected: unknown): boolean {
  if (isObject(expected) && isObject(value)) {
    return everyKeyMatches(expected, value, (a, b) => containsJson(b, a));
  }
  return compareElements(value, expected, containsJson);
}

type Compare = (a: unknown, b: unknown) => boolean;

function everyKeyMatches(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  compare: Compare,
): boolean {
  return Object.keys(a).every((key) => Object.hasOwn(b, key) && compare(a[key], b[key]));
}

function compareElements(a: unknown, b: unknown, compare: Compare): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((value, index) => compare(value, b[index]));
}
