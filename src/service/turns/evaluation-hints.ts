import { isObject } from '../../platform/json.ts';
import type { JsonObject, StoredSpan } from '../store/store.ts';

/**
 * The attribute in which an agent may send with its spans what a sandbox sends as
 * `evaluation_metadata` (spec 2.8): an object, its JSON text, or one attribute for each hint, such as
 * `evaluation_metadata.order_found`. Ours: the interface has no place for it in traces.
 */
const hintKey = 'evaluation_metadata';

/** Whether an attribute holds hints. */
export function isHint(key: string): boolean {
  return key === hintKey || key.startsWith(`${hintKey}.`);
}

/** The hints of these spans together, later ones over earlier; undefined without any. */
export function collectHints(spans: readonly StoredSpan[]): JsonObject | undefined {
  const hints = spans
    .toSorted(
      (one, other) => Number(one.startNs > other.startNs) - Number(one.startNs < other.startNs),
    )
    .flatMap(({ attributes }) => Object.entries(attributes))
    .flatMap(([key, value]) => {
      if (key === hintKey) return Object.entries(objectIn(value));
      return isHint(key) ? [[key.slice(hintKey.length + 1), value] as const] : [];
    });
  return hints.length === 0 ? undefined : Object.fromEntries(hints);
}

function objectIn(value: unknown): object {
  if (typeof value !== 'string') return isObject(value) ? value : {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
