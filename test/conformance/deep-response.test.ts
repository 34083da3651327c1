/** A response that is nested a million levels deep is a failure, and every view of the report exists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import { run } from '../support/commands/command.ts';
import {
  healthy,
  respondToAll,
  respondWith,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const DEEP = '['.repeat(1_000_000) + ']'.repeat(1_000_000);

void t.test('a reply that is nested too deeply fails, and the page says why', async (t) => {
  const message = `{"role":"assistant","content":"Hello","extra":${DEEP}}`;
  const deep = respondToAll(respondWith(200, `{"choices":[{"message":${message}}]}`));
  const { url } = await withSandboxDouble(t, { ...deep, health: healthy });
  const directory = t.testdir();
  const [html, junit] = [join(directory, 'r.html'), join(directory, 'r.xml')];
  const args = ['check', url, '--area', 'chat', '--json', '-', '--html', html, '--junit', junit];
  const ran = await run(args);
  t.equal(ran.code, 1, ran.stderr);
  const report = JSON.parse(ran.stdout) as CheckReport;
  t.equal(report.verdict, 'not-conforming');
  t.match(ran.stdout, /nested more than 200 levels deep/);
  for (const file of [html, junit]) {
    t.match(readFileSync(file, 'utf8'), /nested more than 200 levels deep/, file);
  }
});
