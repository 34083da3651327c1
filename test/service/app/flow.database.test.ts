/** The complete flow over HTTP: ingest, close, score, and read. */
import t from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { makeTraceRequest, makeSpan, makeProtobufRequest } from '../../helpers/otlp.ts';
import { makeContainsEval, assertResponse, withService } from '../../helpers/service.ts';

void t.test(
  'Spans are ingested, the conversation is closed, evals are scored, and results are served',
  async (t) => {
    const { service, admin, trace, end, drain, production } = await withService(t);
    await admin(
      'POST /evals',
      makeContainsEval('on-its-way', 'on its way', { category: 'task_completion' }),
    );
    await admin('POST /evals', makeContainsEval('sorry', 'sorry'));
    await admin('PUT /settings', { evals: ['on-its-way', 'sorry'] });
    await trace(
      makeSpan({ user: 'Hello', agent: 'Good morning!' }),
      makeSpan({ startMs: Date.UTC(2026, 10, 20, 9, 31) }),
    );

    const closed = await end('conv-1');
    t.same(closed, {
      conversation_id: 'conv-1',
      status: 'evaluating',
      run: 'Live traces 2026-11-20',
      evaluations_queued: 2,
    });
    t.same(await end('conv-1'), { ...closed, evaluations_queued: 0, already_closed: true });

    await drain();
    const page = await production('?include_traces=true');
    t.same([page.total, page.skip, page.limit], [1, 0, 50]);
    const [item] = page.items;
    t.match(item, {
      run: 'Live traces 2026-11-20',
      source_session_id: 'conv-1',
      status: 'completed',
      started_at: '2026-11-20T09:30:00.000Z',
      ended_at: '2026-11-20T09:31:01.000Z',
      outcome_summary: {
        total_evaluations: 2,
        passed_count: 1,
        failed_count: 1,
        pass_rate: 0.5,
      },
      traces: [
        { session_sequence: 1, user_input: 'Hello', agent_response: 'Good morning!' },
        {
          session_sequence: 2,
          user_input: 'Where is my order?',
          agent_response: 'It is on its way.',
        },
      ],
    });
    t.match(item?.eval_outcomes.map(({ eval_name: name, outcome }) => [name, outcome]).sort(), [
      ['Says on its way', 'pass'],
      ['Says sorry', 'fail'],
    ]);
    const link = item?.url ?? '';
    t.ok(link.startsWith(`${service.appUrl}/production-eval/`));
    const html = await (await fetch(link)).text();
    t.match(html, 'Good morning!');
  },
);

void t.test(
  'Responses use the format of the request, and a repeated span changes nothing',
  async (t) => {
    const { send, end, admin, drain, production } = await withService(t);
    await admin('POST /evals', makeContainsEval('any', 'way'));
    await admin('PUT /settings', { evals: ['any'] });
    const raw = makeProtobufRequest({ spanId: '00000000000000aa' });
    for (const attempt of ['first', 'repeated']) {
      const response = await send('POST /v1/traces', {
        raw,
        headers: { 'content-type': 'application/x-protobuf' },
      });
      t.equal(response.status, 200, attempt);
      t.equal(response.headers.get('content-type'), 'application/x-protobuf');
      t.equal(response.text, '');
    }
    const json = await send('POST /v1/traces', {
      body: makeTraceRequest([makeSpan({ spanId: '00000000000000AA', conversationId: 'conv-2' })]),
    });
    t.same([json.status, json.text], [200, '{}']);
    t.equal(json.headers.get('content-type'), 'application/json');
    assertResponse(t, await send('POST /v1/sessions/conv-2/end'), 404, 'ServiceError');

    await end('conv-1');
    await drain();
    const { items } = await production('?include_traces=1');
    t.equal(items[0]?.traces?.length, 1);
  },
);

void t.test('The complete flow also works on the system clock', async (t) => {
  const bench = await withService(t, { clock: systemClock });
  await bench.admin('POST /evals', makeContainsEval('any', 'way'));
  await bench.admin('PUT /settings', { evals: ['any'] });
  await bench.trace(makeSpan());
  await bench.end('conv-1');
  await bench.drain();
  t.match((await bench.production()).items, [{ status: 'completed' }]);
  await bench.trace(makeSpan({ conversationId: 'idle' }));
  await bench.admin('POST /clock', { advance_ms: 86_400_000 });
  await bench.drain();
  t.equal((await bench.production()).total, 2);
});
