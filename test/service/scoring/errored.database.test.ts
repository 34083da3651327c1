/** Evals that error: the results endpoints omit them, so logs, pages, and verdicts report them. */
import t from 'tap';
import type { SessionVerdict } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { replicaCount } from '../../support/database/store.ts';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import {
  greetsEval,
  makeContainsEval,
  withService,
  type LogEntry,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

/** Returns the ingest log entries about evals that errored, newest first. */
const listErrored = async ({ ingestLog }: ServiceUnderTest): Promise<LogEntry[]> =>
  (await ingestLog()).filter(({ code }) => code === 'eval_errored');

const SECRET = 'my-secret-word';
const turns = [{ user_input: SECRET, agent_response: `${'a'.repeat(40)}! ${SECRET}` }];

void t.test('a session whose evals all errored is listed and says what is missing', async (t) => {
  const { log, lines } = createLineLog();
  const tested = await withService(t, { log });
  const { admin, trace, end, drain, production } = tested;
  await admin('POST /evals', greetsEval);
  await admin('PUT /settings', { evals: ['greets'] });
  await trace(makeSpan({ user: SECRET }));
  await end('conv-1');
  await drain();
  t.equal((await production()).total, 0, 'without results it is not listed (spec 4.4)');
  const { sessions } = (await admin('GET /sessions')) as { sessions: SessionVerdict[] };
  const [session] = sessions;
  const reason = /No LLM judge is configured.*SANDBOX_KIT_JUDGE_URL/;
  t.match(session, {
    source_session_id: 'conv-1',
    verdict: 'undecided',
    outcomes: [{ eval: 'greets', outcome: 'error', reasoning: reason }],
  });
  const page = await fetch(session?.url ?? '');
  t.equal(page.status, 200);
  t.match(await page.text(), /1 eval errored[^]*No LLM judge is configured/);
  const about = { eval: 'greets', session_id: session?.id, count: 1 };
  t.match(await listErrored(tested), [{ level: 'error', message: reason, about }]);
  const warnings = lines.filter((line) => line.includes('"eval_errored"'));
  t.match(
    warnings.map((line) => JSON.parse(line) as unknown),
    [{ eval: 'greets', session: session?.id, reason }],
  );
  t.notMatch(lines.join('\n'), SECRET);
});

void t.test('the ingest log has every error reason without conversation text', async (t) => {
  const server = await startOpenAiServer(t);
  const judge = { baseUrl: server.baseUrl, model: 'small', retriesMax: 0 };
  const tested = await withService(t, { judge });
  const { admin, drain } = tested;
  await admin('POST /evals', greetsEval);
  const params = { pattern: '^(a+)+$', in: 'agent' };
  await admin('POST /evals', { id: 'slow', name: 'Slow', kind: 'regex', params });
  await admin('POST /evals', { id: 'quick', name: 'Q', kind: 'max_latency', params: { ms: 1 } });
  const rows = [
    ['greets', behaviors.status(500), /failed \(500\)/],
    ['greets', behaviors.content(`${SECRET}!`), /can't be used/],
    ['slow', behaviors.hang, /stopped after \d+ ms/],
    ['quick', behaviors.hang, /has no measured latency/],
  ] as const;
  for (const [nth, [id, behavior, message]] of rows.entries()) {
    server.behave(behavior);
    await admin('POST /transcripts', { session_id: `t-${nth}`, turns, evals: [id] });
    await drain();
    // With several replicas, the one that scored writes its entry just after the outcome.
    const hasEntry = async () => (await listErrored(tested)).length > nth;
    if (replicaCount > 1) await until('the ingest log has the entry', hasEntry);
    const [entry] = await listErrored(tested);
    t.match(entry, { message, about: { eval: id } });
    t.notMatch(JSON.stringify(entry), SECRET);
  }
});

void t.test('many errors leave one log entry per minute with their count', async (t) => {
  const tested = await withService(t);
  const { admin, drain, clock } = tested;
  await admin('POST /evals', greetsEval);
  const upload = async (from: number, count: number): Promise<void> => {
    for (let nth = from; nth < from + count; nth += 1) {
      await admin('POST /transcripts', { session_id: `t-${nth}`, turns, evals: ['greets'] });
    }
    await drain();
  };
  await upload(0, 20);
  t.match(await listErrored(tested), { length: 1 });
  clock.advance(60_000);
  await upload(20, 1);
  t.match(await listErrored(tested), [{ about: { count: 20 } }, { about: { count: 1 } }]);
  await admin('POST /reset', { to: 'empty' });
  await admin('POST /evals', greetsEval);
  await upload(0, 1);
  t.match(await listErrored(tested), [{ about: { count: 1 } }], 'a reset starts a new count');
});

void t.test('a missing LLM judge is reported before anything is scored', async (t) => {
  const { log, lines } = createLineLog();
  const { admin } = await withService(t, { log });
  const warning = /^evals\/greets: No LLM judge is configured.*SANDBOX_KIT_JUDGE_URL/;
  const countLogged = (): number => lines.filter((line) => line.includes('"judge_missing"')).length;
  await admin('POST /evals', greetsEval);
  await admin('POST /evals', makeContainsEval('plain', 'x'));
  t.same(await admin('PUT /settings', { evals: ['plain'] }), {
    evals: ['plain'],
    run_name: 'Live traces',
  });
  t.equal(countLogged(), 0);
  t.match(await admin('PUT /settings', { evals: ['plain', 'greets'] }), { warnings: [warning] });
  t.equal(countLogged(), 1);
  t.notOk('warnings' in ((await admin('GET /settings')) as object));
  const seed = { evals: [greetsEval], settings: { evals: ['greets'] } } as const;
  t.match(await admin('POST /seed?owner=team-b', seed), { warnings: [warning] });
  t.equal(countLogged(), 2);
});

void t.test(
  'a missing LLM judge is also reported at startup, and never when a judge is configured',
  async (t) => {
    const { log, lines } = createLineLog();
    const dataDir = t.testdir();
    const seed = { evals: [greetsEval], settings: { evals: ['greets'] } } as never;
    await (await startService({ dataDir, seed, log })).stop();
    const takeWarnings = (): string[] =>
      lines.splice(0).filter((line) => line.includes('judge_missing'));
    t.equal(takeWarnings().length, 1);
    await (await startService({ dataDir, log })).stop();
    t.equal(takeWarnings().length, 1, 'even for settings from an earlier start');
    const judge = { baseUrl: 'http://127.0.0.1:9/v1', model: 'small' };
    await (await startService({ dataDir, log, judge })).stop();
    t.equal(takeWarnings().length, 0);
  },
);
