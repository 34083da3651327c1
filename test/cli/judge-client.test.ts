/** The command `exec --judge-client`: judges the requests of a command to the service. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { ROOT } from '../support/repository.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';

const traces = JSON.stringify(makeTraceRequest([makeSpan()]));

/** A program that sends a turn, sends it again after an error, and ends the conversation. */
const correctProgram = `
  const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
  const post = async (path, body) => {
    for (;;) {
      const headers = { 'x-service-api-key': key, ...(body && { 'content-type': 'application/json' }) };
      const response = await fetch(url + path, { method: 'POST', headers, body });
      if (![429, 503].includes(response.status)) return;
      await new Promise((done) => setTimeout(done, 1000 * response.headers.get('retry-after')));
    }
  };
  await post('/v1/traces', ${JSON.stringify(traces)});
  await post('/v1/sessions/conv-1/end');
  console.log('the output of the command');`;

const faultyProgram = correctProgram.replace('/conv-1/end', '/conv-2/end');

/** Runs a JavaScript program inside `exec --judge-client`. */
const judge = (program: string, flags: string[] = []) => {
  const command = [process.execPath, '--input-type=module', '-e', program];
  return run(['exec', '--judge-client', ...flags, '--', ...command]);
};

const readReport = (path: string): CheckReport =>
  JSON.parse(readFileSync(path, 'utf8')) as CheckReport;

void t.test('a client that conforms exits 0, and every report is written', async (t) => {
  const folder = t.testdir({});
  const path = (name: string): string => join(folder, name);
  const files = ['json', 'junit', 'markdown', 'html', 'record'];
  const outputs = files.flatMap((name) => [`--${name}`, path(name)]);
  const { code, stdout, stderr } = await judge(correctProgram, ['--inject-faults', ...outputs]);
  t.equal(code, 0, stderr);
  t.equal(stdout, 'the output of the command\n', 'the report is on stderr');
  t.match(
    stderr,
    /^Judged \d+ of \d+ requirements[^]*not judged: The client never read results\.[^]*^CONFORMING {2}[^]*\nThe client never read simulation results\s/m,
    'what was judged, the verdict, and what the client never did',
  );
  for (const name of files) t.ok(existsSync(path(name)), name);
  const report = readReport(path('json'));
  const retried = rowOf(report, 'CLIENT-030');
  t.match(retried, { verdict: 'pass', evidence: [{ outcome: '429' }] });
  t.notMatch(readFileSync(path('html'), 'utf8'), /Where is my order/, 'no text of conversations');

  const graded = await run(['grade', path('record'), '--json', path('graded')]);
  t.equal(graded.code, 0, graded.stderr);
  const { endedAt, ...again } = readReport(path('graded'));
  t.match(report, again, 'the recording gets the same verdicts');
});

void t.test('a client that is generated from the OpenAPI document conforms', async (t) => {
  // To see the 404, it also ends a conversation that does not exist.
  const accepted = [{ id: 'CLIENT-040', comment: 'on purpose' }];
  const folder = t.testdir({ 'known.json': JSON.stringify({ accepted }) });
  const flags = [
    '--judge-client',
    '--inject-faults',
    '--known-failures',
    join(folder, 'known.json'),
  ];
  const client = join(ROOT, 'test/generated-client/service-client.ts');
  const outputs = ['--json', join(folder, 'client.json')];
  const command = [process.execPath, client];
  const { code, stderr } = await run(['exec', ...flags, ...outputs, '--', ...command]);
  t.equal(code, 0, stderr);
  const report = readReport(join(folder, 'client.json'));
  const broken = report.requirements.filter(({ verdict }) => /^(fail|warn)$/.test(verdict));
  t.same(
    broken.map(({ id, findings }) => [id, findings]),
    [['CLIENT-040', 1]],
  );
  t.equal(rowOf(report, 'CLIENT-030')?.verdict, 'pass');
});

void t.test('a client that does not conform exits 1, and the finding says why', async (t) => {
  const { code, stderr } = await judge(faultyProgram);
  t.equal(code, 1, stderr);
  t.match(stderr, /^FAIL {2}CLIENT-040\n/m);
  t.match(stderr, /received +"conv-2", which no span has\n/);
  t.match(stderr, /^NOT CONFORMING {2}[^]*\nRetries were not observed\. Add --inject-faults/m);
});

void t.test('the exit code of a failed command takes precedence', async (t) => {
  const { code, stderr } = await judge(`${faultyProgram} process.exitCode = 7;`);
  t.equal(code, 7);
  t.match(stderr, /^NOT CONFORMING {2}/m, 'the report is still shown');
});

void t.test('a command that sends no request exits 3', async (t) => {
  const { code, stderr } = await judge('console.log(1)');
  t.equal(code, 3);
  t.match(stderr, /^The client sent no request to the service at http/m);
  t.match(stderr, /^NOT JUDGED {2}/m);
});

void t.test('known failures of a client are accepted', async (t) => {
  const folder = t.testdir({
    'known.json': '{"accepted":[{"id":"CLIENT-040","comment":"until release 7"}]}',
    'sandbox.json': '{"accepted":[{"id":"CHAT-024","comment":"until release 7"}]}',
  });
  const flags = ['--known-failures', join(folder, 'known.json')];
  const { code, stderr } = await judge(faultyProgram, flags);
  t.equal(code, 0, stderr);
  assertUsageError(
    t,
    await judge(faultyProgram, ['--known-failures', join(folder, 'sandbox.json')]),
    /CHAT-024 is not part of this run: it is a requirement of a sandbox\./,
  );
});

void t.test('a command that failed decides the exit code, and the output says so', async (t) => {
  const { code, stderr } = await judge(`${correctProgram} process.exit(7);`);
  t.equal(code, 7);
  t.match(
    stderr,
    /^CONFORMING {2}[^]*\nThe command failed with exit code 7\. exec exits with the same code/m,
  );
});

void t.test('the other options need --judge-client', async (t) => {
  const rows = [['--inject-faults'], ['--json', 'a.json'], ['--record', 'a'], ['--strict']];
  for (const flags of rows) {
    const ran = await run(['exec', ...flags, '--', 'true'], { cwd: t.testdir({}) });
    assertUsageError(t, ran, new RegExp(`${flags[0] ?? ''} needs --judge-client\\.`));
  }
});

void t.test('explain and selftest support the area', async (t) => {
  const explained = await run(['explain', 'CLIENT-030']);
  t.match(explained.stdout, /^CLIENT-030 {2}After a 429[^]*- client\/ignores-retry-after: /);
  const listed = await run(['explain', 'client']);
  t.match(listed.stdout, /^CLIENT-001 +must +Every request carries the API key header\.\n/);
  const { code, stdout, stderr } = await run(['selftest', '--area', 'client', '--only', 'no-key']);
  t.equal(code, 0, stderr);
  t.match(stdout, /1 of 1 mutants caught[^]*\nPROVEN {2}/);
});
