/**
 * The verdict never depends on the seed: every mutant and legal variant of chat, health, and users, the
 * templates, and the foreign sandboxes fail the same requirements with every seed. Prints what flickers.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { defects, sandboxes } from '../field/sandboxes/expectations.ts';
import { measure } from '../field/sandboxes/measurement.ts';
import { run } from '../helpers/command.ts';
import { ROOT } from '../helpers/repository.ts';
import {
  type FailuresBySeed,
  findFlickering,
  judgePeersWithSeeds,
  note,
} from '../helpers/stability.ts';
import { check } from '../../library/index.ts';

const seeds = Array.from({ length: 20 }, (_, index) => `seed ${index + 1}`);

/** How long the foreign sandboxes may take; those that are left have their turn with another seed. */
const FIELD_MS_MAX = 120_000;

void t.test('mutants and legal variants fail the same with every seed', async (t) => {
  const failures = await judgePeersWithSeeds({ seeds, every: 1, seedsLive: 1 });
  t.comment(`${failures.size} peers`);
  t.same(findFlickering(failures), []);
});

void t.test('the templates fail nothing with any seed', async (t) => {
  const failures: FailuresBySeed = new Map();
  for (const template of ['node', 'fastify']) {
    const { startSandbox } = await loadTemplate(t, template);
    const sandbox = await startSandbox({ port: 0, host: '127.0.0.1', apiKey: 'a-key' });
    for (const seed of seeds) {
      const { requirements } = await check({
        url: sandbox.url,
        apiKey: 'a-key',
        areas: ['chat', 'health', 'users'],
        seed,
      });
      const failed = requirements.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
      note(failures, template, seed, failed.map(({ id }) => id).join(' '));
      t.same(failed, [], `${template} with ${seed}`);
    }
    await sandbox.stop();
  }
  t.same(findFlickering(failures), []);
});

interface TemplateModule {
  startSandbox: (options: object) => Promise<{ url: string; stop: () => Promise<void> }>;
}

/** Creates a project from a template, whose packages are those of the repository. */
async function loadTemplate(t: Test, template: string): Promise<TemplateModule> {
  // Inside the repository, so that its packages are found.
  const directory = t.testdir({});
  const { code, stderr } = await run(['init', '--template', template], { cwd: directory });
  t.equal(code, 0, stderr);
  const kit = join(directory, 'node_modules/sandbox-kit');
  mkdirSync(kit, { recursive: true });
  const manifest = { name: 'sandbox-kit', type: 'module', exports: './index.js' };
  writeFileSync(join(kit, 'package.json'), JSON.stringify(manifest));
  const library = pathToFileURL(join(ROOT, 'library/index.ts')).href;
  writeFileSync(join(kit, 'index.js'), `export * from '${library}';\n`);
  return (await import(pathToFileURL(join(directory, 'src/server.js')).href)) as TemplateModule;
}

void t.test('defects of foreign sandboxes fail the same with two seeds', async (t) => {
  const isInstalled = existsSync(join(ROOT, 'test/field/node_modules/hono'));
  const all = defects.filter(
    ({ sandbox }) => isInstalled || sandboxes[sandbox]?.file === 'node-http.mjs',
  );
  const failures: FailuresBySeed = new Map();
  const startMs = systemClock.monotonicMs();
  let compared = 0;
  for (const defect of all.filter(({ sandbox }) => sandbox !== 'python-flask')) {
    if (systemClock.monotonicMs() - startMs > FIELD_MS_MAX) break;
    for (const seed of ['first', 'second']) {
      const { fails, warns, blockedBy = '' } = await measure(defect.sandbox, { defect }, seed);
      const ids = [...fails, ...warns].map(({ id }) => id);
      note(failures, `${defect.sandbox}/${defect.name}`, seed, ids.join(' ') || blockedBy);
    }
    compared += 1;
  }
  t.comment(`${compared} of ${all.length} defects`);
  t.same(findFlickering(failures), []);
});
