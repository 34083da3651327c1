/** Evals with unusual parameters over HTTP: they are rejected on creation or cause no harm. */
import t from 'tap';
import { assertError, withService, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

type Params = Record<string, unknown>;

type Row = [kind: string, params: Params | undefined, message: RegExp];

const assertRejectedEval = async (
  t: Parameters<typeof assertError>[0],
  { send }: ServiceUnderTest,
  [kind, params, message]: Row,
) => {
  const body = { id: 'odd', name: 'Odd', kind, params };
  const response = await send('POST /__admin/evals', { body, key: null });
  assertError(t, response, 400, message);
  t.ok(response.text.length < 500, `${kind}: the message is short`);
};

void t.test('an eval that cannot be scored is rejected when it is created', async (t) => {
  const tested = await withService(t);
  const rows: Row[] = [
    ['regex', { pattern: '(' }, /\/params\/pattern is not a regular expression: Unterminated/],
    ['regex', { pattern: '\\p{X}', flags: 'u' }, /\/params\/pattern .*Invalid property name/],
    ['regex', { pattern: '('.repeat(100_000) }, /\/params\/pattern /],
    ['regex', { pattern: 'a', flags: 'ii' }, /\/params\/flags /],
    ['regex', { pattern: 'a', flags: 'g' }, /\/params\/flags /],
    ['json_path', { path: 'turns', equals: 1 }, /\/params\/path .*begin with \$/],
    ['json_path', { path: '$..name', equals: 1 }, /\/params\/path .*character 2/],
    ['json_path', { path: '$.turns[?(@.failed)]', equals: 1 }, /\/params\/path .*character 8/],
    ['json_path', { path: `$${'.a'.repeat(300)}`, equals: 1 }, /\/params\/path .*500/],
    ['json_path', { path: '$.turns' }, /\/params\/equals/],
    ['tool_args', { name: 'x', arguments: ['a'] }, /\/params\/arguments/],
    ['tool_args', { name: 'x' }, /\/params\/arguments/],
    ['tool_order', { names: [] }, /\/params\/names/],
    ['max_turns', { max: -1 }, /\/params\/max/],
    ['max_latency', { ms: '1' }, /\/params\/ms/],
    ['evaluation_metadata', { key: 'a' }, /\/params\/equals/],
    ['contains', { text: 'a', in: 'all' }, /\/params\/in/],
    ['contains', undefined, /\/params/],
    ['contains', { text: '' }, /\/params\/text must be a string of 1 to 10000 characters, got ""/],
    ['regex', { pattern: '' }, /\/params\/pattern .*1 to 10000/],
    ['tool_called', { name: '' }, /\/params\/name .*1 to 1000/],
    ['tool_order', { names: ['a', ''] }, /\/params\/names\/1 .*1 to 1000/],
    ['evaluation_metadata', { key: '', equals: 1 }, /\/params\/key .*1 to 1000/],
    ['judge', { criteria: ' ' }, /\/params\/criteria/],
  ];
  for (const row of rows) await assertRejectedEval(t, tested, row);
  t.same(await tested.admin('GET /evals'), { evals: [] });
  const evals = [{ id: 'p', name: 'P', kind: 'json_path', params: { path: 'x', equals: 1 } }];
  const seeded = await tested.send('POST /__admin/seed', { body: { evals }, key: null });
  assertError(t, seeded, 400, /\/params\/path/);
});

void t.test('excessively nested JSON is rejected on every route', async (t) => {
  const { send } = await withService(t);
  const headers = { 'content-type': 'application/json' };
  const bodyOf = (value: string): string =>
    `{"id":"x","name":"[[\\"[{","kind":"json_path","params":{"path":"$","equals":${value}}}`;
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  for (const depth of [500, 200_000]) {
    const response = await send('POST /__admin/evals', { raw: bodyOf(nested(depth)), headers });
    assertError(t, response, 400, /nested more than 200 levels deep/);
  }
  const fine = `[${Array(1000).fill('[]').join()},${nested(150)},"${nested(500)}"]`;
  const response = await send('POST /__admin/evals', { raw: bodyOf(fine), headers });
  t.equal(response.status, 200, response.text.slice(0, 200));
});

void t.test(
  'a pattern with endless backtracking ends as an error and delays no other eval',
  async (t) => {
    const tested = await withService(t);
    const { admin, send, drain, production } = tested;
    const slow = { id: 'slow', name: 'Slow', kind: 'regex', params: { pattern: '(a+)+$' } };
    const quick = { id: 'quick', name: 'Quick', kind: 'max_turns', params: { max: 1 } };
    for (const definition of [slow, quick]) await admin('POST /evals', definition);
    const turns = [{ user_input: 'Hi', agent_response: `${'a'.repeat(1_000_000)}b` }];
    const COUNT = 2;
    const id = (nth: number): string => `t-${nth}`;
    for (let nth = 0; nth < COUNT; nth += 1) {
      await admin('POST /transcripts', { session_id: id(nth), turns, evals: ['slow', 'quick'] });
    }
    const drained = new AbortController();
    const draining = drain().then(() => drained.abort());
    let responseCount = 0;
    while (!drained.signal.aborted) {
      const response = await send('GET /__admin/health', { key: null });
      if (response.status === 200) responseCount += 1;
    }
    await draining;
    t.ok(responseCount > 5, `${responseCount} responses meanwhile`);
    const { items, total } = await production();
    t.equal(total, COUNT);
    for (const { url, outcome_summary: summary } of items) {
      t.match(
        summary,
        { total_evaluations: 1, passed_count: 1 },
        'an error does not count as an evaluation',
      );
      const session = new URL(url).searchParams.get('sessionId');
      t.match(await admin(`GET /sessions/${session}`), {
        verdict: 'undecided',
        outcomes: [{ outcome: 'error', reasoning: /stopped after 2000 ms/ }, { outcome: 'pass' }],
      });
    }
  },
);

void t.test('tool calls and times from spans are scored', async (t) => {
  const { admin, trace, end, drain, production } = await withService(t);
  const evals: [name: string, kind: string, params: Params, outcome: string][] = [
    ['subset', 'tool_args', args({ deep: { list: [1, { a: 1 }] } }), 'pass'],
    ['lists are whole', 'tool_args', args({ deep: { list: [1] } }), 'fail'],
    ['order', 'tool_order', { names: ['find', 'mail'] }, 'pass'],
    ['in time', 'max_latency', { ms: 1_000 }, 'pass'],
    ['too late', 'max_latency', { ms: 999 }, 'fail'],
  ];
  for (const [name, kind, params] of evals) {
    await admin('POST /evals', { id: name.replaceAll(' ', '-'), name, kind, params });
  }
  await admin('PUT /settings', { evals: evals.map(([name]) => name.replaceAll(' ', '-')) });
  const traceId = 'ab'.repeat(16);
  const startMs = Date.UTC(2026, 10, 20, 9, 30);
  const tool = (name: string, args: string, atMs: number) =>
    makeSpan({
      traceId,
      operation: 'execute_tool',
      startMs: startMs + atMs,
      endMs: startMs + atMs + 9,
      attributes: { 'gen_ai.tool.name': name, 'gen_ai.tool.call.arguments': args },
    });
  await trace(
    makeSpan({ traceId, startMs, endMs: startMs + 1_000 }),
    tool('find', '{"id":"A-1","deep":{"list":[1,{"a":1,"b":2}],"more":null}}', 100),
    tool('mail', '{}', 200),
  );
  await end('conv-1');
  await drain();
  const [item] = (await production()).items;
  t.same(
    item?.eval_outcomes.map(({ eval_name: name, outcome }) => [name, outcome]),
    evals.map(([name, , , outcome]) => [name, outcome]),
  );
});

const args = (value: unknown): Params => ({ name: 'find', arguments: value });

void t.test('a latency that was not measured is an error, neither pass nor fail', async (t) => {
  const { admin, drain, production } = await withService(t);
  await admin('POST /evals', { id: 'l', name: 'L', kind: 'max_latency', params: { ms: 1 } });
  await admin('POST /evals', { id: 'c', name: 'C', kind: 'contains', params: { text: 'STRASSE' } });
  const turns = [{ user_input: 'Hi', agent_response: 'Die Straße' }];
  await admin('POST /transcripts', { session_id: 't', turns, evals: ['l', 'c'] });
  await drain();
  t.match((await production()).items, [
    {
      outcome_summary: { total_evaluations: 1, passed_count: 1, failed_count: 0 },
      eval_outcomes: [{ eval_name: 'C', outcome: 'pass' }],
    },
  ]);
});
