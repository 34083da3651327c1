/**
 * Foreign sandboxes in web frameworks that the kit does not use. A clean or an unusual sandbox is
 * conforming; a sandbox with one defect fails a requirement that names the defect.
 *
 * By default the test checks each sandbox clean and with two defects; at night
 * it checks everything. FIELD_ONLY=koa or FIELD_ONLY=koa/small-body-limit selects, and FIELD_SEED sets
 * the random seed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isNightly } from '../support/nightly.ts';
import { defects, oddities, sandboxes, type Defect } from './sandboxes/expectations.ts';
import { exceptions } from './sandboxes/exceptions.ts';
import { judge, measure, UNRELATED_MAX, type Measurement } from './sandboxes/measurement.ts';

const DEFECTS_BY_DEFAULT = 2;
const all = isNightly;
const only = process.env.FIELD_ONLY;

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules/hono'));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasFlask = hasPython && spawnSync('python3', ['-c', 'import flask']).status === 0;

/** Returns why a sandbox can't run on this machine, or false. */
function findObstacle(file: string): string | false {
  if (file === 'python-flask.py') return hasFlask ? false : 'Flask is not installed.';
  if (file.endsWith('.py')) return hasPython ? false : 'python3 is not installed.';
  return isInstalled ? false : 'The packages are not installed: run npm run test:field.';
}

function isSelected(sandbox: string, name: string): boolean {
  return only === undefined || only === sandbox || only === `${sandbox}/${name}`;
}

function assertConforming(t: Test, title: string, { verdict, fails }: Measurement): void {
  t.same({ verdict, fails }, { verdict: 'conforming', fails: [] }, `${title} is conforming`);
}

/** Asserts that a defect has the outcome that the tables name, and reports its failures. */
async function assertCaught(t: Test, defect: Defect): Promise<void> {
  const measurement = await measure(defect.sandbox, { defect });
  const { outcome, unrelated } = judge(defect, measurement);
  const { fails, blockedBy } = measurement;
  const exception = exceptions[`${defect.sandbox}/${defect.name}`];
  t.comment(`${defect.name}: ${outcome}, ${fails.length} failures, ${unrelated.length} unrelated`);
  const detail = {
    outcome,
    blockedBy: blockedBy?.message ?? 'none',
    fails: fails.map(({ id, rule }) => `${id} ${rule}`),
  };
  const title = `${defect.name}: ${exception?.reason ?? defect.verdict} (spec ${defect.section})`;
  if (exception && outcome === 'expected' && unrelated.length <= UNRELATED_MAX) {
    t.comment(`${defect.name} is caught: remove its exception.`);
    return;
  }
  t.equal(outcome, exception?.outcome ?? 'expected', title, detail);
  t.ok(unrelated.length <= UNRELATED_MAX, `${defect.name}: few unrelated failures`, { unrelated });
}

for (const [name, { file, stack }] of Object.entries(sandboxes)) {
  void t.test(stack, { skip: findObstacle(file) }, async (t) => {
    if (isSelected(name, 'clean')) assertConforming(t, 'clean', await measure(name));
    const selected = defects.filter((row) => row.sandbox === name && isSelected(name, row.name));
    const count = all || only !== undefined ? Infinity : DEFECTS_BY_DEFAULT;
    for (const defect of selected.slice(0, count)) await assertCaught(t, defect);
    if (!all && only === undefined) return;
    for (const oddity of oddities.filter((row) => row.sandbox === name)) {
      if (!isSelected(name, oddity.name)) continue;
      const measurement = await measure(name, { oddity: oddity.name });
      assertConforming(t, `${oddity.name} (${oddity.legalBecause})`, measurement);
    }
  });
}
