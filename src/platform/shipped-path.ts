import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Returns the path of a file or directory in `shipped/`, both from the sources and from the bundle. */
export function shippedPath(...names: readonly string[]): string {
  const kit = createRequire(import.meta.url).resolve('sandbox-kit/package.json');
  return join(dirname(kit), 'shipped', ...names);
}
