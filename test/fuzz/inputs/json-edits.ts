/** Changes of JSON values, each of which shrinks to none. */
import fc, { type Arbitrary } from 'fast-check';
import { IDS, LARGE_VALUES, NUMBERS, WORDS } from './words.ts';

const scalar: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...WORDS, ...IDS) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 3, arbitrary: fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: {} }) },
  { weight: 1, arbitrary: fc.oneof(fc.double({ noNaN: true }), fc.string({ maxLength: 6 })) },
);

/** JSON values of a few parts. */
export const smallJson: Arbitrary<unknown> = fc.oneof(
  { weight: 9, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...IDS, ''), scalar, { maxKeys: 3 }) },
);

/** Any JSON value: small ones, and those that are deep or have many parts. */
export const anyJson: Arbitrary<unknown> = fc.oneof(
  { weight: 60, arbitrary: smallJson },
  { weight: 1, arbitrary: fc.constantFrom(...LARGE_VALUES) },
);

/** A change at one place of a JSON value. `at` counts the values in it, modulo their number. */
export type JsonEdit = { at: number } & (
  | { change: 'set'; value: unknown }
  | { change: 'drop' }
  | { change: 'rename'; key: string }
  | { change: 'repeat'; times: number }
  | { change: 'copy'; from: number }
);

const place = fc.nat(65_535);

const jsonEdit: Arbitrary<JsonEdit> = fc.oneof(
  fc.record({ at: place, change: fc.constant('set' as const), value: anyJson }),
  fc.record({ at: place, change: fc.constant('drop' as const) }),
  fc.record({
    at: place,
    change: fc.constant('rename' as const),
    key: fc.constantFrom('__proto__', 'constructor', '', 'id', 'type', 'toJSON', 'x'),
  }),
  fc.record({
    at: place,
    change: fc.constant('repeat' as const),
    times: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(2, 3, 20) },
      { weight: 1, arbitrary: fc.constantFrom(101, 1_001) },
    ),
  }),
  fc.record({ at: place, change: fc.constant('copy' as const), from: place }),
);

/** No changes in half of the cases, else a few. */
export const jsonEdits: Arbitrary<JsonEdit[]> = fc.oneof(
  fc.constant<JsonEdit[]>([]),
  fc.array(jsonEdit, { minLength: 1, maxLength: 4 }),
);

/** Where a value is: its holder, and its key there. */
interface Place {
  holder: object;
  key: string;
}

/** Returns a copy of a JSON value with changes. */
export function editJson(value: unknown, edits: readonly JsonEdit[]): unknown {
  if (edits.length === 0) return value;
  const root = { value: cloneJson(value) };
  for (const edit of edits) applyEdit(root, edit);
  return root.value;
}

function applyEdit(root: { value: unknown }, edit: JsonEdit): void {
  const places = listPlaces(root);
  const pick = (at: number): Place => places[at % places.length] ?? { holder: root, key: 'value' };
  const { holder, key } = pick(edit.at);
  const current = read(holder, key);
  switch (edit.change) {
    case 'set':
      write(holder, key, cloneJson(edit.value));
      return;
    case 'drop':
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else if (holder !== root) Reflect.deleteProperty(holder, key);
      return;
    case 'rename':
      if (Array.isArray(holder) || holder === root) return;
      Reflect.deleteProperty(holder, key);
      write(holder, edit.key, current);
      return;
    case 'repeat':
      repeat({ holder, key }, edit.times);
      return;
    case 'copy': {
      const source = pick(edit.from);
      write(holder, key, cloneJson(read(source.holder, source.key)));
    }
  }
}

/** Repetitions make nothing larger than this. */
const REPEATED_CHARS_MAX = 200_000;

/** Repeats an element of an array, or a text; makes an array of anything else. */
function repeat({ holder, key }: Place, times: number): void {
  const current = read(holder, key);
  const text = writeJson(current);
  const count = Math.max(1, Math.min(times, Math.floor(REPEATED_CHARS_MAX / (text.length + 1))));
  const copies = Array.from({ length: count }, () => JSON.parse(text) as unknown);
  if (Array.isArray(holder)) holder.splice(Number(key), 1, ...copies);
  else write(holder, key, typeof current === 'string' ? current.repeat(count) : copies);
}

/** A limit, because each change looks at all places. */
const PLACES_MAX = 5_000;

function listPlaces(root: object): Place[] {
  const places: Place[] = [];
  const waiting: object[] = [root];
  for (let holder = waiting.pop(); holder && places.length < PLACES_MAX; holder = waiting.pop()) {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      const value = read(holder, key);
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
  return places;
}

const read = (holder: object, key: string): unknown => (holder as Record<string, unknown>)[key];

/** Writes a property, even `__proto__`, as JSON.parse does. */
function write(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Writes JSON; nothing for what JSON can't represent. */
export const writeJson = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value);

function cloneJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return JSON.parse(JSON.stringify(value)) as unknown;
}
