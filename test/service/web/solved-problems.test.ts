/** Reasons for missing data disappear from the overview when later data show that they are solved. */
import t, { type Test } from 'tap';
import { makeContainsEval, withOneReplica, type Bench } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const MINUTE_MS = 60_000;

/** Returns what the overview says about missing data, as HTML. */
async function readProblems({ service }: Bench): Promise<string> {
  const response = await fetch(service.url, { headers: { accept: 'text/html' } });
  const [, problems = ''] = (await response.text()).split('Why data may be missing</h2>');
  return problems.split('</ul>')[0] ?? '';
}

/** Advances the clock, and sends a trace that is accepted. */
async function sendGood({ clock, trace }: Bench, afterMs = 1_000): Promise<void> {
  clock.advance(afterMs);
  await trace(
    makeSpan({ conversationId: 'good', spanId: clock.nowMs().toString(16).padStart(16, '0') }),
  );
}

const withoutMessages = (span: ReturnType<typeof makeSpan>): typeof span => ({
  ...span,
  attributes: (span['attributes'] as { key: string }[]).filter(({ key }) => !/messages/.test(key)),
});

const json = { 'content-type': 'application/json' };

/** What an exporter does wrong, and what the overview says. */
const MISTAKES: readonly [
  name: string,
  problem: RegExp,
  make: (bench: Bench) => Promise<unknown>,
][] = [
  [
    'a key that is unknown',
    /Rejected with 401/,
    ({ send }) => send('POST /v1/traces', { body: {}, key: 'unknown' }),
  ],
  ['a wrong path', /Rejected with 404/, ({ send }) => send('POST /v1/trace', { body: {} })],
  [
    'a body that is not JSON',
    /400/,
    ({ send }) => send('POST /v1/traces', { raw: '{', headers: json }),
  ],
  [
    'an unknown content type',
    /415/,
    ({ send }) => send('POST /v1/traces', { raw: 'x', headers: { 'content-type': 'text/plain' } }),
  ],
  [
    'a request without spans',
    /contains no spans/,
    ({ send }) => send('POST /v1/traces', { body: { resourceSpans: [] } }),
  ],
  [
    'spans without messages',
    /Stored without text/,
    ({ trace }) => trace(withoutMessages(makeSpan({ conversationId: 'empty' }))),
  ],
];

for (const [name, problem, makeMistake] of MISTAKES) {
  void t.test(`${name} is forgotten when a later trace is accepted`, async (t) => {
    const bench = await withOneReplica(t);
    await makeMistake(bench);
    t.match(await readProblems(bench), problem);
    await sendGood(bench);
    t.notMatch(await readProblems(bench), problem);
    bench.clock.advance(2 * MINUTE_MS);
    await makeMistake(bench);
    t.match(await readProblems(bench), problem, 'it is shown when it occurs again');
  });
}

void t.test('a problem that comes and goes is shown until it stays away', async (t) => {
  const bench = await withOneReplica(t);
  const fail = () => bench.send('POST /v1/traces', { body: {}, key: 'unknown' });
  await fail();
  await sendGood(bench);
  bench.clock.advance(2 * MINUTE_MS);
  await fail();
  await sendGood(bench);
  t.match(await readProblems(bench), /Rejected with 401/, 'another exporter may still cause it');
  await sendGood(bench, 11 * MINUTE_MS);
  t.equal(await readProblems(bench), '');
});

void t.test('the traces of one exporter do not hide the problem of another one', async (t) => {
  const bench = await withOneReplica(t);
  const sendAs = (agent: string, span: ReturnType<typeof makeSpan>): Promise<{ status: number }> =>
    bench.send('POST /v1/traces', {
      body: makeTraceRequest([span]),
      headers: { 'user-agent': agent },
    });
  const problem = /invalid id\. A trace id must be.*exporter Other-Exporter/s;
  await sendAs('Other-Exporter/1.0', makeSpan({ traceId: 'AAAA' }));
  await sendGood(bench);
  t.match(await readProblems(bench), problem);
  bench.clock.advance(1_000);
  t.equal((await sendAs('Other-Exporter/2.0', makeSpan())).status, 200);
  t.equal(await readProblems(bench), '', 'an upgraded exporter is the same one');
  bench.clock.advance(1_000);
  await sendAs('Other-Exporter/1.0', makeSpan({ traceId: 'AAAA' }));
  await sendGood(bench, 9 * MINUTE_MS);
  t.match(await readProblems(bench), problem);
  await sendGood(bench, 2 * MINUTE_MS);
  t.equal(await readProblems(bench), '', 'it did not occur again for long');
});

void t.test('traces without text do not solve a problem about text', async (t) => {
  const bench = await withOneReplica(t);
  const problem = /Stored without text/;
  await bench.trace(withoutMessages(makeSpan({ conversationId: 'empty' })));
  bench.clock.advance(20 * MINUTE_MS);
  await bench.trace(withoutMessages(makeSpan({ operation: 'invoke_agent' })));
  t.match(await readProblems(bench), problem);
  await sendGood(bench);
  t.equal(await readProblems(bench), '');
});

/** Sends a conversation, and closes it. */
async function converse(t: Test, { trace, end, drain }: Bench, id: string): Promise<void> {
  const digits = Buffer.from(id.padEnd(16)).toString('hex');
  await trace(makeSpan({ conversationId: id, traceId: digits, agent: 'Yes, please.' }));
  t.equal((await end(id)).status, 'evaluating');
  await drain();
}

void t.test(
  'spans that were late stay in the list, because later traces do not score them',
  async (t) => {
    const bench = await withOneReplica(t);
    await converse(t, bench, 'first');
    await bench.trace(makeSpan({ conversationId: 'first', spanId: 'a'.repeat(16) }));
    t.match(await readProblems(bench), /Stored but not scored/);
    await sendGood(bench);
    t.match(await readProblems(bench), /Stored but not scored/);
  },
);

void t.test('a conversation without evals is forgotten when it is scored', async (t) => {
  const bench = await withOneReplica(t);
  await converse(t, bench, 'first');
  const problem = /closed while no evals were set/;
  t.match(await readProblems(bench), problem);
  await bench.admin('POST /evals', makeContainsEval('polite', 'please'));
  await bench.admin('PUT /settings', { evals: ['polite'] });
  t.match(await readProblems(bench), problem, 'the conversation is still not scored');
  await bench.admin('POST /score-backlog');
  await bench.drain();
  t.notMatch(await readProblems(bench), problem);
});

void t.test('a deleted eval is forgotten when the settings do not name it anymore', async (t) => {
  const bench = await withOneReplica(t);
  await bench.admin('POST /evals', makeContainsEval('goes', 'please'));
  await bench.admin('POST /evals', makeContainsEval('stays', 'please'));
  await bench.admin('PUT /settings', { evals: ['goes', 'stays'] });
  await bench.admin('DELETE /evals/goes');
  await converse(t, bench, 'first');
  t.match(await readProblems(bench), /an eval of the live settings was deleted/);
  await bench.admin('PUT /settings', { evals: ['stays'] });
  t.equal(await readProblems(bench), '');
});

void t.test('an eval that errored is forgotten when it scores again', async (t) => {
  const bench = await withOneReplica(t);
  const judge = {
    id: 'polite',
    name: 'Polite',
    kind: 'judge',
    params: { criteria: 'It is polite.' },
  };
  await bench.admin('POST /evals', judge);
  await bench.admin('PUT /settings', { evals: ['polite'] });
  await converse(t, bench, 'first');
  t.match(await readProblems(bench), /An eval errored/);
  await bench.admin('POST /evals', makeContainsEval('polite', 'please'));
  bench.clock.advance(1_000);
  await converse(t, bench, 'second');
  t.equal(await readProblems(bench), '');
});
