/** Values that one of the databases refuses, converts, or can't index: both store the same. */
import t from 'tap';
import { seededRandom } from '../../../src/platform/random.ts';
import {
  assertError,
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const random = seededRandom('hostile values');

/** Returns a text of characters with three bytes each, which no database can compress. */
const makeRareText = (length: number): string =>
  String.fromCodePoint(...Array.from({ length }, () => random.integer(0x4e00, 0x9fff)));

const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
const STARTED_AT = '2026-11-20T09:00:00Z';

/** Adds an eval that all transcripts pass, so that production results list them. */
const addEval = ({ admin }: ServiceUnderTest): Promise<unknown> =>
  admin('POST /evals', makeContainsEval('greets', 'Hello'));

void t.test('a conversation id is stored up to 2,048 bytes, and refused beyond', async (t) => {
  const { send, trace, end } = await withService(t);
  const longest = makeRareText(682);
  await trace(makeSpan({ conversationId: longest }));
  t.equal((await end(longest)).conversation_id, longest);
  const body = makeTraceRequest([makeSpan({ conversationId: makeRareText(1_024) })]);
  assertError(t, await send('POST /v1/traces', { body }), 400, /at most 2048 bytes/);
});

void t.test('the URL of an agent is stored up to 1,500 bytes, and refused beyond', async (t) => {
  const { admin, send, simulations } = await withService(t);
  const path = makeRareText(493);
  const agent = { name: makeRareText(200), url: `https://shop.example/${path}` };
  const session = { scenario: 's', persona: 'p', started_at: STARTED_AT };
  const seed = (url: string): object => ({
    agents: [{ ...agent, url }],
    simulations: [{ name: 'Nightly', agent: agent.name, sessions: [session] }],
  });
  await admin('POST /seed', seed(agent.url));
  const found = await simulations(`?agent=${encodeURIComponent(path)}`);
  t.match(found, { total: 1, items: [{ agent: agent.name }] });
  const longer = await send('POST /__admin/seed', { body: seed(`${agent.url}x`), key: null });
  assertError(t, longer, 400, /^\/agents\/0\/url must have at most 1500 bytes in UTF-8, got 1501/);
  const url = `https://shop.example/${makeRareText(1_000)}`;
  const simulation = { agent: { name: 'Shop', url }, scenarios: ['greeting'] };
  const refused = await send('POST /__admin/simulations', { body: simulation, key: null });
  assertError(t, refused, 400, /^\/agent\/url must have at most 1500 bytes/);
});

void t.test('metadata with long names, huge numbers, and 10,000 turns is stored', async (t) => {
  const tested = await withService(t);
  const { admin, drain, production, send } = tested;
  await addEval(tested);
  const metadata = { [makeRareText(1_024)]: 'x', [makeRareText(256)]: 'x', nul: 'a\0b' };
  await admin('POST /transcripts', { session_id: 'names', turns, metadata, evals: ['greets'] });
  const many = Array.from({ length: 10_000 }, () => turns[0]);
  await admin('POST /transcripts', { session_id: 'turns', turns: many, evals: ['greets'] });
  const raw =
    '{"session_id":"numbers","turns":[{"user_input":"Hi","agent_response":"Hello"}],' +
    '"evals":["greets"],"metadata":{"double":1e400,"long":9223372036854775808}}';
  const headers = { 'content-type': 'application/json' };
  const numbers = await send('POST /__admin/transcripts', { raw, headers, key: null });
  t.equal(numbers.status, 200, numbers.text);
  await drain();
  t.equal((await production()).total, 3);
});

void t.test('a span without times is stored when the clock is beyond the year 2262', async (t) => {
  const { admin, trace, end } = await withService(t);
  await admin('PUT /clock', { set_ms: Date.UTC(2300, 0, 1) });
  await trace({ ...makeSpan(), startTimeUnixNano: '0', endTimeUnixNano: '0' });
  t.match(await end('conv-1'), { run: 'Live traces 2262-04-11' }, 'the last day in nanoseconds');
});

void t.test('filters find names that look like patterns, arrays, ranges, or SQL', async (t) => {
  const names = ['100% sure', 'snake_case', 'C:\\run', '{a,b}', '[1,5)', "O'Hara--", '$1', 'x\0y'];
  const parts = ['%', '_', '\\', '{a,b}', '[1,5)', "'", '$1', '\0'];
  const outcomes = [{ eval_name: 'Polite', outcome: 'pass' }];
  const runs = names.map((name) => ({
    name,
    sessions: [{ source_session_id: name, started_at: STARTED_AT, outcomes }],
  }));
  const { admin, production } = await withService(t);
  await admin('POST /seed', { runs });
  for (const part of parts) {
    const { total } = await production(`?run=${encodeURIComponent(part)}`);
    t.equal(total, 1, JSON.stringify(part));
  }
  const { total } = await production(`?run=${encodeURIComponent(makeRareText(1_000))}`);
  t.equal(total, 0, 'a long text');
});

void t.test('ids that differ only in case are two conversations', async (t) => {
  const { trace, end, send } = await withService(t);
  await trace(makeSpan({ conversationId: 'Order-7' }), makeSpan({ conversationId: 'order-7' }));
  for (const id of ['Order-7', 'order-7']) t.equal((await end(id)).already_closed, undefined, id);
  assertError(t, await send('POST /v1/sessions/ORDER-7/end'), 404);
});
