/** The session page marks values that were not recorded as missing instead of showing null. */
import t from 'tap';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const DAY_MS = 86_400_000;

void t.test('a tool call without recorded arguments or result is marked as such', async (t) => {
  const { admin, trace, end, drain, production } = await withEmptyService(t);
  await admin('POST /evals', makeContainsEval('says', 'way'));
  await admin('PUT /settings', { evals: ['says'] });
  const parts = [
    { type: 'tool_call', id: 'a', name: 'find', arguments: { order: 7 } },
    { type: 'tool_call', id: 'b', name: 'log' },
    { type: 'text', content: 'It is on its way.' },
  ];
  const output = JSON.stringify([{ role: 'assistant', parts }]);
  await trace(makeSpan({ attributes: { 'gen_ai.output.messages': output } }));
  const tool = { 'gen_ai.tool.name': 'notify', 'gen_ai.tool.call.result': 'null' };
  await trace(makeSpan({ operation: 'execute_tool', attributes: tool }));
  await end('conv-1');
  await drain();
  const [item] = (await production()).items;
  const page = await (await fetch(item?.url ?? '')).text();
  const details = [...page.matchAll(/<details[^>]*>([^]*?)<\/details>/g)].map(
    ([, content = '']) => content,
  );
  const detailsOf = (name: string): string =>
    details.find((content) => content.includes(`<summary>${name}</summary>`)) ?? '';
  t.match(detailsOf('find'), /&quot;order&quot;: 7[^]*no result recorded/);
  t.match(detailsOf('log'), /no arguments recorded[^]*no result recorded/);
  t.match(detailsOf('notify'), /<pre>null<\/pre>/, 'a recorded null is shown');
});

void t.test(
  'each eval links to its evidence, which is highlighted in the transcript',
  async (t) => {
    const { admin, trace, end, drain, production } = await withEmptyService(t);
    const evals = [
      makeContainsEval('shipped', 'shipped'),
      { id: 'regex', name: 'Number', kind: 'regex', params: { pattern: '#\\d+', in: 'user' } },
      { id: 'tool', name: 'Looks', kind: 'tool_called', params: { name: 'find' } },
      { id: 'fast', name: 'Fast', kind: 'max_latency', params: { ms: 10 } },
      { id: 'judged', name: 'Judged', kind: 'judge', params: { criteria: 'Is polite.' } },
    ];
    for (const definition of evals) await admin('POST /evals', definition);
    await admin('PUT /settings', { evals: evals.map(({ id }) => id) });
    const parts = [
      { type: 'tool_call', id: 'a', name: 'find', arguments: { text: 'x'.repeat(200) } },
      { type: 'tool_call', id: 'b', name: 'log', arguments: {} },
      { type: 'text', content: 'It has SHIPPED today.' },
    ];
    const output = JSON.stringify([{ role: 'assistant', parts }]);
    await trace(
      makeSpan({ user: 'Where is #42?', attributes: { 'gen_ai.output.messages': output } }),
    );
    await end('conv-1');
    await drain();
    const [item] = (await production()).items;
    const { page, errors } = await openPage(t, String(item?.url));
    const followEvidence = async (evalName: string, link: string): Promise<void> => {
      await page.locator('.outcome', { hasText: evalName }).locator('a', { hasText: link }).click();
      t.equal(new URL(page.url()).hash, '#turn-1', evalName);
    };
    await followEvidence('Says shipped', 'turn 1: “SHIPPED”');
    await followEvidence('Number', 'turn 1: “#42”');
    await followEvidence('Looks', 'turn 1, tool call find');
    await followEvidence('Fast', 'turn 1, latency');
    const marks = await page.locator('#turn-1 mark').allInnerTexts();
    t.same(marks, ['#42', 'find', 'SHIPPED', '1 s'], 'the places, in order');
    t.equal(await page.getAttribute('#turn-1 .agent mark', 'title'), 'Says shipped');
    await page.click('#turn-1 .chip >> text=fail: Fast');
    t.match(await page.innerText('.outcome:target'), 'Fast', 'and back to the eval');
    const headings = await page.locator('h2').allInnerTexts();
    t.ok(headings.includes('Errored evals'), 'errored evals are apart');
    t.match(
      await page.innerText('main'),
      /1 eval errored\. .*count neither as passed nor as failed/,
    );
    t.equal(
      await page.locator('#turn-1 details[open]').count(),
      2,
      'evidence and short calls are open',
    );
    await assertAccessibleAtNight(t, page);
    t.same(errors, []);
    const verdict = (await admin(
      `GET /sessions/${new URL(page.url()).searchParams.get('sessionId')}`,
    )) as {
      outcomes: { eval: string; evidence?: unknown }[];
    };
    t.same(verdict.outcomes.find(({ eval: id }) => id === 'shipped')?.evidence, [
      { turn: 1, part: 'agent', start: 7, end: 14 },
    ]);
  },
);

void t.test(
  'a long conversation has pages of turns, and links to evidence find them',
  async (t) => {
    const { admin, production } = await withEmptyService(t);
    const turns = Array.from({ length: 250 }, (_, nth) => ({
      user_input: `Question ${nth + 1}? ${'&'.repeat(5_000)}`,
      agent_response: `Answer ${nth + 1}.`,
    }));
    await admin('POST /evals', makeContainsEval('last', 'Answer 250'));
    await admin('POST /transcripts', { session_id: 'long', evals: ['last'], turns });
    await admin('POST /drain', {});
    const link = String((await production()).items[0]?.url);
    const { length } = await (await fetch(link)).text();
    t.ok(length < 300_000, `the page has ${length} bytes`);
    const { page } = await openPage(t, link);
    t.match(await page.innerText('main'), 'Turns 1 to 100 of 250 turns');
    await follow(page, 'text=turn 250: “Answer 250”');
    t.match(page.url(), /turns_after=200#turn-250$/);
    t.equal(await page.innerText('#turn-250 mark'), 'Answer 250');
    await follow(page, 'text=Earlier turns');
    t.match(await page.innerText('main'), 'Turns 101 to 200 of 250 turns');
  },
);

void t.test('evidence in a transcript that was removed is text without a link', async (t) => {
  const tested = await withService(t, { retentionMs: 30 * DAY_MS });
  const { admin, trace, end, drain, production } = tested;
  await admin('POST /evals', makeContainsEval('way', 'on its way'));
  await admin('PUT /settings', { evals: ['way'] });
  await trace(makeSpan({ user: 'My parcel?', agent: 'It is on its way.' }));
  await end('conv-1');
  await drain();
  const url = String((await production()).items[0]?.url);
  const { page, errors } = await openPage(t, url);
  const evidence = page.locator('.outcome .evidence').first();
  t.equal(await evidence.locator('a').getAttribute('href'), '#turn-1');
  await admin('POST /clock', { advance_ms: 31 * DAY_MS });
  await page.goto(url);
  t.match(await page.innerText('main'), 'The spans of this conversation were removed');
  t.equal((await evidence.innerText()).replaceAll(/\s+/g, ' '), 'Evidence: turn 1, the agent');
  t.equal(await page.locator('a[href*="#turn-"]').count(), 0, 'no link to a turn');
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
});

void t.test(
  'turns that arrived after the close are marked, and do not count as evidence',
  async (t) => {
    const { admin, trace, end, drain, production } = await withEmptyService(t);
    await admin('POST /evals', makeContainsEval('ships', 'shipped'));
    await admin('PUT /settings', { evals: ['ships'] });
    const startMs = Date.UTC(2026, 10, 20);
    const reply = makeSpan({
      user: 'And now?',
      agent: 'It has shipped.',
      startMs: startMs + 4_000,
    });
    await trace(reply);
    await end('conv-1');
    await trace(
      makeSpan({ user: 'Hi.', agent: 'Hello.', startMs }),
      makeSpan({ user: 'Bye.', agent: 'It has shipped.', startMs: startMs + 8_000 }),
    );
    await trace(
      makeSpan({
        operation: 'execute_tool',
        traceId: String(reply['traceId']),
        startMs: startMs + 4_100,
        attributes: { 'gen_ai.tool.name': 'find' },
      }),
    );
    await drain();
    const [item] = (await production()).items;
    const { page, errors } = await openPage(t, String(item?.url));
    const turns = await page.locator('li.turn .about-turn').allInnerTexts();
    t.same(
      turns.map((text) => text.replaceAll(/\s+/g, ' ').trim()),
      [
        'Late turn Arrived after the close, not scored',
        'Turn 1 Arrived in part after the close; that part is not scored pass: Says shipped',
        'Late turn Arrived after the close, not scored',
      ],
    );
    t.equal(await page.locator('#turn-1 mark').innerText(), 'shipped');
    await assertAccessibleAtNight(t, page);
    t.same(errors, []);
  },
);

void t.test('tags of the SDK and the process are folded, and left out of lists', async (t) => {
  const { service, trace } = await withEmptyService(t);
  const sdk = { 'telemetry.sdk.name': 'opentelemetry', 'process.pid': 7, 'host.name': 'web-1' };
  await trace(makeSpan({ attributes: { tier: 'gold', ...sdk } }));
  const { page } = await openPage(t, `${service.url}/conversation?id=conv-1`);
  t.match(await page.innerText('main > p:has(.tag)'), /^tier = gold$/);
  t.notOk(await page.getByText('telemetry.sdk.name').isVisible());
  await page.click('text=3 tags of the SDK and the process');
  t.ok(await page.getByText('telemetry.sdk.name = opentelemetry').isVisible());
  await page.goto(`${service.url}/sessions?kind=open`);
  t.same(await page.locator('.tag').allInnerTexts(), ['tier = gold']);
});

void t.test('the run, the tags, and the evals of a session are links', async (t) => {
  const { admin, production } = await withEmptyService(t);
  const outcomes = ['fail', 'pass'].map((outcome) => ({
    eval_name: `Eval that is ${outcome}`,
    outcome,
    reasoning: 'It was.',
  }));
  const metadata = { version: '1.4, beta=2', 'odd=key': 'x' };
  await admin('POST /seed', {
    runs: ['Monday', 'Tuesday'].map((name) => ({
      name,
      sessions: [
        { source_session_id: name, started_at: '2026-11-19T10:00:00Z', outcomes, metadata },
      ],
    })),
  });
  const link = String((await production('?run=tuesday')).items[0]?.url);
  const { page, errors } = await openPage(t, link);
  const openLink = async (text: string): Promise<string> => {
    await page.goto(link);
    return follow(page, page.getByRole('link', { name: text, exact: true }));
  };
  t.match(await openLink('Tuesday'), /1 of 1 session|0 of 1 session/);
  t.match(new URL(page.url()).pathname, /^\/production-eval\/\d+$/);
  t.match(await openLink('version = 1.4, beta=2'), '2 sessions with these filters');
  t.match(await openLink('All sessions that failed this eval'), '2 sessions with these filters');
  t.match(new URL(page.url()).searchParams.get('eval'), 'Eval that is fail');
  t.match(await openLink('Eval that is pass'), '0 sessions with these filters');
  await page.goto(link);
  t.equal(await page.locator('a', { hasText: 'odd=key' }).count(), 0, 'not in the filter');
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
});
