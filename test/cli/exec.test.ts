/** The command `exec`: runs the service for the duration of another command. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  assertUsageError,
  run,
  runInBackground,
  type RunningCommand,
  type RunOptions,
} from '../support/commands/command.ts';
import { runProcess, start } from '../support/commands/command-process.ts';
import { until } from '../support/until.ts';

/** Returns the arguments that run a JavaScript program inside `exec`. */
const execArgs = (program: string, flags: string[] = []): string[] => [
  ...['exec', ...flags, '--', process.execPath, '-e', program],
];

void t.test('exec: the command can reach the service, which stops afterward', async (t) => {
  const temp = t.testdir({});
  const program = `
    const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
    const headers = { 'x-service-api-key': key };
    fetch(url + '/api/prod-evaluations/sessions/', { headers })
      .then(({ status }) => console.log(JSON.stringify({ status, env: process.env })));`;
  const ran = await runProcess(execArgs(program), { env: { TMPDIR: temp, INHERITED: 'yes' } });
  t.same(readdirSync(temp), [], 'the temporary directory is empty');
  t.equal(ran.code, 0, ran.stderr);
  const { status, env } = JSON.parse(ran.stdout) as { status: number; env: Record<string, string> };
  t.equal(status, 200);
  const { SANDBOX_KIT_SERVICE_URL: url = '', SANDBOX_KIT_SERVICE_API_KEY: key = '' } = env;
  t.match(env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `x-service-api-key=${key}`,
    SANDBOX_KIT_ADMIN_URL: `${url}/__admin`,
    INHERITED: 'yes',
  });
  t.notOk('SANDBOX_KIT_AGENT_URL' in env);
  await t.rejects(fetch(url), 'the service has stopped');
});

void t.test('exec: an OpenTelemetry exporter needs only the environment variables', async (t) => {
  const ran = await run(
    execArgs(`import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
     import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
     const provider = new BasicTracerProvider({
       spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
     });
     const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c' };
     provider.getTracer('x').startSpan('chat', { attributes }).end();
     await provider.shutdown();
     const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
     const headers = { 'x-service-api-key': key };
     console.log((await fetch(url + '/v1/sessions/c/end', { method: 'POST', headers })).status);`),
  );
  t.same([ran.code, ran.stdout.trim()], [0, '200'], ran.stderr);
});

void t.test('exec --agent: also starts a sandbox', async (t) => {
  const program = `fetch(process.env.SANDBOX_KIT_AGENT_URL + '/health')
    .then((response) => response.json()).then(({ status }) => console.log(status));`;
  const ran = await run(execArgs(program, ['--agent']));
  t.same([ran.code, ran.stdout.trim()], [0, 'healthy'], ran.stderr);
});

void t.test('exec: exits with the exit code of the command', async (t) => {
  t.equal((await run(execArgs('process.exit(7)'))).code, 7);
  t.equal((await run(execArgs(`process.kill(process.pid, 'SIGKILL')`))).code, 128 + 9);
  t.match(await run(execArgs(`throw new Error('boom')`)), { code: 1, stderr: /boom/ });
});

void t.test('exec: a command that cannot be run is wrong usage', async (t) => {
  const temp = t.testdir({ file: 'no program' });
  const env = { TMPDIR: temp };
  assertUsageError(t, await run(['exec', '--', 'no-such-command'], { env }), /no-such-command/);
  assertUsageError(t, await run(['exec', '--', join(temp, 'file')], { env }), /EACCES/);
  assertUsageError(t, await run(['exec'], { env }), /exec -- COMMAND/);
  assertUsageError(t, await run(['exec', 'npm', 'test'], { env }), /./);
  t.same(readdirSync(temp), ['file']);
});

/** A program that prints its process id and the service URL, and runs code on each signal. */
const onSignals = (onSignal: string): string =>
  `for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {${onSignal}});
   setInterval(() => {}, 1e6);
   console.log(process.pid + ' ' + process.env.SANDBOX_KIT_SERVICE_URL);`;

/** Starts `exec` with a program; `assertClean` asserts that nothing of either is left. */
async function startExec(
  t: Test,
  program: string,
  startIn: (t: Test, args: string[], options: RunOptions) => Promise<RunningCommand>,
) {
  const temp = t.testdir({});
  const args = execArgs(program, ['--agent']);
  const started = await startIn(t, args, { env: { TMPDIR: temp } });
  const [pid = '', url = ''] = started.firstLine.split(' ');
  const isRunning = (): boolean => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };
  t.ok(isRunning(), 'the command runs');
  t.teardown(() => isRunning() && process.kill(Number(pid), 'SIGKILL'));
  const assertClean = async (): Promise<void> => {
    t.notOk(isRunning(), 'the command has ended');
    await t.rejects(fetch(url), 'the service has stopped');
    t.same(readdirSync(temp), [], 'the temporary directory is empty');
  };
  return { ...started, assertClean };
}

void t.test(
  'exec: passes SIGINT, SIGTERM, and SIGHUP on to the command, then exits with its code',
  async (t) => {
    for (const [signal, startIn] of [
      ['SIGINT', start],
      ['SIGTERM', runInBackground],
      ['SIGHUP', runInBackground],
    ] as const) {
      const running = await startExec(t, onSignals('process.exit(5)'), startIn);
      t.equal(await running.end(signal), 5, signal);
      await running.assertClean();
    }
  },
);

void t.test('exec: a second signal kills a command that does not stop', async (t) => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const running = await startExec(t, onSignals(`console.error('received')`), runInBackground);
    running.signal(signal);
    await until('the command received the signal', () =>
      running.stderrSoFar().includes('received'),
    );
    t.equal(await running.end(signal), 128 + 9, signal);
    await running.assertClean();
  }
});

void t.test('exec: a command without -- is rejected with the corrected command line', async (t) => {
  const rows: [args: string[], message: RegExp][] = [
    [
      ['ls'],
      /Unexpected argument "ls"\. Put -- before the command: (npx )?sandbox-kit exec -- ls\.\n/,
    ],
    [['npm', 'run', 'e2e', '--watch'], /: (npx )?sandbox-kit exec -- npm run e2e --watch\.\n/],
    [['--agent', 'npm', 'test'], /: (npx )?sandbox-kit exec --agent -- npm test\.\n/],
    [['--seed', 's', 'npm', 'test'], /: (npx )?sandbox-kit exec --seed s -- npm test\.\n/],
  ];
  for (const [args, message] of rows) assertUsageError(t, await run(['exec', ...args]), message);
  assertUsageError(
    t,
    await run(['exec', '--agnet', '--', 'ls']),
    /Unknown option --agnet\. Did you mean --agent\?\n/,
  );
});
