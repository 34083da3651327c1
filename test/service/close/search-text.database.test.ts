/** The text that a search finds a session by is committed with the close. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { withDatabaseProxy } from '../../support/database/database-proxy.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { isPostgres, openDatabase } from '../../support/database/store.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

/** Adds a conversation that says a word. */
const traceWord = ({ trace }: ServiceUnderTest, word: string): Promise<void> =>
  trace(makeSpan({ conversationId: `c-${word}`, agent: `The ${word} is here.` }));

async function setLiveEval({ admin }: ServiceUnderTest): Promise<void> {
  await admin('POST /evals', makeContainsEval('any', 'here'));
  await admin('PUT /settings', { evals: ['any'] });
}

/** Returns the conversations of the sessions that a search finds. */
async function search({ send }: ServiceUnderTest, word: string): Promise<string[]> {
  const { text } = await send(`GET /sessions?text=${word}`, { headers: { accept: 'text/html' } });
  return [...new Set(text.match(/\bc-(heron|kestrel)\b/g))];
}

/** Starts a service, and returns a function that runs statements in its database. */
async function withDatabase(t: Test) {
  if (isPostgres) {
    const { url } = await withPostgres(t, 'migrated');
    const tested = await withService(t, { databaseUrl: url });
    return { tested, run: (statement: string) => execute(url, statement) };
  }
  const dataDir = t.testdir();
  const tested = await withService(t, { dataDir });
  const db = openDatabase(t, join(dataDir, 'service.db'));
  return { tested, run: (statement: string) => Promise.resolve(db.exec(statement)) };
}

const failTexts = isPostgres
  ? [
      `create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'no text'; end $$`,
      'create trigger fail before insert on session_texts execute function fail()',
    ]
  : [
      `create trigger fail before insert on session_texts begin
        select raise(abort, 'no text'); end`,
    ];
const storeTexts = `drop trigger fail${isPostgres ? ' on session_texts' : ''}`;

void t.test('without its search text, no conversation is closed or queued', async (t) => {
  const { tested, run } = await withDatabase(t);
  const { admin, end, send, drain, trace } = tested;
  await traceWord(tested, 'heron');
  await end('c-heron');
  await trace(makeSpan({ conversationId: 'c-heron', agent: 'Too late for a kestrel.' }));
  await setLiveEval(tested);
  await traceWord(tested, 'kestrel');
  for (const statement of failTexts) await run(statement);
  t.equal((await send('POST /v1/sessions/c-kestrel/end')).status, 500);
  t.equal((await send('POST /__admin/score-backlog', { key: null })).status, 500);
  await run(storeTexts);
  t.match(await end('c-kestrel'), { evaluations_queued: 1 });
  t.match(await admin('POST /score-backlog'), { conversations: 1 });
  await drain();
  t.same(await search(tested, 'kestrel'), ['c-kestrel']);
  t.same(await search(tested, 'heron'), ['c-heron']);
});

void t.test('a search finds a session if its close committed without an answer', async (t) => {
  const { url: direct } = await withPostgres(t, 'migrated');
  const url = new URL(direct);
  const proxy = await withDatabaseProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const tested = await withService(t, { databaseUrl: url.href });
  const { admin, end, send, drain } = tested;
  await traceWord(tested, 'heron');
  await end('c-heron');
  await setLiveEval(tested);
  await traceWord(tested, 'kestrel');
  proxy.setCommitFate(() => 'cut after');
  t.equal((await send('POST /v1/sessions/c-kestrel/end')).status, 503);
  t.equal((await send('POST /__admin/score-backlog', { key: null })).status, 503);
  t.ok(proxy.countCuts().after >= 2);
  proxy.setCommitFate(() => 'passed');
  t.match(await end('c-kestrel'), { already_closed: true });
  t.match(await admin('POST /score-backlog'), { conversations: 0 });
  // A job whose taking was committed without an answer is due again when its lease ends.
  await admin('POST /clock', { advance_ms: 120_000 });
  await drain();
  t.same(await search(tested, 'kestrel'), ['c-kestrel']);
  t.same(await search(tested, 'heron'), ['c-heron']);
});
