/** What each profile sends. */
import t from 'tap';
import { withAgent } from '../helpers/agent.ts';
import { loaded, targetIn, withTarget } from '../helpers/load.ts';

void t.test(
  'mixed: chat, health and users side by side, and users are deleted again',
  async (t) => {
    const { agent, send } = await withAgent(t);
    const report = await loaded(agent.url, { profile: 'mixed', windowMs: 4_000 });
    t.same(report.streams, ['chat', 'health', 'users']);
    t.match(report.chat, { offered: 200, ok: 200 });
    t.match(report.health, { offered: 20, ok: 20 });
    t.equal(report.users?.ok, report.users?.sent);
    t.ok((report.users?.ok ?? 0) >= 7, 'as many deleted as created, but for the last');
    const made = JSON.parse((await send('GET /__admin/requests')).text) as unknown;
    t.notMatch(JSON.stringify(made), /undefined/);
    const without = await loaded(agent.url, {
      profile: 'mixed',
      windowMs: 1_000,
      preflight: () => Promise.resolve({ hasUsers: false }),
    });
    t.same(without.streams, ['chat', 'health'], 'a sandbox without /users is not asked for them');
  },
);

void t.test('conversation: users wait for answers, and take the history along', async (t) => {
  const lengths: number[] = [];
  const sessions = new Set<string>();
  const { url } = await withTarget(t, ({ session, answer, request }) => {
    sessions.add(session);
    lengths.push(Number(request.headers['content-length']));
    answer();
  });
  const report = await loaded(url, {
    profile: 'conversation',
    simulatedUsers: 20,
    windowMs: 8_000,
  });
  t.equal(report.chat?.ok, report.chat?.sent, JSON.stringify(report.chat?.errors));
  t.ok(sessions.size >= 20 && sessions.size < lengths.length / 2, 'several turns a session');
  t.ok(Math.max(...lengths) > Math.min(...lengths) * 2, 'the history grows');
  t.match(targetIn(report, 'chat-throughput').reason, /users who wait for answers asked only/);
  t.equal(targetIn(report, 'chat-throughput').verdict, 'NOT PROVEN');
  t.equal(targetIn(report, 'chat-sessions').verdict, 'PASS');
});
