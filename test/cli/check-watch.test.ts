/** `check --watch`, in a pipe. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import {
  assertUsageError,
  run,
  runInBackground,
  type RunningCommand,
} from '../support/commands/command.ts';
import { until } from '../support/until.ts';

/** A sandbox with only a health endpoint that a test stops, changes, and starts again. */
interface HealthSandbox {
  url: string;
  health: Record<string, unknown>;
  stop: () => Promise<void>;
  start: () => Promise<void>;
}

async function withHealthSandbox(t: Test, status: string): Promise<HealthSandbox> {
  const sandbox = { health: { status, version: '1.0' } as Record<string, unknown> };
  let server: Server;
  const listen = async (port: number): Promise<number> => {
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ timestamp: '2026-11-20T09:30:00Z', ...sandbox.health }));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const port = await listen(0);
  t.teardown(stop);
  const restart = async (): Promise<void> => {
    await listen(port);
  };
  return Object.assign(sandbox, { url: `http://127.0.0.1:${port}`, stop, start: restart });
}

const shown = (command: RunningCommand, text: string): Promise<void> =>
  until(`shows ${text}`, () => command.stdoutSoFar().includes(text));

void t.test(
  'a run is repeated when the sandbox comes back: first the failed requirements, then all',
  async (t) => {
    const sandbox = await withHealthSandbox(t, 'fine');
    const json = join(t.testdir({}), 'check.json');
    const args = ['check', sandbox.url, '--area', 'health', '--watch', '--json', json];
    const command = await runInBackground(t, args);
    await shown(command, `Watching ${sandbox.url}. Press Ctrl-C to stop.`);
    t.match(command.stdoutSoFar(), /FAIL {2}HEALTH-010[^]*\nNOT CONFORMING/);

    await sandbox.stop();
    await shown(command, 'The sandbox does not respond. Waiting for it to come back.');
    sandbox.health = { status: 'healthy', version: '1.0' };
    await sandbox.start();
    await shown(command, 'Run 3: all requirements.');
    await until('waits again', () => command.stdoutSoFar().split('\nWatching ').length === 3);
    const text = command.stdoutSoFar().replaceAll(/\s+/g, ' ');
    t.match(text, /The sandbox responds again\. Run 2: 1 requirement that failed\./);
    t.match(
      text,
      /Changed since run 1: fixed HEALTH-010\. All failed requirements now pass\. Run 3/,
    );
    t.match(text, /Nothing changed since run 2\. Watching/);
    t.notOk(command.stdoutSoFar().includes('\u001B'), 'plain lines in a pipe');
    const report = JSON.parse(readFileSync(json, 'utf8')) as CheckReport;
    t.equal(report.verdict, 'conforming', 'the files are those of the last run');
    t.notMatch(report.notices ?? [], [/were not selected/]);
    t.equal(await command.end('SIGINT'), 0, 'the exit code is that of the last run');
  },
);

void t.test('a new version also starts a run; a stop signal keeps the exit code', async (t) => {
  const sandbox = await withHealthSandbox(t, 'fine');
  const command = await runInBackground(t, ['check', sandbox.url, '--area', 'health', '--watch']);
  await shown(command, 'Watching ');
  sandbox.health = { status: 'fine', version: '1.1' };
  await shown(command, 'The version of the sandbox changed from "1.0" to "1.1".');
  await shown(command, 'Nothing changed since run 1: still failing HEALTH-010.');
  await until('waits again', () => command.stdoutSoFar().split('\nWatching ').length === 3);
  t.equal(await command.end('SIGTERM'), 1);
});

void t.test('a note that is no longer reported is also a change', async (t) => {
  const sandbox = await withHealthSandbox(t, 'healthy');
  sandbox.health['webrtc_status'] = 'odd';
  const command = await runInBackground(t, ['check', sandbox.url, '--area', 'health', '--watch']);
  await shown(command, 'Watching ');
  sandbox.health = { status: 'healthy', version: '1.1', webrtc_status: 'operational' };
  await shown(command, 'Changed since run 1: note to pass HEALTH-015.');
  await until('waits again', () => command.stdoutSoFar().split('\nWatching ').length === 3);
  t.equal(await command.end('SIGTERM'), 0);
});

void t.test('a report to stdout is refused', async (t) => {
  assertUsageError(
    t,
    await run(['check', 'http://127.0.0.1:1', '--watch', '--json', '-']),
    /--watch and --json - can't be combined\. Write to a file\./,
  );
});
