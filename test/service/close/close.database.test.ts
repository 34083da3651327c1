/** Conversations are closed by the end call or after 24 h without activity (spec 3.1, 4.2). */
import t from 'tap';
import {
  makeContainsEval,
  assertError,
  START_MS,
  withService,
  type LogEntry,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { makeSpan } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;

/** Creates evals with these ids and adds them to the live settings. */
async function setLiveEvals({ admin }: ServiceUnderTest, ...ids: string[]): Promise<void> {
  for (const id of ids) await admin('POST /evals', makeContainsEval(id, 'way'));
  await admin('PUT /settings', { evals: ids });
}

void t.test('an unknown conversation returns 404, regardless of its id', async (t) => {
  const { send } = await withService(t);
  for (const id of ['nothing', '%20', 'a%2Fb', '%F0%9F%98%80', 'x'.repeat(5000), '%2e%2e']) {
    assertError(t, await send(`POST /v1/sessions/${id}/end`), 404);
  }
  assertError(t, await send('POST /v1/sessions//end'), 404);
  assertError(t, await send('POST /v1/sessions/%zz/end'), 400);
  assertError(t, await send('POST /v1/sessions/%ff/end'), 400);
  assertError(t, await send('GET /v1/sessions/conv-1/end'), 405, /POST/);
});

void t.test('the 404 says that only spans without an operation were received', async (t) => {
  const { send, trace, end } = await withService(t);
  const ignored = { ...makeSpan({ conversationId: 'c' }), attributes: [] };
  await trace(ignored);
  const message = /Some spans were dropped or ignored \(ignored_spans\).*ingest-log/;
  assertError(t, await send('POST /v1/sessions/c/end'), 404, message);
  const bad = makeSpan({ conversationId: 'c' });
  await trace(makeSpan({ conversationId: 'd' }), { ...bad, spanId: 'x' });
  await trace(ignored);
  assertError(t, await send('POST /v1/sessions/c/end'), 404, /\(malformed_ids\)/);
  t.equal((await end('d')).conversation_id, 'd');
});

void t.test('ids are percent-encoded in paths and returned decoded', async (t) => {
  const { trace, end } = await withService(t);
  for (const id of ['a/b', 'a b?c#d', 'Gespräch 😀', '../x', '100%', 'a+b']) {
    await trace(makeSpan({ conversationId: id }));
    t.equal((await end(id)).conversation_id, id);
  }
});

void t.test('the end call ignores its body and content type', async (t) => {
  const { send, trace } = await withService(t);
  await trace(makeSpan());
  for (const [raw, headers] of [
    ['{', { 'content-type': 'application/json' }],
    ['', { 'content-type': 'application/json' }],
    ['x', { 'content-type': ';;' }],
    ['x'.repeat(100_000), { 'content-type': 'text/plain', 'content-encoding': 'zstd' }],
  ] as const) {
    const response = await send('POST /v1/sessions/conv-1/end', { raw, headers });
    t.equal(response.status, 200, JSON.stringify(headers));
  }
  const repeated = await send('POST /v1/sessions/conv-1/end', {
    headers: { 'content-type': 'application/json' },
  });
  t.match(repeated.json, { already_closed: true });
});

void t.test('without evals, closing queues nothing and keeps the traces', async (t) => {
  const tested = await withService(t);
  const { trace, end, send, admin, drain, production } = tested;
  await trace(makeSpan(), makeSpan({ conversationId: 'conv-2', startMs: START_MS - 2 * DAY_MS }));
  const closed = await end('conv-1');
  t.same(closed.evaluations_queued, 0);
  t.notOk('already_closed' in closed);
  await end('conv-2');
  await drain();
  t.same((await production()).total, 0);

  assertError(t, await send('POST /__admin/score-backlog', { key: null }), 409, /settings/);
  await setLiveEvals(tested, 'any');
  t.same(await admin('POST /score-backlog'), {
    conversations: 2,
    evaluations_queued: 2,
    runs: ['Live traces 2026-11-18', 'Live traces 2026-11-20'],
  });
  t.match(await admin('POST /score-backlog'), { conversations: 0 });
  await drain();
  const { items } = await production('?include_traces=true');
  t.same(
    items.map(({ run, traces }) => [run, traces?.length]),
    [
      ['Live traces 2026-11-20', 1],
      ['Live traces 2026-11-18', 1],
    ],
  );
});

void t.test('closing without evals is logged once, until evals are set', async (t) => {
  const tested = await withService(t);
  const { trace, end, admin } = tested;
  const listEntries = async (): Promise<LogEntry[]> =>
    (await tested.ingestLog()).filter(({ code }) => code === 'no_live_evals');
  const close = async (id: string): Promise<void> => {
    await trace(makeSpan({ conversationId: id }));
    await end(id);
  };
  await close('c-1');
  await close('c-2');
  t.match(await listEntries(), [
    {
      level: 'info',
      message:
        'The conversation was closed while no evals were set, so nothing scores it. Choose evals and score ' +
        'it on the page /settings, or with PUT /__admin/settings and POST /__admin/score-backlog.',
      about: { conversation_id: 'c-1' },
    },
  ]);
  await setLiveEvals(tested, 'any');
  await close('c-3');
  t.equal((await listEntries()).length, 1, 'a scored conversation needs no entry');
  await admin('PUT /settings', { evals: [] });
  await trace(makeSpan({ conversationId: 'c-4' }));
  await admin('POST /clock', { advance_ms: DAY_MS + 1 });
  // Another replica may have closed it, and adds the entry a moment later.
  await until('two entries', async () => (await listEntries()).length === 2);
  t.match(
    await listEntries(),
    [{ about: { conversation_id: 'c-4' } }, {}],
    'a conversation that was closed because it was idle is also reported',
  );
  await admin('POST /reset', { to: 'empty' });
  await close('c-5');
  t.match(
    await listEntries(),
    [{ about: { conversation_id: 'c-5' } }],
    'reported again after a reset',
  );
});

void t.test('a deleted eval is skipped and logged, never queued', async (t) => {
  const { log, lines } = createLineLog();
  const tested = await withService(t, { log });
  const { trace, end, admin } = tested;
  await setLiveEvals(tested, 'stays', 'goes');
  await admin('DELETE /evals/goes');
  await trace(makeSpan());
  t.equal((await end('conv-1')).evaluations_queued, 1);
  t.match(JSON.stringify(await admin('GET /ingest-log')), /eval_deleted.*"goes"/);
  t.match(
    lines.filter((line) => line.includes('deleted_eval_skipped')),
    [/"eval":"goes","warning":"Skipped: .* Remove it from the settings\."/],
    'the log says what to do',
  );
});

void t.test(
  'the run is named after the base name and the UTC date of the first span',
  async (t) => {
    const { trace, end, admin } = await withService(t);
    await admin('PUT /settings', { run_name: 'Shop' });
    const lastMs = Date.UTC(2026, 10, 19, 23, 59, 59, 999);
    await trace(
      makeSpan({ conversationId: 'late', startMs: lastMs + 1 }),
      makeSpan({ conversationId: 'early', startMs: lastMs }),
      makeSpan({ conversationId: 'early', startMs: lastMs + 5000 }),
    );
    t.equal((await end('early')).run, 'Shop 2026-11-19');
    t.equal((await end('late')).run, 'Shop 2026-11-20');
    await admin('PUT /settings', { run_name: 'Other' });
    t.equal(
      (await end('late')).run,
      'Shop 2026-11-20',
      'a repeated call returns the run that the conversation joined',
    );
  },
);

void t.test(
  'if several end calls are concurrent, exactly one closes the conversation',
  async (t) => {
    const tested = await withService(t);
    await setLiveEvals(tested, 'a', 'b');
    await tested.trace(makeSpan());
    const responses = await Promise.all(Array.from({ length: 20 }, () => tested.end('conv-1')));
    t.equal(responses.filter(({ already_closed: alreadyClosed }) => !alreadyClosed).length, 1);
    t.equal(
      responses.reduce((sum, { evaluations_queued: queued }) => sum + queued, 0),
      2,
    );
    await tested.drain();
    t.equal((await tested.production()).items[0]?.outcome_summary.total_evaluations, 2);
  },
);

void t.test('closing logs what the turns of the conversation lack, once', async (t) => {
  const tested = await withService(t);
  const { trace, end, ingestLog } = tested;
  await setLiveEvals(tested, 'any');
  const noInput = { 'gen_ai.input.messages': null };
  await trace(makeSpan({ conversationId: 'c', agent: 'Hi', attributes: noInput }));
  await trace(makeSpan({ conversationId: 'd', user: 'SECRET', agent: 'Hi' }));
  await end('d');
  t.same(await ingestLog(), [], 'nothing is reported before the close, or about complete turns');
  await end('c');
  const expected = [
    {
      at: /^2026/,
      level: 'warn',
      code: 'turn_without_user_text',
      message: /gen_ai\.input\.messages/,
      about: { conversation_id: 'c', turn: 1, count: 1 },
    },
  ];
  t.match(await ingestLog(), expected);
  await end('c');
  t.equal((await ingestLog()).length, 1, 'the second call changes nothing');
});

void t.test('spans after the close are stored and not scored', async (t) => {
  const tested = await withService(t);
  const { trace, end, drain, production } = tested;
  await setLiveEvals(tested, 'any');
  await trace(makeSpan());
  await end('conv-1');
  await drain();
  await trace(makeSpan({ user: 'Late', startMs: START_MS + 1000 }));
  t.match(await end('conv-1'), { already_closed: true, evaluations_queued: 0 });
  await drain();
  const { items, total } = await production('?include_traces=true');
  t.equal(total, 1);
  t.equal(items[0]?.outcome_summary.total_evaluations, 1);
  t.equal(items[0]?.traces?.length, 2);
});

void t.test(
  'a conversation idle for 24 hours by receipt time is closed as by the end call',
  async (t) => {
    const tested = await withService(t);
    const { trace, end, admin, drain, production } = tested;
    await setLiveEvals(tested, 'any');
    // Its span times are long past, but only the time of receipt counts.
    await trace(makeSpan({ conversationId: 'idle', startMs: START_MS - 9 * DAY_MS }));
    await admin('POST /clock', { advance_ms: DAY_MS / 2 });
    await trace(makeSpan({ conversationId: 'fresh' }));
    await admin('POST /clock', { advance_ms: DAY_MS / 2 - 1 });
    await drain();
    t.equal((await production()).total, 0, 'one millisecond before the limit');

    await admin('POST /clock', { advance_ms: 1 });
    await drain();
    const { items } = await production();
    t.same(
      items.map(({ source_session_id: id, run }) => [id, run]),
      [['idle', 'Live traces 2026-11-11']],
    );
    t.match(await end('idle'), { already_closed: true });
    t.notOk((await end('fresh')).already_closed);
  },
);

void t.test('one clock change closes any number of idle conversations', async (t) => {
  // More than two batches.
  const COUNT = 210;
  const { trace, admin, drain, production } = await withService(t);
  await admin('POST /evals', makeContainsEval('any', 'way'));
  await admin('PUT /settings', { evals: ['any'] });
  const spans = Array.from({ length: COUNT }, (_, nth) => makeSpan({ conversationId: `c-${nth}` }));
  await trace(...spans);
  await admin('POST /clock', { advance_ms: DAY_MS });
  await drain();
  t.equal((await production('?limit=1')).total, COUNT);
});

void t.test('idle conversations are also closed as time passes', async (t) => {
  const { trace, clock, admin, drain, production } = await withService(t);
  await admin('POST /evals', makeContainsEval('any', 'way'));
  await admin('PUT /settings', { evals: ['any'] });
  await trace(makeSpan());
  clock.advance(DAY_MS);
  await until('the conversation is closed', async () => {
    await drain();
    return (await production()).total === 1;
  });
});
