/** Charts of production runs by agent and channel, from live traces and uploads. */
import t, { type Test } from 'tap';
import { DAY_MS } from '../../../src/platform/clock.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const FIRST_MS = Date.UTC(2026, 10, 20, 9);

/** A conversation of one day. */
interface Said {
  agent?: string;
  channel?: string;
  /** Whether the eval passes. */
  passes?: boolean;
  /** The response time of each turn; a negative one failed after this time. */
  turnsMs: readonly number[];
}

/** Sends conversations of a day, and closes them. */
async function converse(
  { trace, end, drain }: ServiceUnderTest,
  day: number,
  conversations: readonly Said[],
): Promise<void> {
  for (const [nth, { agent, channel, passes = true, turnsMs }] of conversations.entries()) {
    const conversationId = `day-${day}-${nth}`;
    for (const [index, ms] of turnsMs.entries()) {
      const startMs = FIRST_MS + day * DAY_MS + index * 60_000;
      await trace(
        makeSpan({
          conversationId,
          user: `Question ${index}`,
          agent: passes ? 'Yes, please.' : 'No.',
          startMs,
          endMs: startMs + Math.abs(ms),
          ...(ms < 0 && { status: 2 }),
          attributes: {
            ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
            ...(channel !== undefined && { channel }),
          },
        }),
      );
    }
    await end(conversationId);
  }
  await drain();
}

async function withPoliteEval(t: Test): Promise<ServiceUnderTest> {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  await tested.admin('PUT /settings', { evals: ['polite'], run_name: 'Shop' });
  return tested;
}

async function readCaptions(t: Test, { service }: ServiceUnderTest, path: string) {
  const { page } = await openPage(t, service.url + path);
  const captions = page.locator('.charts :is(figcaption, p)');
  const texts = await captions.allTextContents();
  return { page, captions: texts.map((text) => text.replaceAll(/[ \n]+/g, ' ').trim()) };
}

const KEYS = '● median ■ 95th percentile';

void t.test('production runs are charted by agent and channel', async (t) => {
  const tested = await withPoliteEval(t);
  const shop = { agent: 'Shop agent', channel: 'voice' };
  await converse(tested, 0, [
    { ...shop, turnsMs: [1_000, 2_000, -9_000] },
    { agent: 'Bank agent', passes: false, turnsMs: [300] },
  ]);
  await converse(tested, 1, [
    { ...shop, passes: false, turnsMs: [500] },
    { agent: 'Bank agent', turnsMs: [100] },
    { turnsMs: [7_000] },
  ]);
  const rates = [
    'Pass rate of the last 2 production runs, from 50% to 66.7%',
    'Bank agent: pass rate of the last 2 production runs, from 0% to 100%',
    'Shop agent by voice: pass rate of the last 2 production runs, from 100% to 0%',
  ];
  const { page, captions } = await readCaptions(t, tested, '/runs?kind=production');
  t.same(
    new Set(captions),
    new Set([
      ...rates,
      `Bank agent: response time of the last 2 production runs, median from 300 ms to 100 ms. ${KEYS}`,
      `Shop agent by voice: response time of the last 2 production runs, median from 1 s to 500 ms. ${KEYS}`,
    ]),
  );
  t.match(await page.innerHTML('.charts'), /production run by the day of its newest session/);
  t.same(new Set((await readCaptions(t, tested, '/')).captions), new Set(rates), 'on the overview');

  await page.click('a:text-is("Shop 2026-11-20")');
  const shown = (await page.locator('.charts').innerText()).replaceAll(/\s+/g, ' ');
  t.match(shown, 'Shop agent by voice: response time of 2 turns, median 1 s');
  t.match(shown, 'Shop agent by voice: turns of 1 session: 3', 'a failed turn is a turn');
  t.match(shown, 'Bank agent: response time of 1 turn');

  await tested.admin('POST /agents', { id: 'shop', name: 'Shop agent', url: 'http://127.0.0.1:9' });
  await follow(page, '[aria-label=Sessions] a:text-is("day-0-0")');
  const facts = (await page.innerText('.facts')).replaceAll(/\s+/g, ' ');
  t.match(facts, 'Agent Shop agent Channel voice', 'the page of a session names both');
  await follow(page, '.facts a:text-is("Shop agent")');
  t.equal(new URL(page.url()).pathname, '/agents/shop', 'and leads to the agent');
});

void t.test('sessions of one agent, or of none, have no second chart of pass rates', async (t) => {
  const tested = await withPoliteEval(t);
  await converse(tested, 0, [{ turnsMs: [1_000] }]);
  await converse(tested, 1, [{ turnsMs: [3_000] }]);
  const { captions } = await readCaptions(t, tested, '/runs?kind=production');
  t.same(captions, [
    'Pass rate of the last 2 production runs, from 100% to 100%',
    `Response time of the last 2 production runs, median from 1 s to 3 s. ${KEYS}`,
  ]);
});

void t.test('uploads are charted by the channel of their metadata', async (t) => {
  const tested = await withPoliteEval(t);
  for (const [session_id, run, channel] of [
    ['a', 'Monday', 'chat'],
    ['b', 'Monday', 'voice'],
    ['c', 'Tuesday', 'chat'],
    ['d', 'Tuesday', 'voice'],
  ]) {
    await tested.admin('POST /transcripts', {
      ...{ session_id, run, evals: ['polite'], metadata: { channel } },
      turns: [{ user_input: 'Hello', agent_response: channel === 'chat' ? 'Yes, please.' : 'No.' }],
    });
  }
  await tested.drain();
  const { captions } = await readCaptions(t, tested, '/runs?kind=production');
  t.same(
    new Set(captions),
    new Set([
      'Pass rate of the last 2 production runs, from 50% to 50%',
      'Chat: pass rate of the last 2 production runs, from 100% to 100%',
      'Voice: pass rate of the last 2 production runs, from 0% to 0%',
    ]),
  );
});

void t.test('a comparison of production runs names agents that differ', async (t) => {
  const tested = await withPoliteEval(t);
  await converse(tested, 0, [{ agent: 'Shop agent', turnsMs: [1_000] }]);
  await converse(tested, 1, [{ agent: 'Bank agent', turnsMs: [1_000] }, { turnsMs: [10] }]);
  const { page } = await openPage(t, `${tested.service.url}/compare?a=1&b=2&kind=production`);
  const changes = (await page.innerText('[aria-label=Changes] tbody')).replaceAll(/\s+/g, ' ');
  t.match(changes, 'Agent Shop agent Bank agent');
});
