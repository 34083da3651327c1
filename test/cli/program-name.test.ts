/** Printed commands have the name by which the user runs the program. */
import { join } from 'node:path';
import t from 'tap';
import { findProgramName } from '../../cli/output/program-name.ts';
import { typeCommandsIn } from '../../src/report-kit/program-name.ts';
import { run, unwrap } from '../support/commands/command.ts';
import { respondWith, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';

void t.test('npx, unless the program is on the PATH of the user', (t) => {
  const onPath = t.testdir({ 'sandbox-kit': '' });
  const PATH = ['/nowhere', onPath].join(':');
  t.equal(findProgramName({ PATH }), 'sandbox-kit');
  t.equal(findProgramName({ PATH: '/nowhere' }), 'npx sandbox-kit');
  t.equal(findProgramName({}), 'npx sandbox-kit');
  t.equal(findProgramName({ PATH, npm_command: 'exec' }), 'npx sandbox-kit', 'npx');
  t.equal(findProgramName({ PATH, npm_lifecycle_event: 'test' }), 'npx sandbox-kit', 'a script');
  t.end();
});

void t.test('the commands in a sentence have the name of the program as well', (t) => {
  const program = 'npx sandbox-kit';
  const type = (text: string): string => typeCommandsIn(text, program);
  t.equal(type('To judge it, run sandbox-kit check URL'), `To judge it, run ${program} check URL`);
  t.equal(type('Run sandbox-kit simulate again.'), `Run ${program} simulate again.`);
  t.equal(type('Place it again: sandbox-kit check URL'), `Place it again: ${program} check URL`);
  t.equal(type('It is a report of sandbox-kit load.'), 'It is a report of sandbox-kit load.');
  t.end();
});

void t.test('the commands of a report and of doctor have that name', async (t) => {
  const health = respondWith(200, { status: 'ok', timestamp: '2026-11-20T09:30:00Z' });
  const { url } = await withSandboxDouble(t, { health });
  const folder = t.testdir({ bin: { 'sandbox-kit': '' } });
  const report = join(folder, 'report.json');
  const check = ['check', url, '--area', 'health', '--json', report];
  for (const [PATH, program] of [
    [join(folder, 'bin'), 'sandbox-kit'],
    ['/nowhere', 'npx sandbox-kit'],
  ] as const) {
    const { stdout } = await run(check, { env: { PATH } });
    t.ok(stdout.includes(`\n      ${program} resend ${report} 1\n`), stdout);
    const { stdout: advice } = await run(check.slice(0, -2), { env: { PATH } });
    t.match(advice.replaceAll(/\s+/g, ' '), ` such as ${program} resend report.json NUMBER.`);
    const { stdout: diagnosis } = await run(['doctor', url], { env: { PATH } });
    t.ok(diagnosis.includes(`\n  ${program} check ${url}\n`), diagnosis);
  }
});

void t.test('a mistake is answered with commands of that name', async (t) => {
  const { stderr } = await run(['check', '--nope'], { env: { PATH: '/nowhere' } });
  t.match(unwrap(stderr), /Unknown option --nope\. Run npx sandbox-kit check --help/);
});

void t.test('if nothing listens, nothing is said about sending requests again', async (t) => {
  const { code, stdout } = await run(['check', 'http://127.0.0.1:9']);
  t.equal(code, 3);
  t.match(stdout, /Nothing accepts connections/);
  t.notMatch(stdout, /To send a request again/);
});
