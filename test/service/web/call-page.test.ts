/** The page of a simulated call, placed by WebRTC: its audio, its waveform, and its scenario. */
import t, { type Test } from 'tap';
import { withVoiceDouble } from '../../support/calls/voice-double.ts';
import {
  startTranscriptionServer,
  transcriptionResponses,
} from '../../support/models/transcription-server.ts';
import { assertAccessible } from '../../support/pages/accessibility.ts';
import { openPage, visitViews } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { assertPlays } from '../../support/pages/timeline.ts';
import { withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';

/** Decodes the audio of the page, and returns its length and the peak of each channel. */
const DECODE = `(async () => {
  const { src } = document.querySelector('audio');
  const bytes = await (await fetch(src)).arrayBuffer();
  const audio = await new OfflineAudioContext(2, 1, 48000).decodeAudioData(bytes);
  const peakOf = (channel, from, to) => audio.getChannelData(channel)
    .slice(from * 48000, to * 48000).reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  const seconds = audio.duration;
  return { channels: audio.numberOfChannels, seconds,
    peaks: [peakOf(0, 0, seconds), peakOf(1, 0, seconds)], beforeTurn: peakOf(1, 0, 1) };
})()`;

/** Moves the player, and returns its position and duration. */
const SEEK = `(async () => {
  const audio = document.querySelector('audio');
  const sought = new Promise((resolve) => audio.addEventListener('seeked', resolve));
  if (audio.readyState < 1) {
    await new Promise((resolve) => audio.addEventListener('loadedmetadata', resolve));
  }
  audio.currentTime = audio.duration / 2;
  await sought;
  return { at: audio.currentTime, seconds: audio.duration };
})()`;

/** Simulates one call of two turns, and returns the link to its session. */
async function simulateCall(t: Test, tested: ServiceUnderTest): Promise<string> {
  const { admin, drain, simulations } = tested;
  const chats = await withSandboxDouble(t);
  const calls = await withVoiceDouble(t, async (call) => {
    await call.connect();
    for (;;) {
      await call.waitForEndOfSpeech();
      call.update('It has shipped.');
      await call.speak();
    }
  });
  await admin('POST /evals', makeContainsEval('lost', 'lost'));
  const voiceUrl = `${calls.url.replace('http', 'ws')}/calls`;
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: chats.url, voice_url: voiceUrl });
  await admin('POST /simulations', {
    agent: 'shop',
    seed: 's',
    channel: 'voice',
    scenarios: [
      makeScenario({
        id: 'parcel',
        name: 'Asks for a parcel',
        user: { mode: 'scripted', opening: 'Where is it?', steps: [{ say: 'Thank you.' }] },
        evals: [
          'lost',
          { id: 'quick', name: 'Quick', kind: 'responds_within_ms', params: { ms: 60_000 } },
          { id: 'clear', name: 'Clear', kind: 'heard_word_error_rate_max', params: { max: 0.2 } },
        ],
      }),
    ],
  });
  await drain();
  return String((await simulations()).items[0]?.url);
}

void t.test('the page of a call, and its audio', async (t) => {
  const server = await startTranscriptionServer(t);
  server.respondWith(transcriptionResponses.text('It was shipped.'));
  const tested = await withService(t, { transcription: { baseUrl: server.baseUrl } });
  const link = await simulateCall(t, tested);
  await t.test('a call can be heard, sought, seen, and made a scenario', async (t) => {
    await visitViews(t, link, async ({ page, requests, errors }, { width }) => {
      t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
      t.ok(
        requests.every((url) => url.startsWith(tested.service.url)),
        'no other host',
      );
      const label = await page.locator('figure svg:visible').getAttribute('aria-label');
      t.match(label, /Waveform of a call of [\d.]+ s: .* 2 turns/);
      await page.click('figure svg:visible');
      const [at, seconds] = await page.evaluate<[number, number]>(
        `(({ currentTime, duration }) => [currentTime, duration])(document.querySelector('audio'))`,
      );
      t.ok(Math.abs(at - seconds / 2) < 1, `a click plays from there: ${at} of ${seconds} s`);
      const text = await page.innerText('main');
      t.match(text, /response latency/, 'how they took turns');
      t.match(text, /Expected replies to start within 60000 ms: the slowest started after/);
      t.match(text, /heard in turn 1\s+It was shipped\./, 'what was heard');
      t.match(text, /Expected a word error rate of at most 20%: 2 of 6 words \(33\.3%\)/);
      await page.click('text=Turns of the call');
      t.match(await page.innerText('[aria-label="Turns of the call"]'), /Turn 1.*Turn 2/s);
      await assertAccessible(t, page);
      t.same(errors, []);
    });
    const { page } = await openPage(t, link);
    const { at, seconds } = await page.evaluate<{ at: number; seconds: number }>(SEEK);
    t.ok(seconds > 3, `the player shows ${seconds} s`);
    t.ok(Math.abs(at - seconds / 2) < 0.1, 'seeking works');
    await assertPlays(t, page);
    const audio = await page.evaluate<Record<string, number> & { peaks: number[] }>(DECODE);
    t.equal(audio['channels'], 2);
    for (const peak of audio.peaks) t.ok(peak > 0.05, `both sides are audible (${peak})`);
    t.ok((audio['beforeTurn'] ?? 1) < 0.001, 'the agent is silent before it is asked');
    t.match(await page.innerText('main'), /fail\s+Says lost/);
    await follow(page, 'text=Store the scenario');
    t.equal(new URL(page.url()).pathname, '/scenarios/parcel');
    t.match(await page.innerText('main'), /The scenario was added.*Where is it\?/s);
    await page.goto(link);
    await follow(page, 'text=Open the scenario');
    t.equal(new URL(page.url()).pathname, '/scenarios/parcel');
  });

  await t.test(
    'the audio is sent in ranges, to its owner only, until its session is deleted',
    async (t) => {
      const id = new URL(link).searchParams.get('sessionId') ?? '';
      const url = `${tested.service.url}/recordings/${id}`;
      const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
      t.equal(whole.toString('latin1', 0, 4), 'OggS');
      const { length } = whole;
      const rows: [range: string, status: number, contentRange: string | null, bytes: number][] = [
        ['bytes=0-99', 206, `bytes 0-99/${length}`, 100],
        [`bytes=${length - 10}-`, 206, `bytes ${length - 10}-${length - 1}/${length}`, 10],
        ['bytes=-10', 206, `bytes ${length - 10}-${length - 1}/${length}`, 10],
        ['bytes=5-999999999', 206, `bytes 5-${length - 1}/${length}`, length - 5],
        [`bytes=${length}-`, 416, `bytes */${length}`, 0],
        ['bytes=9-5', 200, null, length],
        ['bytes=0-1,4-5', 200, null, length],
        ['lines=0-1', 200, null, length],
      ];
      for (const [range, status, contentRange, bytes] of rows) {
        const response = await fetch(url, { headers: { range } });
        t.equal(response.status, status, range);
        t.equal(response.headers.get('content-range'), contentRange, range);
        t.equal((await response.arrayBuffer()).byteLength, bytes, range);
        if (status !== 416) t.equal(response.headers.get('content-type'), 'audio/ogg');
      }
      const foreign = await fetch(url, { headers: { origin: 'https://evil.example' } });
      t.equal(foreign.status, 403, 'another site');
      t.equal((await fetch(`${tested.service.url}/recordings/unknown`)).status, 404);
      const open = await withStartedService(t, {
        host: '0.0.0.0',
        keys: [{ key: 'the-key-of-the-service' }],
      });
      t.equal((await fetch(`${open.url}/recordings/${id}`)).status, 401, 'no key');
      await tested.admin('POST /reset', { to: 'empty' });
      t.equal((await fetch(url)).status, 404, 'deleted');
    },
  );
});
