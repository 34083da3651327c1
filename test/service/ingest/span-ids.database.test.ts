/** A span id is stored once per owner, and the ingest log reports dropped spans. */
import t from 'tap';
import { assertError, withService } from '../../support/services/service.ts';
import { makeSpan, makeHexId } from '../../support/traces/otlp.ts';

void t.test('a repeated span is not logged; the same span id in another trace is', async (t) => {
  const tested = await withService(t);
  const { trace, send } = tested;
  const spanId = makeHexId(16);
  const first = makeSpan({ spanId, conversationId: 'one' });
  await trace(first);
  const endRoute = 'POST /v1/sessions/two/end';
  const before = await send(endRoute);
  assertError(t, before, 404);
  t.notMatch(before.text, /ingest-log/, 'nothing was dropped');
  await trace(first);
  t.match(await tested.ingestLog(), [
    { level: 'info', code: 'repeated_spans', about: { count: 1 } },
  ]);

  await trace(makeSpan({ spanId, conversationId: 'two' }));
  const about = { conversation_id: 'two', span_id: spanId, count: 1 };
  t.match(await tested.ingestLog(), [
    {
      level: 'warn',
      code: 'span_id_taken',
      message: /Generate a new random id for each span/,
      about,
    },
    { code: 'repeated_spans' },
  ]);
  assertError(
    t,
    await send(endRoute),
    404,
    /"two".*dropped or ignored \(span_id_taken\).*ingest-log/,
  );
});

void t.test('the same trace in another conversation is also logged', async (t) => {
  const tested = await withService(t);
  const ids = { traceId: makeHexId(32), spanId: makeHexId(16) };
  await tested.trace(makeSpan({ ...ids, conversationId: 'one' }));
  const fresh = makeSpan({ conversationId: 'one' });
  await tested.trace(makeSpan({ ...ids, conversationId: 'two' }), fresh);
  t.match(await tested.ingestLog(), [{ code: 'span_id_taken', about: { count: 1 } }]);
  t.equal((await tested.end('one')).status, 'evaluating', 'the new span of the request is stored');
});
