/** The requests of each load profile. */
import t from 'tap';
import { withTarget } from '../support/measurements/load-target.ts';
import { runLoad, findTarget } from '../support/measurements/run-load.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test(
  'mixed: sends chat, health, and user requests concurrently, and deletes the users it creates',
  async (t) => {
    const { agent, send } = await withReferenceAgent(t);
    const report = await runLoad(agent.url, { profile: 'mixed', windowMs: 4_000 });
    t.same(report.streams, ['chat', 'health', 'users']);
    t.match(report.chat, { offered: 200, ok: 200 });
    t.match(report.health, { offered: 20, ok: 20 });
    t.equal(report.users?.ok, report.users?.sent);
    t.ok((report.users?.ok ?? 0) >= 7, 'creations and deletions alternate');
    const requests = JSON.parse((await send('GET /__admin/requests')).text) as unknown;
    t.notMatch(JSON.stringify(requests), /undefined/);
    const without = await runLoad(agent.url, {
      profile: 'mixed',
      windowMs: 1_000,
      preflight: () => Promise.resolve({ hasUsers: false }),
    });
    t.same(without.streams, ['chat', 'health'], 'a sandbox without /users gets no user requests');
  },
);

void t.test(
  'conversation: simulated users wait for each response and send the whole history',
  async (t) => {
    const lengths: number[] = [];
    const sessions = new Set<string>();
    const { url } = await withTarget(t, ({ session, answer, request }) => {
      sessions.add(session);
      lengths.push(Number(request.headers['content-length']));
      answer();
    });
    const report = await runLoad(url, {
      profile: 'conversation',
      simulatedUsers: 20,
      windowMs: 8_000,
    });
    t.equal(report.chat?.ok, report.chat?.sent, JSON.stringify(report.chat?.errors));
    t.ok(sessions.size >= 20 && sessions.size < lengths.length / 2, 'several turns per session');
    t.ok(Math.max(...lengths) > Math.min(...lengths) * 2, 'the history grows');
    t.match(
      findTarget(report, 'chat-throughput').reason,
      / Simulated users wait for responses and sent only \d+(\.\d)? requests\/s\.$/,
    );
    t.equal(findTarget(report, 'chat-throughput').verdict, 'NOT PROVEN');
    t.equal(findTarget(report, 'chat-sessions').verdict, 'PASS');
  },
);
