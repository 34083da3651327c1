/**
 * An old Node gets the same message from the library, its matchers, and the tests of a template. The
 * machine must have an old Node; CI images and this repository bring newer ones. The folders are
 * inside the repository, so the message names its Node.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { readTemplate } from '../../cli/project/templates.ts';
import { ROOT } from '../support/repository.ts';

const OLD_NODE = '/usr/bin/node';

const version = existsSync(OLD_NODE) ? String(spawnSync(OLD_NODE, ['--version']).stdout) : '';
const [, major = '99', minor = '0'] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
const isOld = Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19);
const skip = isOld ? false : `no Node older than 22.19 at ${OLD_NODE}`;

const MESSAGE =
  /sandbox-kit needs Node 22\.19 or newer, but this is Node [\d.]+\.[\s#]+npm installed a newer/;

/** The runners that the matchers import; only their existence matters here. */
const runners: Record<string, string> = {
  '@jest/globals': 'export const expect = { extend() {} };\n',
  vitest: 'export const expect = { extend() {} };\n',
};

/** Returns a folder where the built kit is installed. */
function installKit(t: Test): string {
  const folder = t.testdir();
  // Without it, the folder would belong to the kit, and `sandbox-kit` would be the repository.
  write(folder, 'package.json', '{ "type": "module" }');
  const modules = join(folder, 'node_modules');
  for (const path of ['bin', 'dist/bundle', 'shipped/matchers', 'package.json']) {
    cpSync(join(ROOT, path), join(modules, 'sandbox-kit', path), { recursive: true });
  }
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const isTaken = name.startsWith('.') || ['sandbox-kit', '@jest'].includes(name);
    if (!isTaken) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const [name, text] of Object.entries(runners)) {
    write(join(modules, name), 'package.json', '{ "type": "module", "exports": "./index.js" }');
    write(join(modules, name), 'index.js', text);
  }
  return folder;
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

void t.test('every entry point of the library says which Node it needs', { skip }, (t) => {
  const cwd = installKit(t);
  for (const name of ['', '/matchers', '/matchers/jest', '/matchers/vitest']) {
    const args = ['--input-type=module', '--eval', `import 'sandbox-kit${name}';`];
    const { status, stderr } = spawnSync(OLD_NODE, args, { cwd, encoding: 'utf8' });
    t.equal(status, 1, `sandbox-kit${name}`);
    t.match(stderr, MESSAGE, `sandbox-kit${name}`);
    t.match(stderr, 'Run your programs with npx node');
    t.notMatch(stderr, /^\s+at /m, 'no stack trace');
  }
  t.end();
});

void t.test('the tests of a template say which Node they need', { skip }, (t) => {
  const cwd = installKit(t);
  const values = { PROJECT_NAME: 'a-sandbox', KIT_VERSION: '*' };
  for (const { path, text } of readTemplate('node', { hasVoice: false, values })) {
    write(cwd, path, text);
  }
  const { status, stdout } = spawnSync(OLD_NODE, ['--test', 'test/'], { cwd, encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stdout, MESSAGE);
  t.notMatch(stdout, /Cannot read properties/);
  t.end();
});
