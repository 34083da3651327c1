/** `doctor`: what it says about a sandbox that can be checked, and about one that can't. */
import { createServer } from 'node:http';
import t from 'tap';
import { run } from '../support/commands/command.ts';
import { NOWHERE, startLocally } from '../support/network/local-server.ts';
import { refusal, respondWith, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

void t.test('doctor reports a reachable sandbox, or one cause, as text and as JSON', async (t) => {
  const reachable = await run(['doctor', await startTextAgent(t)]);
  t.equal(reachable.code, 0, reachable.stderr);
  t.match(reachable.stdout, /The sandbox is reachable\./);
  const unreachable = await run(['doctor', NOWHERE, '--json', '-']);
  t.equal(unreachable.code, 3, unreachable.stderr);
  t.match(JSON.parse(unreachable.stdout), { ok: false, blockedBy: { id: 'refused' } });
  t.match(unreachable.stderr, /Nothing accepts connections/);
  const endless = createServer((_request, response) => {
    const sendMore = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', sendMore);
    };
    sendMore();
  });
  const unusable = await run(['doctor', await startLocally(t, endless)]);
  t.equal(unusable.code, 3, unusable.stdout);
  t.match(unusable.stdout, /Every response is larger than any response of the interface/);
  const locked = await run(['doctor', await startTextAgent(t, { apiKey: 'sk-sandbox' })]);
  t.equal(locked.code, 3, locked.stderr);
  t.match(locked.stdout, /requires a key[^]*SANDBOX_KIT_API_KEY/);
});

void t.test('doctor says what responds, what fails, and how to try the rest', async (t) => {
  const notFound = respondWith(404, '{}');
  const double = await withSandboxDouble(t, { delete: refusal(500, 'server_error') });
  const diagnose = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await run(['doctor', double.url, ...args]);
    t.equal(code, 0, stdout);
    return stdout.replaceAll(/\s+/g, ' ');
  };
  const whole = await diagnose();
  t.match(whole, 'Responds GET /health, POST /v1/chat/completions, POST /users Fails');
  t.match(whole, 'Fails DELETE /users/{user_id} (500) Absent WebSocket /voice (');
  t.match(whole, /GET \/sandbox-kit-\S+ .* ms a path that does not exist, to compare/);
  t.match(whole, 'reachable, but DELETE /users/{user_id} fails. To check it, run:');
  const withoutVoice = await diagnose('--area', 'chat,health');
  t.match(
    withoutVoice,
    /Not tried WebSocket \/voice To try (npx )?sandbox-kit check \S+ --area voice The sandbox /,
  );
  double.setBehavior({ create: notFound, health: respondWith(200, { status: 'healthy' }) });
  const withoutUsers = await diagnose();
  t.match(
    withoutUsers,
    'Absent POST /users (404; optional), DELETE /users/{user_id} (not tried; optional), WebSocket',
  );
  t.match(
    withoutUsers,
    'Fails GET /health (200 with an invalid body: /timestamp must be an ISO 8601 time, got nothing)',
  );
  double.setBehavior({ delete: notFound });
  const withoutDeletion = await diagnose();
  t.match(withoutDeletion, 'Absent DELETE /users/{user_id} (404; optional), WebSocket /voice (');
  t.match(withoutDeletion, 'The sandbox is reachable. To check it, run:');
});
