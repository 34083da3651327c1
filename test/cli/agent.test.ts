/** `agent`: the files that it reads, and the command that it prints. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run, runInBackground } from '../support/commands/command.ts';
import { JSON_CONTENT } from '../support/network/send.ts';
import { makeChatRequest } from '../support/sandboxes/reference-agent.ts';

void t.test('the printed check has the key file of the agent', async (t) => {
  const keyFile = join(t.testdir({}), 'key');
  writeFileSync(keyFile, 'sk-sandbox');
  const agent = await runInBackground(t, ['agent', '--port', '0', '--api-key-file', keyFile]);
  const [, url = '', path] =
    /sandbox-kit check (http:\S+) --api-key-file (\S+)\n/.exec(agent.stdoutSoFar()) ?? [];
  t.equal(path, keyFile, agent.stdoutSoFar());
  const reachable = await run(['doctor', url, '--api-key-file', keyFile]);
  t.equal(reachable.code, 0, reachable.stdout);
});

void t.test('--script reads a pipe', async (t) => {
  const folder = t.testdir({});
  const [script, pipe] = [join(folder, 'script.json'), join(folder, 'pipe')];
  writeFileSync(script, JSON.stringify({ rules: [{ reply: { content: 'From the pipe.' } }] }));
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'cat "$0" > "$1"', script, pipe]);
  const ended = once(writer, 'exit');
  const agent = await runInBackground(t, ['agent', '--port', '0', '--json', '--script', pipe]);
  await ended;
  const { url } = JSON.parse(agent.firstLine) as { url: string };
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: JSON_CONTENT,
    body: JSON.stringify(makeChatRequest('Hello')),
  });
  t.match(await response.text(), 'From the pipe.');
});
