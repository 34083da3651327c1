/** Reasons for missing data disappear from the overview when later data show that they are solved. */
import t, { type Test } from 'tap';
import {
  makeContainsEval,
  withOneReplica,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const MINUTE_MS = 60_000;

/** Returns what the overview says about missing data, as HTML. */
async function readProblems({ service }: ServiceUnderTest): Promise<string> {
  const response = await fetch(service.url, { headers: { accept: 'text/html' } });
  const [, problems = ''] = (await response.text()).split('Why data may be missing</h2>');
  return problems.split('</ul>')[0] ?? '';
}

/** Advances the clock, and sends a trace that is accepted. */
async function sendGood({ clock, trace }: ServiceUnderTest, afterMs = 1_000): Promise<void> {
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
  make: (tested: ServiceUnderTest) => Promise<unknown>,
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
    const tested = await withOneReplica(t);
    await makeMistake(tested);
    t.match(await readProblems(tested), problem);
    await sendGood(tested);
    t.notMatch(await readProblems(tested), problem);
    tested.clock.advance(2 * MINUTE_MS);
    await makeMistake(tested);
    t.match(await readProblems(tested), problem, 'it is shown when it occurs again');
  });
}

void t.test('a problem that comes and goes is shown until it stays away', async (t) => {
  const tested = await withOneReplica(t);
  const fail = () => tested.send('POST /v1/traces', { body: {}, key: 'unknown' });
  await fail();
  await sendGood(tested);
  tested.clock.advance(2 * MINUTE_MS);
  await fail();
  await sendGood(tested);
  t.match(await readProblems(tested), /Rejected with 401/, 'another exporter may still cause it');
  await sendGood(tested, 11 * MINUTE_MS);
  t.equal(await readProblems(tested), '');
});

void t.test('the traces of one exporter do not hide the problem of another one', async (t) => {
  const tested = await withOneReplica(t);
  const sendAs = (agent: string, span: ReturnType<typeof makeSpan>): Promise<{ status: number }> =>
    tested.send('POST /v1/traces', {
      body: makeTraceRequest([span]),
      headers: { 'user-agent': agent },
    });
  const problem = /invalid id\. A trace id must be.*exporter Other-Exporter/s;
  await sendAs('Other-Exporter/1.0', makeSpan({ traceId: 'AAAA' }));
  await sendGood(tested);
  t.match(await readProblems(tested), problem);
  tested.clock.advance(1_000);
  t.equal((await sendAs('Other-Exporter/2.0', makeSpan())).status, 200);
  t.equal(await readProblems(tested), '', 'an upgraded exporter is the same one');
  tested.clock.advance(1_000);
  await sendAs('Other-Exporter/1.0', makeSpan({ traceId: 'AAAA' }));
  await sendGood(tested, 9 * MINUTE_MS);
  t.match(await readProblems(tested), problem);
  await sendGood(tested, 2 * MINUTE_MS);
  t.equal(await readProblems(tested), '', 'it did not occur again for long');
});

void t.test('traces without text do not solve a problem about text', async (t) => {
  const tested = await withOneReplica(t);
  const problem = /Stored without text/;
  await tested.trace(withoutMessages(makeSpan({ conversationId: 'empty' })));
  tested.clock.advance(20 * MINUTE_MS);
  await tested.trace(withoutMessages(makeSpan({ operation: 'invoke_agent' })));
  t.match(await readProblems(tested), problem);
  await sendGood(tested);
  t.equal(await readProblems(tested), '');
});

/** Sends a conversation, and closes it. */
async function converse(
  t: Test,
  { trace, end, drain }: ServiceUnderTest,
  id: string,
): Promise<void> {
  const digits = Buffer.from(id.padEnd(16)).toString('hex');
  await trace(makeSpan({ conversationId: id, traceId: digits, agent: 'Yes, please.' }));
  t.equal((await end(id)).status, 'evaluating');
  await drain();
}

void t.test(
  'spans that were late stay in the list, because later traces do not score them',
  async (t) => {
    const tested = await withOneReplica(t);
    await converse(t, tested, 'first');
    await tested.trace(makeSpan({ conversationId: 'first', spanId: 'a'.repeat(16) }));
    t.match(await readProblems(tested), /Stored but not scored/);
    await sendGood(tested);
    t.match(await readProblems(tested), /Stored but not scored/);
  },
);

void t.test('a conversation without evals is forgotten when it is scored', async (t) => {
  const tested = await withOneReplica(t);
  await converse(t, tested, 'first');
  const problem = /closed while no evals were set/;
  t.match(await readProblems(tested), problem);
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  await tested.admin('PUT /settings', { evals: ['polite'] });
  t.match(await readProblems(tested), problem, 'the conversation is still not scored');
  await tested.admin('POST /score-backlog');
  await tested.drain();
  t.notMatch(await readProblems(tested), problem);
});

void t.test('a deleted eval is forgotten when the settings do not name it anymore', async (t) => {
  const tested = await withOneReplica(t);
  await tested.admin('POST /evals', makeContainsEval('goes', 'please'));
  await tested.admin('POST /evals', makeContainsEval('stays', 'please'));
  await tested.admin('PUT /settings', { evals: ['goes', 'stays'] });
  await tested.admin('DELETE /evals/goes');
  await converse(t, tested, 'first');
  t.match(await readProblems(tested), /an eval of the live settings was deleted/);
  await tested.admin('PUT /settings', { evals: ['stays'] });
  t.equal(await readProblems(tested), '');
});

void t.test('an eval that errored is forgotten when it scores again', async (t) => {
  const tested = await withOneReplica(t);
  const judge = {
    id: 'polite',
    name: 'Polite',
    kind: 'judge',
    params: { criteria: 'It is polite.' },
  };
  await tested.admin('POST /evals', judge);
  await tested.admin('PUT /settings', { evals: ['polite'] });
  await converse(t, tested, 'first');
  t.match(await readProblems(tested), /An eval errored/);
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  tested.clock.advance(1_000);
  await converse(t, tested, 'second');
  t.equal(await readProblems(tested), '');
});
