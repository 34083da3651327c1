import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from './engine/target.ts';

const DIRECTORY = join(import.meta.dirname, 'targets');

/** The names of all targets: those of the files in `targets/`. */
export const TARGET_NAMES: readonly string[] = readdirSync(DIRECTORY)
  .map((file) => file.replace(/\.ts$/, ''))
  .sort();

/** Returns a target by its name. */
export async function loadTarget(name: string): Promise<Target<unknown>> {
  const module = (await import(join(DIRECTORY, `${name}.ts`))) as { default: Target<unknown> };
  return module.default;
}
