/** Evals that find nothing out: no result shows them, so each place where one looks says it. */
import t from 'tap';
import type { SessionVerdict } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { createLineLog } from '../../helpers/log-lines.ts';
import { behaviors, startOpenAiServer } from '../../helpers/openai-server.ts';
import { makeSpan } from '../../helpers/otlp.ts';
import { makeContainsEval, withService, type Bench } from '../../helpers/service.ts';

interface Entry {
  level: string;
  code: string;
  message: string;
  about: Record<string, unknown>;
}

/** What the ingest log says of evals that errored, newest first. */
async function erroredOf({ admin }: Bench): Promise<Entry[]> {
  const { entries } = (await admin('GET /ingest-log')) as { entries: Entry[] };
  return entries.filter(({ code }) => code === 'eval_errored');
}

const judged = { id: 'greets', name: 'Greets', kind: 'judge', params: { criteria: 'It greets.' } };
const SECRET = 'my-secret-word';
const turns = [{ user_input: SECRET, agent_response: `${'a'.repeat(40)}! ${SECRET}` }];

void t.test('A session whose evals all errored is listed and says what is missing', async (t) => {
  const { log, lines } = createLineLog();
  const bench = await withService(t, { log });
  const { admin, trace, end, drain, production } = bench;
  await admin('POST /evals', judged);
  await admin('PUT /settings', { evals: ['greets'] });
  await trace(makeSpan({ user: SECRET }));
  await end('conv-1');
  await drain();
  t.equal((await production()).total, 0, 'without results it is not listed (spec 4.4)');
  const { sessions } = (await admin('GET /sessions')) as { sessions: SessionVerdict[] };
  const [session] = sessions;
  const why = /No LLM judge is configured.*SANDBOX_KIT_JUDGE_URL/;
  t.match(session, {
    source_session_id: 'conv-1',
    verdict: 'undecided',
    outcomes: [{ eval: 'greets', outcome: 'error', reasoning: why }],
  });
  const page = await fetch(session?.url ?? '');
  t.equal(page.status, 200);
  t.match(await page.text(), /1 eval errored[^]*No LLM judge is configured/);
  const about = { eval: 'greets', session_id: session?.id, count: 1 };
  t.match(await erroredOf(bench), [{ level: 'error', message: why, about }]);
  const warned = lines.filter((line) => line.includes('"eval_errored"'));
  t.match(
    warned.map((line) => JSON.parse(line) as unknown),
    [{ eval: 'greets', session: session?.id, reason: why }],
  );
  t.notMatch(lines.join('\n'), SECRET);
});

void t.test('The ingest log has every error reason without conversation text', async (t) => {
  const server = await startOpenAiServer(t);
  const judge = { baseUrl: server.baseUrl, model: 'small', retriesMax: 0 };
  const bench = await withService(t, { judge });
  const { admin, drain } = bench;
  await admin('POST /evals', judged);
  const params = { pattern: '^(a+)+$', in: 'agent' };
  await admin('POST /evals', { id: 'slow', name: 'Slow', kind: 'regex', params });
  await admin('POST /evals', { id: 'quick', name: 'Q', kind: 'max_latency', params: { ms: 1 } });
  const rows = [
    ['greets', behaviors.status(500), /failed \(500\)/],
    ['greets', behaviors.content(`${SECRET}!`), /can't be used/],
    ['slow', behaviors.hang, /stopped after \d+ ms/],
    ['quick', behaviors.hang, /has no measured latency/],
  ] as const;
  for (const [nth, [id, behaviour, says]] of rows.entries()) {
    server.behave(behaviour);
    await admin('POST /transcripts', { session_id: `t-${nth}`, turns, evals: [id] });
    await drain();
    const [entry] = await erroredOf(bench);
    t.match(entry, { message: says, about: { eval: id } });
    t.notMatch(JSON.stringify(entry), SECRET);
  }
});

void t.test('Many errors leave one log entry per minute with their count', async (t) => {
  const bench = await withService(t);
  const { admin, drain, clock } = bench;
  await admin('POST /evals', judged);
  const upload = async (from: number, count: number): Promise<void> => {
    for (let nth = from; nth < from + count; nth += 1) {
      await admin('POST /transcripts', { session_id: `t-${nth}`, turns, evals: ['greets'] });
    }
    await drain();
  };
  await upload(0, 20);
  t.match(await erroredOf(bench), { length: 1 });
  clock.advance(60_000);
  await upload(20, 1);
  t.match(await erroredOf(bench), [{ about: { count: 20 } }, { about: { count: 1 } }]);
  await admin('POST /reset', { to: 'empty' });
  await admin('POST /evals', judged);
  await upload(0, 1);
  t.match(await erroredOf(bench), [{ about: { count: 1 } }], 'a reset begins anew');
});

void t.test('A missing LLM judge is reported before anything is scored', async (t) => {
  const { log, lines } = createLineLog();
  const { admin } = await withService(t, { log });
  const says = /^evals\/greets: No LLM judge is configured.*SANDBOX_KIT_JUDGE_URL/;
  const logged = (): number => lines.filter((line) => line.includes('"judge_missing"')).length;
  await admin('POST /evals', judged);
  await admin('POST /evals', makeContainsEval('plain', 'x'));
  t.same(await admin('PUT /settings', { evals: ['plain'] }), {
    evals: ['plain'],
    run_name: 'Live traces',
  });
  t.equal(logged(), 0);
  t.match(await admin('PUT /settings', { evals: ['plain', 'greets'] }), { warnings: [says] });
  t.equal(logged(), 1);
  t.notOk('warnings' in ((await admin('GET /settings')) as object));
  const seed = { evals: [judged], settings: { evals: ['greets'] } } as const;
  t.match(await admin('POST /seed?owner=team-b', seed), { warnings: [says] });
  t.equal(logged(), 2);
});

void t.test(
  'A missing LLM judge is also reported at startup, and never when a judge is configured',
  async (t) => {
    const { log, lines } = createLineLog();
    const dataDir = t.testdir();
    const seed = { evals: [judged], settings: { evals: ['greets'] } } as never;
    await (await startService({ dataDir, seed, log })).stop();
    const missing = (): string[] =>
      lines.splice(0).filter((line) => line.includes('judge_missing'));
    t.equal(missing().length, 1);
    await (await startService({ dataDir, log })).stop();
    t.equal(missing().length, 1, 'also of settings that were made before');
    const judge = { baseUrl: 'http://127.0.0.1:9/v1', model: 'small' };
    await (await startService({ dataDir, log, judge })).stop();
    t.equal(missing().length, 0);
  },
);
