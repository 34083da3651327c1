import { isObject, parseObject } from '../../platform/json.ts';
import type { JsonObject, StoredSpan } from '../store/records.ts';

/**
 * The span attribute for evaluation hints, which a sandbox sends as `evaluation_metadata` (spec 2.8):
 * an object, its JSON text, or one attribute per hint such as `evaluation_metadata.order_found`. This
 * is an extension of the kit: the specification defines no hints in traces.
 */
const HINT_KEY = 'evaluation_metadata';

/** Returns whether an attribute contains hints. */
export function isHint(key: string): boolean {
  return key === HINT_KEY || key.startsWith(`${HINT_KEY}.`);
}

/** Merges the hints of spans; later spans override earlier ones. Undefined if there are none. */
export function collectHints(spans: readonly StoredSpan[]): JsonObject | undefined {
  const hints = spans
    .toSorted((a, b) => Number(a.startNs > b.startNs) - Number(a.startNs < b.startNs))
    .flatMap(({ attributes }) => Object.entries(attributes))
    .flatMap(([key, value]) => {
      if (key === HINT_KEY) return Object.entries(toObject(value));
      return isHint(key) ? [[key.slice(HINT_KEY.length + 1), value] as const] : [];
    });
  return hints.length === 0 ? undefined : Object.fromEntries(hints);
}

function toObject(value: unknown): object {
  if (typeof value === 'string') return parseObject(value) ?? {};
  return isObject(value) ? value : {};
}
