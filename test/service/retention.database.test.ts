/** Old spans are removed, and results stay. */
import t, { type Test } from 'tap';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../support/services/service.ts';
import { makeSpan } from '../support/traces/otlp.ts';

const DAY_MS = 86_400_000;
const retentionMs = 30 * DAY_MS;

const advanceDays = (tested: ServiceUnderTest, days: number): Promise<unknown> =>
  tested.admin('POST /clock', { advance_ms: days * DAY_MS });

async function openPage(t: Test, tested: ServiceUnderTest, path: string): Promise<string> {
  const response = await fetch(tested.service.url + path, { headers: { accept: 'text/html' } });
  t.equal(response.status, 200, path);
  // Words can be on several lines.
  return (await response.text()).replaceAll(/\s+/g, ' ');
}

/** Starts a service with an eval, a scored conversation, and one that is not scored. */
async function withScoredConversation(t: Test): Promise<ServiceUnderTest> {
  const tested = await withService(t, { retentionMs });
  const { admin, drain, end, trace } = tested;
  await trace(makeSpan({ conversationId: 'unscored', traceId: '2'.repeat(32), user: 'Anyone?' }));
  await end('unscored');
  await admin('POST /evals', makeContainsEval('way', 'on its way'));
  await admin('PUT /settings', { evals: ['way'] });
  await trace(makeSpan({ conversationId: 'old', traceId: '1'.repeat(32), user: 'My parcel?' }));
  await end('old');
  await drain();
  return tested;
}

void t.test('spans are removed after the given time; results stay', async (t) => {
  const tested = await withScoredConversation(t);
  const { admin, drain, production, trace } = tested;
  const before = await production('?include_traces=true');
  t.match(before.items, [{ source_session_id: 'old', traces: [{ user_input: 'My parcel?' }] }]);
  const page = (before.items[0]?.url ?? '').slice(tested.service.appUrl.length);
  const search = '/sessions?kind=production&text=parcel';
  t.match(await openPage(t, tested, search), '1 session');

  await advanceDays(tested, 30);
  t.match(await openPage(t, tested, page), 'My parcel?', 'kept for 30 days');
  const offered = '1 closed conversation';
  t.match(await openPage(t, tested, '/'), offered);
  await trace(makeSpan({ conversationId: 'young', traceId: '3'.repeat(32), user: 'Hello?' }));
  await advanceDays(tested, 1);
  // The conversation that has become idle is scored before it is listed.
  await drain();

  const after = await production('?include_traces=true&skip=1');
  t.match(after.items, [{ source_session_id: 'old', traces: [] }]);
  t.same(after.items[0]?.traces, []);
  t.same(after.items[0]?.outcome_summary, before.items[0]?.outcome_summary);
  t.same(after.items[0]?.eval_outcomes, before.items[0]?.eval_outcomes);
  const shown = await openPage(t, tested, page);
  t.match(shown, /were removed on .*2026.*, 31 days after it began/);
  t.notMatch(shown, 'My parcel?');
  t.notMatch(shown, 'transcript is empty');
  t.notMatch(await openPage(t, tested, search), '1 session');
  const unscored = await openPage(t, tested, '/conversation?id=unscored');
  t.match(unscored, 'were removed');
  t.notMatch(unscored, 'score the backlog', 'it cannot be scored anymore');
  t.notMatch(await openPage(t, tested, '/'), offered);
  t.match(await openPage(t, tested, '/conversation?id=young'), 'Hello?');
  t.match(await admin('POST /score-backlog'), { conversations: 0 });
});

void t.test('late spans of a conversation without spans are dropped and logged', async (t) => {
  const tested = await withScoredConversation(t);
  await advanceDays(tested, 31);
  const { trace, production } = tested;
  await trace(
    makeSpan({ conversationId: 'old', traceId: '1'.repeat(32), user: 'Too late' }),
    // The conversation is known by its trace alone, too.
    makeSpan({ conversationId: null, traceId: '1'.repeat(32), user: 'Too late' }),
    makeSpan({ conversationId: 'new', traceId: '5'.repeat(32), user: 'In time' }),
  );
  t.ok((await tested.ingestLog()).some(({ code }) => code === 'removed_conversation'));
  const { items } = await production('?include_traces=true');
  t.match(items, [{ source_session_id: 'old', traces: [] }]);
  t.match(await openPage(t, tested, '/conversation?id=new'), 'In time');
});

void t.test('a span is stored once until it is removed, even on later days', async (t) => {
  const tested = await withService(t, { retentionMs });
  const span = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), user: 'Once' };
  await tested.trace(makeSpan({ ...span, conversationId: 'first' }));
  for (const days of [1, 28]) {
    await advanceDays(tested, days);
    await tested.trace(makeSpan({ ...span, conversationId: 'first' }));
    await tested.trace(makeSpan({ ...span, conversationId: `after ${days}` }));
    const response = await tested.send(`GET /conversation?id=after%20${days}`);
    t.equal(response.status, 404, 'the id of the span is taken by another conversation');
  }
  const page = await openPage(t, tested, '/conversation?id=first');
  t.equal(page.split('id="turn-').length, 2, 'it is shown once');
  t.ok((await tested.ingestLog()).some(({ code }) => code === 'span_id_taken'));
});

void t.test(
  'a conversation that is open longer than its spans are kept is not scored',
  async (t) => {
    const tested = await withService(t, { retentionMs: 2 * DAY_MS });
    const { admin, drain, end, production, trace } = tested;
    await admin('POST /evals', makeContainsEval('way', 'on its way'));
    await admin('PUT /settings', { evals: ['way'] });
    for (let hours = 0; hours < 80; hours += 20) {
      await trace(makeSpan({ conversationId: 'long', startMs: hours }));
      await admin('POST /clock', { advance_ms: 20 * 3_600_000 });
    }
    t.match(await end('long'), { evaluations_queued: 0 });
    await drain();
    t.equal((await production()).total, 0);
  },
);

void t.test('without the option, nothing is removed', async (t) => {
  const tested = await withService(t);
  await tested.trace(makeSpan({ conversationId: 'old', user: 'My parcel?' }));
  await advanceDays(tested, 400);
  t.match(await openPage(t, tested, '/conversation?id=old'), 'My parcel?');
});

void t.test('old spans of a reset service are gone, and it stores spans again', async (t) => {
  const tested = await withScoredConversation(t);
  const { admin, trace } = tested;
  await admin('POST /reset', { to: 'empty' });
  const span = makeSpan({ conversationId: 'old', traceId: '1'.repeat(32), user: 'Again' });
  await trace(span);
  const page = await openPage(t, tested, '/conversation?id=old');
  t.match(page, 'Again');
  t.notMatch(page, 'My parcel?');
});
