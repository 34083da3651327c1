import { createHash } from 'node:crypto';
import type { EvalDefinition } from '../../contract/index.ts';
import { isObject } from '../../platform/json.ts';

/** The characters of a version. */
const LENGTH = 8;

/** The versions of definitions, because many jobs share one. */
const versions = new WeakMap<EvalDefinition, string>();

/** Returns the version of an eval. It differs if the kind or the parameters do: outcomes depend on both. */
export function versionOf(definition: EvalDefinition): string {
  const known = versions.get(definition);
  if (known !== undefined) return known;
  const { kind, params = {} } = definition;
  const text = JSON.stringify([kind, params], sortKeys);
  const version = createHash('sha256').update(text).digest('hex').slice(0, LENGTH);
  versions.set(definition, version);
  return version;
}

const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
