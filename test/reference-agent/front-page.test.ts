/** What `/` shows to someone who has only the address of an agent. */
import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import { openPage } from '../support/pages/browser.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

interface Description {
  calls: Record<string, string>;
  contract: Record<string, string>;
  control: Record<string, string>;
}

void t.test('/ lists the routes of the agent, and each of them exists', async (t) => {
  const key = 'the-key-of-this-agent';
  for (const options of [{}, { apiKey: key, voice: null }]) {
    const agent = await startAgent(options);
    const hasVoice = !('voice' in options);
    t.teardown(() => agent.stop());
    const response = await fetch(agent.url);
    t.equal(response.headers.get('content-type'), 'application/json');
    t.match(response.headers.get('vary'), /accept/i);
    const text = await response.text();
    t.notOk(text.includes(key), 'no key');
    const { calls, contract, control } = JSON.parse(text) as Description;
    t.match(Object.keys(calls), ['POST /v1/chat/completions', 'GET /health', 'POST /users']);
    t.equal('/asyncapi.json' in contract, hasVoice);
    t.equal(
      Object.keys(calls).some((call) => call.startsWith('WebSocket')),
      hasVoice,
    );
    for (const path of [...Object.keys(contract), ...Object.keys(control)]) {
      const headers = { authorization: `Bearer ${key}` };
      t.equal((await fetch(agent.url + path, { headers })).status, 200, path);
    }
    const posted = await fetch(agent.url, { method: 'POST' });
    t.equal(posted.status, 405);
    t.equal(posted.headers.get('allow'), 'GET, HEAD');
    t.equal(agent.requests().length, 0, 'the journal has only requests to the interface');
  }
});

void t.test('/ is a page in a browser that loads nothing else and fits a phone', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const viewport = { width: 390, height: 844 };
  const { page, requests, errors } = await openPage(t, agent.url, { viewport });
  t.same(requests, [`${agent.url}/`]);
  t.same(errors, []);
  t.match(await page.innerText('main'), /Reply to a conversation/);
  t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), 390);
  const response = await page.goto(`${agent.url}/openapi.json`);
  t.equal(response?.status(), 200);
});

void t.test('an unknown path is a page in a browser, and JSON for programs', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const { page } = await openPage(t, `${agent.url}/chat?key=secret`);
  t.match(await page.innerText('main'), /Page not found[^]*no page at this address/);
  t.notMatch(await page.content(), 'secret');
  await page.getByRole('link', { name: 'See its routes.' }).click();
  t.match(await page.innerText('main'), /Reply to a conversation/);
  const response = await fetch(`${agent.url}/chat`);
  t.equal(response.status, 404);
  t.match(await response.json(), { error: { message: 'Route GET /chat does not exist.' } });
});

void t.test('/ is closed to pages of other hosts', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const response = await fetch(agent.url, { headers: { origin: 'https://evil.example' } });
  t.equal(response.status, 403);
});
