/** A person chats with an agent on its page, and stores the conversation. */
import t from 'tap';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow, pressEnter } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { refusal, respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval } from '../../support/services/service.ts';

const KEY = 'sandbox-key-1234';

void t.test('a conversation continues with its session, and is stored and scored', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url, api_key: KEY });
  await admin('POST /evals', makeContainsEval('order', '17'));
  await admin('PUT /settings', { evals: ['order'] });
  const { page, errors } = await openPage(t, `${service.url}/agents/shop`);
  await follow(page, 'text=Chat with the agent');
  const focused = () => page.evaluate('document.activeElement.name');
  t.equal(await focused(), 'line', 'the message has the focus');
  t.match(await page.innerText('main'), 'Enter sends it. Shift+Enter begins a new line.');
  t.match(await clickButton(page, 'Send'), 'Enter a message.');
  t.equal(await focused(), 'line');
  await page.keyboard.type('Where is order A-17? <b>');
  await pressEnter(page);
  const first = await page.innerText('main');
  t.match(first, /User\s+Where is order A-17\? <b>\s+.*Agent/s);
  t.equal(await focused(), 'line', 'after a reply, too');
  await page.keyboard.type('And when does');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('it arrive?');
  t.equal(await page.inputValue('[name=line]'), 'And when does\nit arrive?');
  await page.fill('[name=line]', 'And when does it arrive?');
  await clickButton(page, 'Send');
  await assertAccessibleAtNight(t, page);
  await page.click('summary:text-is("Request and response") >> nth=1');
  const raw = await page.innerText('details[open] pre >> nth=0');
  t.match(JSON.parse(raw), {
    messages: [{ role: 'user' }, { role: 'assistant' }, { content: 'And when does it arrive?' }],
    session_id: /^playground-/,
  });
  t.match(await page.innerText('details[open]'), `curl '${agent.url}/v1/chat/completions'`);
  t.notMatch(await page.content(), KEY, 'the key of the agent is not shown');
  await clickButton(page, 'Store and score this conversation');
  await drain();
  await page.reload();
  const scored = await page.innerText('main');
  t.match(scored, 'And when does it arrive?');
  t.match(scored, 'Says 17');
  t.match(scored, 'Make a scenario');
  t.same(
    errors.filter((message) => !message.includes('400 (Bad Request)')),
    [],
  );
});

void t.test(
  'a failed request is a turn with its reason, and is not repeated to the agent',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const double = await withSandboxDouble(t, { chat: refusal(503, 'overloaded') });
    await admin('POST /agents', { id: 'slow', name: 'Slow', url: double.url });
    const { page } = await openPage(t, `${service.url}/agents/slow/chat`);
    await page.fill('[name=user_id]', 'user-1');
    await page.fill('[name=line]', 'Hello?');
    const failed = await clickButton(page, 'Send');
    t.match(failed, 'POST /v1/chat/completions returned 503 overloaded.');
    t.notMatch(failed, 'Store and score', 'there is nothing to score');
    await page.fill('[name=line]', 'Are you there?');
    await clickButton(page, 'Send');
    const [, second] = double.requests.filter(({ route }) => route === 'chat');
    t.match(second?.body, { messages: [{ content: 'Are you there?' }], user_id: 'user-1' });
  },
);

void t.test('a damaged conversation in the form begins anew', async (t) => {
  const { admin, service } = await withEmptyService(t);
  const double = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'a', name: 'A', url: double.url });
  const { page } = await openPage(t, `${service.url}/agents/a/chat`);
  for (const value of ['{', '[]', '{"sessionId":"x","userId":"","turns":[]}', '"'.repeat(100)]) {
    await page.locator('[name=conversation]').evaluateAll((inputs, text) => {
      for (const input of inputs) (input as unknown as { value: string }).value = text;
    }, value);
    await page.fill('[name=line]', 'Hello');
    t.match(await clickButton(page, 'Send'), /User\s+Hello/, value);
  }
});

void t.test('a conversation that is stored without evals says that none are chosen', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const double = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'a', name: 'A', url: double.url });
  const { page } = await openPage(t, `${service.url}/agents/a/chat`);
  await page.fill('[name=line]', 'Hello');
  await clickButton(page, 'Send');
  await clickButton(page, 'Store and score this conversation');
  await drain();
  await page.reload();
  t.match(await page.innerText('main'), 'No evals are chosen in the settings.');
  t.equal(await page.getAttribute('h2 ~ p a:text("settings")', 'href'), '/settings');
});

void t.test(
  'an invalid response is shown as invalid, with the requirement it breaks',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const answer = { choices: [{ message: { role: 'user', content: 'Hello' } }] };
    const double = await withSandboxDouble(t, { chat: respondWith(200, answer) });
    await admin('POST /agents', { id: 'a', name: 'A', url: double.url });
    const { page } = await openPage(t, `${service.url}/agents/a/chat`);
    const say = async (): Promise<string> => {
      await page.fill('[name=line]', 'Hello?');
      return clickButton(page, 'Send');
    };
    const shown = await say();
    t.match(shown, 'This response is invalid. A check of the agent fails because of it:');
    t.match(shown, /CHAT-\d{3}: .* Expected .*, received /);
    t.match(await say(), /is invalid.*is invalid/s, 'the conversation keeps it');
    await follow(page, 'main li a >> text=/CHAT-/');
    t.match(page.url(), /\/requirements\/CHAT-\d{3}$/);
    t.match(await page.innerText('main'), /Why it matters.*Section \d/s);
    double.setBehavior({});
    await page.goto(`${service.url}/agents/a/chat`);
    t.notMatch(await say(), 'is invalid', 'a valid one is not');
    t.equal((await fetch(`${service.url}/requirements/CHAT-999`)).status, 404);
  },
);

void t.test('what to do about a refused key is said in the words of the pages', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const double = await withSandboxDouble(t, { chat: refusal(401, 'unauthorized') });
  await admin('POST /agents', { id: 'a', name: 'A', url: double.url });
  const { page } = await openPage(t, `${service.url}/agents/a/chat`);
  await page.fill('[name=line]', 'Hello?');
  const shown = await clickButton(page, 'Send');
  t.match(shown, 'Enter its API key in the settings of the agent.');
  t.notMatch(shown.replace(/curl.*/s, ''), 'SANDBOX_KIT_API_KEY');
});
