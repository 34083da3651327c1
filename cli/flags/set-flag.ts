import type { OptionTable } from '../../src/options/option.ts';
import { flagNameOf, spellAsFlag } from '../../src/options/table.ts';
import type { ValueOrigin } from './config-option.ts';

/**
 * Returns the first of these options, such as `--step`, that the command line sets to another value
 * than the default. A configuration file may set options that not every run uses.
 */
export function findSetFlag(
  table: OptionTable,
  names: readonly string[],
  values: object,
  origin: ValueOrigin,
): string | undefined {
  const valueByName = new Map<string, unknown>(Object.entries(values));
  for (const name of names) {
    const entry = table[name];
    const value = valueByName.get(name);
    if (!entry || value === undefined) continue;
    if ('options' in entry) {
      const { options } = entry;
      const flag = findSetFlag(options, Object.keys(options), value as object, origin);
      if (flag !== undefined) return flag;
    } else if ('schema' in entry) {
      const isDefault = value === entry.schema.safeParse(undefined).data;
      if (isDefault || origin.isFromFile(flagNameOf(table, name))) continue;
      return spellAsFlag(table)(name);
    }
  }
  return undefined;
}
