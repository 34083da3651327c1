/** The verb `exec`: the service around a command, whatever becomes of either. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isRefused, run, start } from '../helpers/command.ts';
import { until } from '../helpers/until.ts';

/** Runs a program of JavaScript inside `exec`, with a temp folder of its own. */
async function exec(t: Test, program: string, flags: string[] = []) {
  const temp = t.testdir({});
  const ran = await run(['exec', ...flags, '--', process.execPath, '-e', program], {
    env: { TMPDIR: temp, OF_THE_CALLER: 'kept' },
  });
  t.same(readdirSync(temp), [], 'nothing is left in the temp folder');
  return ran;
}

void t.test('exec: the command finds the service, and it is gone afterwards', async (t) => {
  const ran = await exec(
    t,
    `const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
     const headers = { 'x-service-api-key': key };
     fetch(url + '/api/prod-evaluations/sessions/', { headers })
       .then(({ status }) => console.log(JSON.stringify({ status, env: process.env })));`,
  );
  t.equal(ran.code, 0, ran.stderr);
  const { status, env } = JSON.parse(ran.stdout) as { status: number; env: Record<string, string> };
  t.equal(status, 200);
  const { SANDBOX_KIT_SERVICE_URL: url = '', SANDBOX_KIT_SERVICE_API_KEY: key = '' } = env;
  t.match(env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `x-service-api-key=${key}`,
    SANDBOX_KIT_ADMIN_URL: `${url}/__admin`,
    OF_THE_CALLER: 'kept',
  });
  t.notOk('SANDBOX_KIT_AGENT_URL' in env);
  await t.rejects(fetch(url), 'nobody listens any more');
});

void t.test('exec: an exporter that is set up by the environment alone arrives', async (t) => {
  const ran = await exec(
    t,
    `import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
     import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
     const provider = new BasicTracerProvider({
       spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
     });
     const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c' };
     provider.getTracer('x').startSpan('chat', { attributes }).end();
     await provider.shutdown();
     const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
     const headers = { 'x-service-api-key': key };
     console.log((await fetch(url + '/v1/sessions/c/end', { method: 'POST', headers })).status);`,
  );
  t.same([ran.code, ran.stdout.trim()], [0, '200'], ran.stderr);
});

void t.test('exec --agent: a sandbox as well', async (t) => {
  const program = `fetch(process.env.SANDBOX_KIT_AGENT_URL + '/health')
    .then((response) => response.json()).then(({ status }) => console.log(status));`;
  const ran = await exec(t, program, ['--agent']);
  t.same([ran.code, ran.stdout.trim()], [0, 'healthy'], ran.stderr);
});

void t.test('exec: the exit code is the one of the command', async (t) => {
  t.equal((await exec(t, 'process.exit(7)')).code, 7);
  t.equal((await exec(t, `process.kill(process.pid, 'SIGKILL')`)).code, 128 + 9);
  t.match(await exec(t, `throw new Error('boom')`), { code: 1, stderr: /boom/ });
});

void t.test('exec: what can not be run', async (t) => {
  const temp = t.testdir({ file: 'no program' });
  const env = { TMPDIR: temp };
  isRefused(t, await run(['exec', '--', 'no-such-command'], { env }), /no-such-command/);
  isRefused(t, await run(['exec', '--', join(temp, 'file')], { env }), /EACCES/);
  isRefused(t, await run(['exec'], { env }), /exec -- COMMAND/);
  isRefused(t, await run(['exec', 'npm', 'test'], { env }), /./);
  t.same(readdirSync(temp), ['file']);
});

/** A command that says its process id, and what to do when asked to stop. */
const stubborn = (onSignal: string): string =>
  `for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {${onSignal}});
   setInterval(() => {}, 1e6);
   console.log(process.pid + ' ' + process.env.SANDBOX_KIT_SERVICE_URL);`;

/** Starts `exec` around a program; what it leaves must be nothing. */
async function startExec(t: Test, program: string) {
  const temp = t.testdir({});
  const args = ['exec', '--agent', '--', process.execPath, '-e', program];
  const started = await start(t, args, { env: { TMPDIR: temp } });
  const [pid = '', url = ''] = started.firstLine.split(' ');
  const isThere = (): boolean => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };
  t.ok(isThere(), 'the command runs');
  t.teardown(() => isThere() && process.kill(Number(pid), 'SIGKILL'));
  const nothingIsLeft = async (): Promise<void> => {
    t.notOk(isThere(), 'the command has ended');
    await t.rejects(fetch(url), 'nobody listens any more');
    t.same(readdirSync(temp), [], 'nothing is left in the temp folder');
  };
  return { ...started, nothingIsLeft };
}

void t.test(
  'exec: whatever asks it to stop, the command is asked, and all of it ends',
  async (t) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const polite = await startExec(t, stubborn('process.exit(5)'));
      t.equal(await polite.end(signal), 5, signal);
      await polite.nothingIsLeft();
    }
  },
);

void t.test('exec: asked twice, it kills a command that does not stop', async (t) => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const deaf = await startExec(t, stubborn(`console.error('heard')`));
    deaf.child.kill(signal);
    await until('the command was asked', () => deaf.heard().includes('heard'));
    t.equal(await deaf.end(signal), 128 + 9, signal);
    await deaf.nothingIsLeft();
  }
});

void t.test('exec: a command without -- before it', async (t) => {
  const rows: [args: string[], says: RegExp][] = [
    [['ls'], /Unexpected argument "ls"\. Put -- before the command: sandbox-kit exec -- ls\.\n/],
    [['npm', 'run', 'e2e', '--watch'], /: sandbox-kit exec -- npm run e2e --watch\.\n/],
    [['--agent', 'npm', 'test'], /: sandbox-kit exec --agent -- npm test\.\n/],
    [['--seed', 's', 'npm', 'test'], /: sandbox-kit exec --seed s -- npm test\.\n/],
  ];
  for (const [args, says] of rows) isRefused(t, await run(['exec', ...args]), says);
  isRefused(
    t,
    await run(['exec', '--agnet', '--', 'ls']),
    /Unknown option --agnet\. Did you mean --agent\?\n/,
  );
});
