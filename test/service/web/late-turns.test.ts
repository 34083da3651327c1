/** Turns that arrive after the close do not change what the reasons of evals refer to. */
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const START_MS = Date.UTC(2026, 10, 20);

/** Starts a service that scores live conversations with an eval. */
async function withEval(t: Test, definition: { id: string }): Promise<ServiceUnderTest> {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', definition);
  await tested.admin('PUT /settings', { evals: [definition.id] });
  return tested;
}

/** Opens the page of the only session after it was scored. */
async function openSession(t: Test, { drain, production }: ServiceUnderTest): Promise<Page> {
  await drain();
  const [item] = (await production()).items;
  const { page } = await openPage(t, String(item?.url));
  return page;
}

const listTurns = async (page: Page): Promise<string[]> => {
  const turns = await page.locator('li.turn').allInnerTexts();
  return turns.map((text) => text.replaceAll(/\s+/g, ' ').trim());
};

/** A chat turn that starts `atSeconds` after the first and takes `seconds`. */
const makeTurn = (user: string, atSeconds: number, seconds = 1): Record<string, unknown> => {
  const startMs = START_MS + atSeconds * 1000;
  return makeSpan({ user, agent: `${user} Yes.`, startMs, endMs: startMs + seconds * 1000 });
};

void t.test('a reason refers to the same turn before and after a late turn', async (t) => {
  const fast = { id: 'fast', name: 'Fast', kind: 'max_latency', params: { ms: 2000 } };
  const tested = await withEval(t, fast);
  await tested.trace(makeTurn('First?', 0), makeTurn('Second?', 20, 5), makeTurn('Third?', 40));
  await tested.end('conv-1');
  await tested.trace(makeTurn('Early?', -10), makeTurn('Between?', 10));
  const page = await openSession(t, tested);
  t.match(await page.innerText('.outcome .reasoning'), 'turn 2 (5000 ms)');
  await page.click('.outcome .evidence a >> text=turn 2, latency');
  t.match(await page.innerText('li.turn:target'), /^Turn 2\s[^]*Second\?/);
  t.equal(await page.innerText('li.turn:target mark'), '5 s');
  t.match(await listTurns(page), [
    /^Late turn Arrived after the close, not scored User Early\?/,
    /^Turn 1 User First\?/,
    /^Late turn Arrived after the close, not scored User Between\?/,
    /^Turn 2 fail: Fast User Second\?/,
    /^Turn 3 User Third\?/,
  ]);
  await assertAccessibleAtNight(t, page);
});

void t.test('turns that a late span encloses stay separate, as evals saw them', async (t) => {
  const tested = await withEval(t, makeContainsEval('second', 'Second? Yes'));
  const traceId = '7'.repeat(32);
  const inTrace = (span: Record<string, unknown>): Record<string, unknown> => ({
    ...span,
    traceId,
    parentSpanId: '9'.repeat(16),
  });
  await tested.trace(inTrace(makeTurn('First?', 0)), inTrace(makeTurn('Second?', 10)));
  await tested.end('conv-1');
  const wrapper = { operation: 'invoke_agent', traceId, spanId: '9'.repeat(16) };
  await tested.trace(
    makeSpan({ ...wrapper, user: 'First?', startMs: START_MS - 1, endMs: START_MS + 12_000 }),
  );
  const page = await openSession(t, tested);
  const part = 'Arrived in part after the close; that part is not scored';
  t.match(await listTurns(page), [
    new RegExp(`^Turn 1 ${part} User First\\?`),
    new RegExp(`^Turn 2 ${part} pass: Says Second\\? Yes User Second\\?`),
  ]);
  t.equal(await page.innerText('#turn-2 mark'), 'Second? Yes');
});

void t.test('a late reply of a scored turn is not highlighted', async (t) => {
  const tested = await withEval(t, makeContainsEval('wait', 'one moment'));
  const traceId = '7'.repeat(32);
  const wrapper = { operation: 'invoke_agent', traceId, spanId: '9'.repeat(16) };
  const inside = { traceId, parentSpanId: wrapper.spanId };
  const times = { startMs: START_MS, endMs: START_MS + 9000 };
  await tested.trace(makeSpan({ ...inside, agent: 'Just one moment.', startMs: START_MS + 1 }));
  await tested.end('conv-1');
  await tested.trace(makeSpan({ ...wrapper, agent: 'Your parcel is in Berlin.', ...times }));
  const page = await openSession(t, tested);
  t.match(await page.innerText('.outcome .evidence'), 'turn 1: “one moment”', 'what evals saw');
  t.match(await listTurns(page), [
    /^Turn 1 .* pass: Says one moment .* Your parcel is in Berlin\./,
  ]);
  t.equal(await page.locator('li.turn mark').count(), 0);
});

void t.test('the pages of a long transcript count late turns apart', async (t) => {
  const tested = await withEval(t, makeContainsEval('last', 'Line 109? Yes'));
  const turns = Array.from({ length: 110 }, (_, nth) => makeTurn(`Line ${nth}?`, nth * 10));
  await tested.trace(...turns);
  await tested.end('conv-1');
  await tested.trace(makeTurn('Between?', 5), makeTurn('After?', 9000));
  const page = await openSession(t, tested);
  t.match(await page.innerText('p.pages'), 'Turns 1 to 99 of 110 turns and 2 late turns');
  await follow(page, '.outcome .evidence a');
  t.match(await page.innerText('li.turn:target'), /^Turn 110\s[^]*Line 109\?/);
  t.match(await page.innerText('p.pages'), 'Turns 100 to 110 of 110 turns and 2 late turns');
});

void t.test('a scenario made from the page says that late turns are left out', async (t) => {
  const tested = await withEval(t, makeContainsEval('yes', 'Yes'));
  await tested.trace(makeTurn('First?', 0));
  await tested.end('conv-1');
  await tested.trace(makeTurn('Late?', 10));
  const page = await openSession(t, tested);
  await clickButton(page, 'Make a scenario');
  t.equal(
    await page.innerText('.notice'),
    'The scenario was added. The scenario omits spans that arrived after the conversation was closed.',
  );
  t.notMatch(await page.innerText('main'), 'Late?');
  await assertAccessibleAtNight(t, page);
  await page.goto(`${tested.service.url}/scenarios/from-conv-1?conversation=conv-1`);
  t.equal(await page.locator('.notice').count(), 0, 'only after the form');
});
