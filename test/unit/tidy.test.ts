/**
 * The house rules, read from the code itself. A rule that is broken says which file, which line and
 * what to do; when a rule is wrong, change it here and say why in ARCHITECTURE.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readSource, root, trackedFiles, type SourceFile } from '../helpers/source-tree.ts';

const files = trackedFiles();
const isCode = (path: string): boolean => path.endsWith('.ts') && !path.includes('/generated/');
const code = files.filter(isCode).map(readSource);
const wings = ['src/service', 'src/cli', 'reference-agent', 'conformance', 'load'];
const product = code.filter(({ path }) => /^(src|reference-agent|conformance|load)\//.test(path));

/** The part of the house that a file stands in. */
function partOf(path: string): string {
  const part = [...wings, 'src/contract', 'src/shared', 'test', 'bench', 'bin'].find((name) =>
    path.startsWith(`${name}/`),
  );
  return part ?? 'elsewhere';
}

/** What a file may import besides its own part. */
function mayImport(from: SourceFile, to: string): boolean {
  const [own, other] = [partOf(from.path), partOf(to)];
  if (own === other || own === 'test' || own === 'bench') return true;
  if (own === 'src/contract' || own === 'src/shared') return false;
  if (other === 'src/contract') return to === 'src/contract/index.ts';
  if (other === 'src/shared') return true;
  // The package's own door and the switchboard open the doors of wings, and nothing behind them.
  const opensDoors = own === 'src/cli' || from.path === 'src/index.ts';
  return opensDoors && wings.includes(other) && to === `${other}/index.ts`;
}

void t.test('arrows: a wing imports the contract, the shared parts, and no other wing', (t) => {
  for (const from of code) {
    for (const { path: to, line } of from.imports) {
      if (to === undefined || to.endsWith('.json')) continue;
      t.ok(mayImport(from, to), `${from.path}:${line} must not import ${to}`);
      t.ok(files.includes(to), `${from.path}:${line} imports ${to}, which is not there`);
    }
  }
  t.end();
});

const rooms = ['ingest', 'close', 'results', 'scoring', 'simulator', 'control', 'pages'];

void t.test('arrows: no room of the service imports its sibling', (t) => {
  const roomOf = (path: string): string | undefined =>
    rooms.find((room) => path.startsWith(`src/service/${room}/`));
  for (const from of product) {
    for (const { path: to = '', line } of from.imports) {
      const [own, other] = [roomOf(from.path), roomOf(to)];
      if (own === undefined || other === undefined) continue;
      t.equal(own, other, `${from.path}:${line} must not import ${to}: they meet in the store`);
    }
  }
  t.end();
});

const owners: Record<string, RegExp> = {
  ajv: /^src\/contract\/generate\.ts$/,
  'json-schema-to-typescript': /^src\/contract\/generate\.ts$/,
  pino: /^src\/shared\/log\.ts$/,
  zod: /^(src\/cli\/|reference-agent\/script\.ts$)/,
  yargs: /^src\/cli\//,
  'better-sqlite3': /^src\/service\/store\//,
  kysely: /^src\/service\/store\//,
  openai: /^(src\/service\/model|test)\//,
  yaml: /^(src\/cli|test)\//,
  '@opentelemetry': /^(src\/cli\/demo|test\/.*)/,
  '@ai-sdk': /^test\//,
  ai: /^test\//,
  '@traceloop': /^test\//,
  fastify: /^(reference-agent|src\/service|bench)\//,
  undici: /^(conformance\/(drive|mutants)|load|src\/service\/simulator|test|bench)\//,
  selfsigned: /^(reference-agent\/tls|conformance\/mutants\/.*|test\/.*)\.ts$/,
  autocannon: /^(load|bench)\//,
  'hdr-histogram-js': /^load\//,
  werift: /^src\/shared\/peer(\/|\.ts$)/,
  ws: /^(reference-agent\/voice|conformance\/(drive|mutants)|src\/shared\/voice-call|load|src\/service\/simulator|test|bench)\//,
  'opus-decoder': /^src\/shared\/opus\//,
  'libopus-wasm': /^src\/shared\/speech\//,
  '@echogarden': /^src\/shared\/speech\//,
  '@roamhq': /^(test|bench)\//,
  '@sparticuz': /^test\//,
  'playwright-core': /^test\//,
  protobufjs: /^src\/contract\//,
  tap: /^test\//,
  typescript: /^test\//,
};

void t.test('each library has one owner', (t) => {
  for (const { path, imports } of code) {
    for (const { specifier, path: local, line } of imports) {
      if (local !== undefined || specifier.startsWith('node:')) continue;
      const name = specifier.split('/')[0] ?? '';
      const owner = owners[name];
      t.ok(owner, `${path}:${line} imports ${name}, which has no owner in test/unit/tidy.test.ts`);
      if (owner) t.match(path, owner, `${path}:${line} must not import ${name}: it has an owner`);
    }
  }
  t.end();
});

const banned: { names: RegExp; home: RegExp; instead: string }[] = [
  {
    names: /^(Date|Date\..*|performance\.now|Math\.random|setTimeout|setInterval|setImmediate)$/,
    home: /^src\/shared\//,
    instead: 'take a Clock or a Chance, so that tests can set it',
  },
  {
    names: /^process\.(env|exit)(\.|$)/,
    home: /^src\/cli\//,
    instead: 'take it as an option; the command line reads the process',
  },
  { names: /^console\./, home: /^src\/contract\/generate\.ts$/, instead: 'take a Log' },
];

void t.test('time, chance and the process are read in one place each', (t) => {
  const entries = ['src/contract/generate.ts', 'conformance/ledger.ts'];
  for (const { path, names } of product) {
    for (const { names: wrong, home, instead } of banned) {
      if (home.test(path) || entries.includes(path)) continue;
      for (const { name, line } of names) {
        t.notMatch(name, wrong, `${path}:${line} uses ${name}: ${instead}`);
      }
    }
  }
  t.end();
});

void t.test('no drawers: every file says by its name what is in it', (t) => {
  for (const path of files) {
    if (path.includes('/generated/')) continue;
    const name = path.split('/').at(-1) ?? '';
    t.notMatch(name, /^(utils?|helpers?|common|misc|types|stuff|tools?-?box)\./i, path);
    if (!isCode(path) || !product.some((file) => file.path === path)) continue;
    t.match(name, /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/, `${path} must be kebab-case`);
  }
  t.end();
});

/** Tables of data are as long as what they list. */
const isTable = (path: string): boolean => /^conformance\/requirements\//.test(path);

void t.test('files and functions can be read in one go', (t) => {
  for (const { path, text, functions } of code) {
    const lines = text.split('\n');
    if (!isTable(path))
      t.ok(lines.length <= 301, `${path} has ${lines.length - 1} lines, over 300`);
    for (const { name, lines: length, line } of functions) {
      if (partOf(path) === 'test' && name === 'a function') continue;
      t.ok(length <= 70, `${path}:${line} ${name} has ${length} lines, over 70`);
    }
  }
  t.end();
});

void t.test('no file is dead: each is reached from a door', (t) => {
  const doors =
    /^(src\/cli\/main|src\/contract\/generate|conformance\/ledger|[a-z-]+\/index|src\/service\/index)\.ts$/;
  const byPath = new Map(product.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const file = byPath.get(path);
    if (!file || reached.has(path)) return;
    reached.add(path);
    for (const { path: to } of file.imports) if (to !== undefined) visit(to);
  };
  for (const { path } of product) if (doors.test(path)) visit(path);
  for (const { path } of product) t.ok(reached.has(path), `nothing imports ${path}`);
  t.end();
});

void t.test('generated files are what the schemas make', (t) => {
  const generate = join(root, 'src/contract/generate.ts');
  t.doesNotThrow(
    () => execFileSync(process.execPath, [generate, '--check'], { stdio: 'pipe' }),
    'run npm run generate',
  );
  t.end();
});

void t.test('the repository stands on its own', (t) => {
  const known =
    /^(\.ci\/run|\.gitignore|\.prettier(rc\.json|ignore)|LICENSE|(README|ARCHITECTURE|CONTRIBUTING)\.md|package(-lock)?\.json|tsconfig(\.build)?\.json|eslint\.config\.js)$/;
  for (const path of files) {
    if (!path.includes('/')) t.match(path, known, `${path} does not belong at the root`);
    if (!/\.(ts|js|md|json)$/.test(path) || path === 'package-lock.json') continue;
    const text = readFileSync(join(root, path), 'utf8');
    if (path.endsWith('.md')) {
      const outsideCode = text.replaceAll(/```[\s\S]*?```/g, '');
      t.equal(outsideCode.match(/^# /gm)?.length, 1, `${path} must have one H1`);
    }
    if (path !== 'test/unit/tidy.test.ts' && !path.startsWith('test/')) {
      t.notMatch(text, /\/work\/|\.\.\/shared\/(spec|design|research)/, `${path} points outside`);
    }
  }
  t.end();
});
