import { createHash } from 'node:crypto';
import type { EvalDefinition } from '../../contract/index.ts';
import { isObject } from '../../platform/json.ts';

/** The characters of a version. */
const LENGTH = 8;

/** Returns the version of an eval. It differs if the kind or the parameters do: outcomes depend on both. */
export function versionOf({ kind, params = {} }: EvalDefinition): string {
  const text = JSON.stringify([kind, params], sortKeys);
  return createHash('sha256').update(text).digest('hex').slice(0, LENGTH);
}

const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
