/** A person calls an agent from its page, with the browser's own WebRTC and microphone. */
import t from 'tap';
import { WebSocket } from 'ws';
import { fetchCalls } from '../../support/calls/caller.ts';
import { withLibwebrtcAgent } from '../../support/calls/libwebrtc-agent.ts';
import { HAS_EXTERNAL_INTERFACE } from '../../support/calls/libwebrtc-peer.ts';
import { withSpeakingBrowser } from '../../support/calls/speaking-browser.ts';
import { nightOnly } from '../../support/nightly.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { assertFits, openPage } from '../../support/pages/browser.ts';
import { clickButton } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { until } from '../../support/until.ts';

const KEY = 'sandbox-key-1234';

void t.test('a call is heard on both sides, shows its turns, and is stored', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url, api_key: KEY });
  const browser = await withSpeakingBrowser(t, 'where-is-my-order');
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${service.url}/agents/shop`);
  await page.click('text=Call the agent');
  await page.fill('[name=user_id]', 'user-1');
  await page.click('text="Call"');
  const status = () => page.innerText('[data-part=status]');
  await until('a turn with its latency', async () =>
    /\d ms/.test(await page.innerText('[data-part=turns]')),
  );
  t.match(await status(), /^In the call/);
  t.match(await page.innerText('[data-part=turns]'), /s of speech\).*does not fit, as the agent/s);
  t.match(await page.innerText('[data-part=unfit]'), 'recognizes only its own recordings');
  await assertFits(t, page, 'the call');
  await assertAccessibleAtNight(t, page);
  t.notMatch(await page.content(), KEY);
  await page.click('text="Hang up"');
  t.equal(await status(), 'You have hung up.');
  const [call] = await fetchCalls(agent.url);
  t.ok((call?.packets_received ?? 0) > 50, 'the agent received audio');
  const stored = await clickButton(page, 'Store and score this call');
  t.match(stored, 's of speech)');
  t.same(errors, []);
});

const withLibwebrtc = HAS_EXTERNAL_INTERFACE
  ? nightOnly()
  : { skip: 'libwebrtc needs a network interface besides loopback' };

void t.test(
  'a call to an agent with libwebrtc is heard on both sides',
  withLibwebrtc,
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const agent = await withLibwebrtcAgent(t, { habits: { endpointMs: 600 } });
    const { url, voiceUrl: voice_url } = agent;
    await admin('POST /agents', { id: 'foreign', name: 'Foreign', url, voice_url });
    const browser = await withSpeakingBrowser(t, 'where-is-my-order');
    const page = await browser.newPage();
    await page.goto(`${service.url}/agents/foreign/call`);
    await page.click('text="Call"');
    await until('a turn with its latency', async () =>
      /\d ms/.test(await page.innerText('[data-part=turns]')),
    );
    t.match(await page.innerText('[data-part=turns]'), 'I can help you with that.');
    await until('half a second of speech that the agent heard', async () => {
      const { loud = 0 } = (await agent.peers[0]?.countFrames()) ?? {};
      return loud >= 50;
    });
    await page.click('text="Hang up"');
  },
);

void t.test('without a microphone, or with an agent that refuses, the page says why', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  await admin('POST /agents', {
    id: 'locked',
    name: 'Locked',
    url: agent.url,
    api_key: 'wrong-key',
  });
  const { page } = await openPage(t, `${service.url}/agents/locked/call`);
  await page.click('text="Call"');
  await page.waitForSelector('text=The browser gave no microphone');
  const browser = await withSpeakingBrowser(t, 'where-is-my-order');
  const speaking = await browser.newPage();
  await speaking.goto(`${service.url}/agents/locked/call`);
  await speaking.click('text="Call"');
  await speaking.waitForSelector('text=the WebSocket was refused with HTTP 401');
  t.ok(await speaking.isVisible('text="Call"'), 'the call can be repeated');
});

void t.test(
  'the WebSocket is only for pages of the service, and only for messages of calls',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t);
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
    const { page } = await openPage(t, `${service.url}/agents/shop/call`);
    const token = (await page.getAttribute('[data-token]', 'data-token')) ?? '';
    const url = `${service.url.replace('http', 'ws')}/agents/shop/call/socket`;

    /** Returns the status that refused a WebSocket, or its close code and reason after a message. */
    const connect = (offered: string, headers: Record<string, string>, to = url, message = '') =>
      new Promise((resolve) => {
        const socket = new WebSocket(to, ['sandbox-kit-page', offered], { headers });
        socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
        socket.on('error', () => undefined);
        socket.on('open', () => socket.send(message));
        socket.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
      });
    const origin = service.url;
    t.equal(await connect('wrong', { origin }), 403, 'another token');
    t.equal(await connect(token, {}), 403, 'no origin');
    t.equal(await connect(token, { origin: 'https://evil.example' }), 403, 'another site');
    t.equal(await connect(token, { origin }, url.replace('shop', 'none')), 404, 'no such agent');
    const unknown = '1008 The page sent a message that a call does not have.';
    t.equal(await connect(token, { origin }, url, '{"type":"call_ready"}'), unknown);
    t.equal(await connect(token, { origin }, url, 'x'), unknown);
    const plain = await fetch(url.replace('ws', 'http'));
    t.equal(plain.status, 400, 'a request without an upgrade');
    t.same(await fetchCalls(agent.url), [], 'the agent saw no call');
  },
);
