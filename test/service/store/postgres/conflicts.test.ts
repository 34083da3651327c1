/** A transaction that PostgreSQL rolled back because of a concurrent one runs again, a few times. */
import t from 'tap';
import { execute, withPostgres } from '../../../support/database/postgres.ts';
import { makeContainsEval, withService } from '../../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../../support/traces/otlp.ts';

for (const [code, name] of [
  ['40P01', 'deadlock'],
  ['40001', 'serialization failure'],
] as const) {
  void t.test(`a ${name} is retried, and reported if it remains`, async (t) => {
    const { url, superuserUrl } = await withPostgres(t, 'migrated');
    const { send } = await withService(t, { databaseUrl: url });
    // A sequence counts attempts, because no rollback resets it.
    const fail = (count: number) => [
      'drop sequence if exists attempts',
      'create sequence attempts',
      'grant usage on sequence attempts to public',
      `create or replace function fail_first() returns trigger language plpgsql as
         $$ begin if nextval('attempts') <= ${count} then
              raise exception 'conflict' using errcode = '${code}'; end if;
            return new; end $$`,
    ];
    await execute(
      superuserUrl,
      ...fail(2),
      ...['spans', 'evals'].map(
        (table) =>
          `create trigger fail_first before insert on ${table}
             for each statement execute function fail_first()`,
      ),
    );
    const sendTrace = (conversationId: string) =>
      send('POST /v1/traces', { body: makeTraceRequest([makeSpan({ conversationId })]) });
    const putEval = () => send('POST /__admin/evals', { body: makeContainsEval('e', 'Hello') });
    t.equal((await sendTrace('first')).status, 200);
    await execute(superuserUrl, ...fail(2));
    t.equal((await putEval()).status, 200);
    for (const write of [() => sendTrace('second'), putEval]) {
      await execute(superuserUrl, ...fail(1_000));
      const { status, json, headers } = await write();
      t.match({ status, json }, { status: 503, json: { message: /changed the same data/ } });
      t.equal(headers.get('retry-after'), '2');
      const [attempts] = await execute(superuserUrl, 'select last_value::int as n from attempts');
      t.same(attempts, { n: 3 }, 'the number of attempts is limited');
    }
  });
}
