import type { Random } from '../../../src/platform/random.ts';

const KEYS = [
  ...['choices', 'message', 'content', 'role', 'tool_calls', 'function', 'arguments', 'result'],
  ...['session_id', 'chat_id', 'metadata', 'tools_used', 'evaluation_metadata', 'index', 'name'],
  ...['status', 'timestamp', 'error', 'code', 'type', 'details', 'dependencies', 'metrics'],
  ...['user_id', 'created_at', 'deleted_at', 'capabilities', 'messages', 'order_found', 'tone'],
  ...['__proto__', 'constructor', 'toString', '', '0', '*', 'a/b', '~'],
];

const TEXTS = [
  ...['', 'assistant', 'healthy', 'unhealthy', 'deleted', 'user_exists', '2026-11-20T09:30:00Z'],
  ...['look_up', '{}', '{', '\u0000\u001b[31m', '👋\ud800', 'Fri, 20 Nov 2026', 'sk_abcdefabcdef'],
  ...['constructor', '<form>', '%', '275760-09-14', '9999-12-31T23:59:60Z'],
];

/** Returns a random JSON value. */
function randomValue(chance: Random, depth: number): unknown {
  const pick = <Item>(items: readonly Item[]): Item | undefined =>
    items[chance.integer(0, items.length - 1)];
  switch (chance.integer(0, depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return chance.integer(0, 1) === 0;
    case 2:
      return pick([0, -1, 1.5, 1e308, -0, 2 ** 53, chance.fraction()]);
    case 3:
    case 4:
      return pick(TEXTS);
    case 5:
      return Array.from({ length: chance.integer(0, 3) }, () => randomValue(chance, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: chance.integer(0, 5) }, () => [
          pick(KEYS) ?? '',
          randomValue(chance, depth - 1),
        ]),
      );
  }
}

/** Returns random JSON, and text that is not JSON in 1 of 20 calls. */
export function randomJson(chance: Random): string {
  const text = JSON.stringify(randomValue(chance, 5));
  return chance.integer(0, 19) === 0 ? text.slice(1) : text;
}

/** Changes one to four places in JSON. Returns other text unchanged. */
export function damageJson(text: string, chance: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const root = { value };
  for (let damages = chance.integer(1, 4); damages > 0; damages--) damagePlace(root, chance);
  return JSON.stringify(root.value ?? null);
}

/** Replaces or deletes the value at a random place. */
function damagePlace(root: { value: unknown }, chance: Random): void {
  let here: Record<string, unknown> = root;
  let key = 'value';
  for (;;) {
    const next = here[key];
    const keys = typeof next === 'object' && next !== null ? Object.keys(next) : [];
    if (keys.length === 0 || chance.integer(0, 5) === 0) break;
    here = next as Record<string, unknown>;
    key = keys[chance.integer(0, keys.length - 1)] ?? '';
  }
  if (chance.integer(0, 3) === 0 && !Array.isArray(here)) Reflect.deleteProperty(here, key);
  else here[key] = randomValue(chance, 3);
}
