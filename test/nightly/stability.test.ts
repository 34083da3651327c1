/**
 * The verdict never depends on the seed: every mutant and legal variant of chat, health, and users, the
 * templates, and the foreign sandboxes fail the same requirements with every seed. Prints what flickers.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { defects, sandboxes, type Defect } from '../field/sandboxes/expectations.ts';
import { measure } from '../field/sandboxes/measurement.ts';
import { run } from '../support/commands/command.ts';
import {
  type FailuresBySeed,
  findFlickering,
  judgePeersInProcesses,
  note,
} from '../support/conformance/stability.ts';
import { ROOT } from '../support/repository.ts';
import { check } from '../../library/index.ts';

const seeds = Array.from({ length: 20 }, (_, index) => `seed-${index + 1}`);

/** The foreign sandboxes are checked until so much time has passed, which covers some of their defects. */
const FIELD_MS_MAX = 150_000;
const DEFECT_SEEDS = seeds.slice(0, 5);
/** Foreign sandboxes are separate processes, so several checks run concurrently. */
const FIELD_LANES = 3;

/** Prints what was compared, and what flickers. */
function report(t: Test, name: string, failures: FailuresBySeed): void {
  const flickering = findFlickering(failures);
  const verdicts = [...failures.values()].reduce((sum, { size }) => sum + size, 0);
  t.comment(`${failures.size} ${name}, ${verdicts} verdicts, ${flickering.length} flickering`);
  for (const line of flickering) t.comment(line);
  t.same(flickering, []);
}

void t.test('mutants and legal variants fail the same with every seed', async (t) => {
  const failures = await judgePeersInProcesses({ seeds, every: 1, seedsLive: seeds.length }, 2);
  report(t, 'mutants and legal variants', failures);
});

void t.test('the templates fail nothing with any seed', async (t) => {
  const failures: FailuresBySeed = new Map();
  for (const template of ['node', 'fastify']) {
    const { startSandbox } = await loadTemplate(t, template);
    const sandbox = await startSandbox({ port: 0, host: '127.0.0.1', apiKey: 'a-key' });
    t.teardown(() => sandbox.stop());
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
  }
  report(t, 'templates', failures);
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

const isInstalled = existsSync(join(ROOT, 'test/field/node_modules/hono'));

/** Whether a foreign sandbox can run here: Flask may be missing. */
const canRun = (sandbox: string): boolean =>
  sandbox !== 'python-flask' && (isInstalled || sandboxes[sandbox]?.file === 'node-http.mjs');

/** Checks foreign sandboxes with each of their seeds, as many as there is time for. */
async function checkForeign(
  peers: readonly { sandbox: string; defect?: Defect; seeds: readonly string[] }[],
): Promise<FailuresBySeed> {
  const failures: FailuresBySeed = new Map();
  const startMs = systemClock.monotonicMs();
  const queue = [...peers];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { sandbox, defect } = next;
      const name = `${sandbox}/${defect?.name ?? 'clean'}`;
      for (const seed of next.seeds) {
        // A sandbox that hangs takes minutes for each seed.
        if (systemClock.monotonicMs() - startMs > FIELD_MS_MAX) return;
        const change = { ...(defect && { defect }) };
        const { fails, warns, blockedBy } = await measure(sandbox, change, seed);
        const ids = [...fails, ...warns].map(({ id }) => id);
        // The message of a cause may list requests that were in flight by chance.
        note(failures, name, seed, ids.join(' ') || (blockedBy?.id ?? ''));
      }
    }
  };
  await Promise.all(Array.from({ length: FIELD_LANES }, work));
  return failures;
}

void t.test('foreign sandboxes fail nothing with any seed', async (t) => {
  const names = Object.keys(sandboxes).filter(canRun);
  const failures = await checkForeign(names.map((sandbox) => ({ sandbox, seeds })));
  for (const [name, bySeed] of failures) {
    t.same([...new Set(bySeed.values())], [''], `${name} with ${bySeed.size} seeds`);
  }
  report(t, `of ${names.length} foreign sandboxes`, failures);
});

void t.test('defects of foreign sandboxes fail the same with several seeds', async (t) => {
  const all = defects.filter(({ sandbox }) => canRun(sandbox));
  // Another night starts with another defect.
  const first = Math.floor(systemClock.nowMs() / 86_400_000) % Math.max(1, all.length);
  const inOrder = [...all.slice(first), ...all.slice(0, first)];
  const failures = await checkForeign(
    inOrder.map((defect) => ({ sandbox: defect.sandbox, defect, seeds: DEFECT_SEEDS })),
  );
  report(t, `of ${all.length} defects`, failures);
});
