/**
 * Applies the patches of `packaging/patches/` to the installed packages. `npm ci` runs it before the
 * build, because the sources, the tests, and the bundle use the patched packages.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PATCHES = join(import.meta.dirname, 'patches');

/** The file that records the patches of a package, so that they are not applied twice. */
const MARKER = '.patched';

for (const name of readdirSync(PATCHES)) applyPatches(name);

/** @throws if the package has other patches, or a patch does not fit. */
function applyPatches(name: string): void {
  const directory = join(ROOT, 'node_modules', name);
  const files = globSync('*.patch', { cwd: join(PATCHES, name) }).sort();
  const paths = files.map((file) => join(PATCHES, name, file));
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(path));
  const digest = hash.digest('hex');
  const marker = join(directory, MARKER);
  if (existsSync(marker)) {
    if (readFileSync(marker, 'utf8') === digest) return;
    throw new Error(`${name} was patched with other patches. Run npm ci to install it again.`);
  }
  // Without the repository around it, git applies the patches to ignored files, too.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(ROOT, 'node_modules') };
  execFileSync('git', ['apply', ...paths], { cwd: directory, env, stdio: 'inherit' });
  writeFileSync(marker, digest);
}
