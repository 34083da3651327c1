/** Which errors the library throws: a TypeError about options, and a SandboxKitError about the rest. */
import { join } from 'node:path';
import t from 'tap';
import {
  check,
  grade,
  SandboxKitError,
  simulate,
  startAgent,
  startService,
  type SandboxKitErrorCode,
} from '../../library/index.ts';

const url = 'http://127.0.0.1:1';

void t.test('a failure with valid options is a SandboxKitError with a code', async (t) => {
  const folder = t.testdir({
    'empty.ndjson': '',
    'a.scenario.yaml': 'id: a\nnam: A\n',
  });
  const agent = await startAgent();
  t.teardown(() => agent.stop());
  const port = Number(new URL(agent.url).port);
  const rows: [run: () => Promise<unknown>, code: SandboxKitErrorCode, message: RegExp | string][] =
    [
      [
        () => grade({ recordFile: '/nowhere' }),
        'unreadable_file',
        "Can't read /nowhere (recordFile): no such file or directory.",
      ],
      [
        () => grade({ recordFile: join(folder, 'empty.ndjson') }),
        'invalid_file',
        /^recordFile must be a file of sandbox-kit check --record, but .*empty\.ndjson is empty\.$/,
      ],
      [
        () => check({ url, recordFile: '/nowhere/run.ndjson' }),
        'unwritable_file',
        "Can't write /nowhere/run.ndjson (recordFile): no such file or directory.",
      ],
      [
        () => simulate({ url, scenarios: ['nothing-*'] }),
        'unreadable_file',
        /^No scenario matches "nothing-\*" \(scenarios\)\. Expected a file, /,
      ],
      [
        () => simulate({ url, scenarios: [folder] }),
        'invalid_file',
        /a\.scenario\.yaml:2:1: Unknown field `nam`\. Did you mean `name`\?$/,
      ],
      [() => startAgent({ port }), 'start_failed', /the port is already in use \(EADDRINUSE\)/],
      [() => startService({ port }), 'start_failed', /the port is already in use \(EADDRINUSE\)/],
      [
        () => startService({ dataDir: '/dev/null/x' }),
        'start_failed',
        /Choose another directory\.$/,
      ],
    ];
  for (const [run, code, message] of rows) {
    const error = (await t.rejects(run, { name: 'SandboxKitError', code, message })) as unknown;
    t.ok(error instanceof SandboxKitError, `${code}: ${String(error)}`);
  }
});

void t.test('methods that need a running service say so after stop()', async (t) => {
  const service = await startService();
  await service.stop();
  const calls: [method: string, call: Promise<unknown>][] = [
    ['drain', service.drain()],
    ['sessions', service.sessions()],
    ['ingestLog', service.ingestLog()],
    ['advance', service.advance(1)],
    ['reset', service.reset('empty')],
  ];
  for (const [method, call] of calls) {
    await t.rejects(call, {
      name: 'SandboxKitError',
      code: 'stopped',
      message: `${method}: The service is stopped. Call ${method}() before stop().`,
    });
  }
  await service.stop();
  t.match(await service.judgeClient(), { verdict: 'not-judged' }, 'the recording is still there');
});
