/**
 * Rules of the repository that no linter checks. ESLint checks style and size. dependency-cruiser
 * (.dependency-cruiser.js) checks layers, cycles, owners of libraries, and dead files.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listFiles, ROOT } from '../support/repository.ts';

const files = listFiles();
const isTypeScript = (path: string): boolean =>
  path.endsWith('.ts') && !path.includes('/generated/');

void t.test('every file name says what is in the file, in kebab case', (t) => {
  for (const path of files.filter(isTypeScript)) {
    const name = path.split('/').at(-1) ?? '';
    t.match(
      name,
      /^[a-z0-9]+(-[a-z0-9]+)*(\.d|(\.database)?\.test)?\.ts$/,
      `${path} is in kebab case`,
    );
    t.notMatch(
      name,
      /^(utils?|helpers?|common|misc|types|stuff)\./,
      `${path} is named after its content`,
    );
  }
  t.end();
});

void t.test('generated files are up to date', (t) => {
  for (const generator of ['src/contract/generate.ts', 'packaging/generate-options.ts']) {
    t.doesNotThrow(
      () => execFileSync(process.execPath, [join(ROOT, generator), '--check'], { stdio: 'pipe' }),
      'Run npm run generate.',
    );
  }
  t.end();
});

void t.test('a clone without the generated validators says what to run', (t) => {
  const clone = t.testdir();
  const validators = 'src/contract/generated/validators.cjs';
  for (const directory of ['src/contract', 'src/platform']) {
    const filter = (path: string): boolean => !path.endsWith(validators);
    cpSync(join(ROOT, directory), join(clone, directory), { recursive: true, filter });
  }
  const index = join(clone, 'src/contract/index.ts');
  const { status, stderr } = spawnSync(process.execPath, [index], { encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stderr, `${validators} is missing. Run npm run generate.`);
  t.end();
});

void t.test('the repository does not point outside itself', (t) => {
  for (const path of files) {
    if (!/\.(ts|js|md|json)$/.test(path) || path === 'package-lock.json') continue;
    if (path.startsWith('test/')) continue;
    const text = readFileSync(join(ROOT, path), 'utf8');
    t.notMatch(
      text,
      /\/work\/|\.\.\/shared\//,
      `${path} names no directory outside the repository`,
    );
  }
  t.end();
});

void t.test('every Markdown page has one title', (t) => {
  for (const path of files.filter((path) => path.endsWith('.md'))) {
    const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
    t.equal(text.match(/^# /gm)?.length, 1, path);
  }
  t.end();
});
