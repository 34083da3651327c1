/** `kill -9` of one replica while others work on the same database. */
import t from 'tap';
import type { ProductionSessionPage } from '../../../src/contract/index.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import { startReplica } from '../../support/services/replicas.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const LEASE_MS = 60_000;
const CONVERSATIONS = 3;

void t.test('another replica scores the jobs of a killed one, each once', async (t) => {
  const { url: databaseUrl } = await withPostgres(t, 'migrated');
  const judge = await startOpenAiServer(t);
  const env = { SANDBOX_KIT_JUDGE_URL: judge.baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'm' };
  judge.behave(behaviors.hang);
  const killed = await startReplica(t, databaseUrl, { env });
  await killed.request('/__admin/seed', {
    evals: [
      { id: 'judged', name: 'Judged', kind: 'judge', params: { criteria: 'The agent greets.' } },
      { id: 'short', name: 'Short', kind: 'max_turns', params: { max: 9 } },
    ],
    settings: { evals: ['judged', 'short'] },
  });
  for (let nth = 0; nth < CONVERSATIONS; nth += 1) {
    const spans = [makeSpan({ conversationId: `c-${nth}` })];
    await killed.request('/v1/traces', makeTraceRequest(spans));
    await killed.request(`/v1/sessions/c-${nth}/end`, {});
  }
  await judge.waitForRequests(CONVERSATIONS);
  const other = await startReplica(t, databaseUrl, { env });
  await killed.end('SIGKILL');
  judge.behave(behaviors.verdict('pass'));
  await other.request('/__admin/clock', { advance_ms: LEASE_MS + 1_000 });
  await other.request('/__admin/drain', {});
  const { items, total } = await other.request<ProductionSessionPage>(
    '/api/prod-evaluations/sessions/',
  );
  t.equal(total, CONVERSATIONS);
  for (const { outcome_summary: summary } of items) {
    t.match(summary, { total_evaluations: 2, passed_count: 2 });
  }
  const [counts] = await execute(
    databaseUrl,
    `select count(*)::int as outcomes, (select max(attempts) from jobs) as attempts from outcomes`,
  );
  t.same(counts, { outcomes: 2 * CONVERSATIONS, attempts: 2 });
  t.equal(judge.requests.length, 2 * CONVERSATIONS);
});
