/** A browser calls the reference agent: its own WebRTC, its microphone, and what it hears. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import t, { type Test } from 'tap';
import { resolvePointer } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { withAgent } from '../helpers/agent.ts';
import { withBrowser } from '../helpers/browser.ts';
import { browserCall, type BrowserCall, type HeardByBrowser } from '../helpers/calling-page.ts';
import { callsOf, clipOf } from '../helpers/caller.ts';
import { samplesOf, wavOf } from '../helpers/sound.ts';
import { until } from '../helpers/until.ts';

/** A browser whose microphone says a clip again and again, with silence between. */
async function withSpeaker(
  t: Test,
  clipId: string,
  flags: readonly string[] = [],
): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'microphone-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'said.wav');
  writeFileSync(file, wavOf(await samplesOf(await clipOf(clipId)), 3_000));
  return withBrowser(t, [
    '--disable-background-networking',
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}`,
    '--autoplay-policy=no-user-gesture-required',
    '--allow-loopback-in-peer-connection',
    ...flags,
  ]);
}

const invented = ({ concealedSamples }: HeardByBrowser): number => concealedSamples;

/** A second in which the browser hears sound, and no sample of it is invented. */
async function aGoodSecond(call: BrowserCall): Promise<[HeardByBrowser, HeardByBrowser]> {
  let good: [HeardByBrowser, HeardByBrowser] | undefined;
  await until('a second of sound without a sample that is invented', async () => {
    const before = await call.heard();
    await systemClock.sleep(1_000);
    const after = await call.heard();
    if (before && after) {
      const isSound = after.totalAudioEnergy - before.totalAudioEnergy > 0.001;
      if (isSound && invented(after) === invented(before)) good = [before, after];
    }
    return good !== undefined;
  });
  if (!good) throw new Error('there is no such second');
  return good;
}

void t.test('a browser hears the agent without a gap, and is heard', async (t) => {
  const browser = await withSpeaker(t, 'where-is-my-order');
  const { agent } = await withAgent(t);
  const call = await browserCall(browser, `${agent.url}/health`, agent.voiceUrl ?? '');
  await until('media can flow', async () => (await call.state()) === 'connected');

  const [before, after] = await aGoodSecond(call);
  t.ok(after.packetsReceived - before.packetsReceived >= 30, 'packets come');
  t.equal(after.packetsLost, 0);
  t.ok(after.jitter >= 0 && after.jitter < 1, `jitter ${after.jitter} s`);
  t.comment(`${after.concealedSamples} of ${after.totalSamplesReceived} samples invented`);

  // The browser says its line again and again; the call may have come up in the middle of one.
  const wholeLine = async () =>
    (await call.messages()).find(
      (message) =>
        message['type'] === 'conversation_update' &&
        // Another encoder has been over it: it is speech, but no clip that is known by its packets.
        /^\(1\.\d s of speech\)$/.test(String(resolvePointer(message, '/transcript/user'))),
    );
  await until('an update of a whole line', async () => (await wholeLine()) !== undefined);
  t.match(await wholeLine(), {
    transcript: { agent: String },
    metadata: { audio_quality: 'good' },
  });

  await call.hangUp();
  const over = async () => (await callsOf(agent.url)).find(({ ended_ms }) => ended_ms !== null);
  await until('the call is over', async () => (await over()) !== undefined);
  t.match(await over(), { state: 'over', ending: 'gone' });
});

const SHOWS_ADDRESSES = '--disable-features=WebRtcHideLocalIpsWithMdns';

for (const [name, flags] of Object.entries({ hides: [], shows: [SHOWS_ADDRESSES] })) {
  void t.test(
    `a browser that ${name} its addresses is heard, also when it names them later`,
    async (t) => {
      const browser = await withSpeaker(t, 'thank-you', flags);
      const { agent } = await withAgent(t);
      for (const trickles of [false, true]) {
        const url = agent.voiceUrl ?? '';
        const call = await browserCall(browser, `${agent.url}/health`, url, trickles);
        await until('it hears', async () => ((await call.heard())?.packetsReceived ?? 0) > 10);
        const answer = await call.answer();
        t.match(answer, / typ host/);
        t.equal(/\.local /.test(answer), name === 'hides');
        await call.hangUp();
      }
      await until('no call is left', async () =>
        (await callsOf(agent.url)).every(({ state }) => state === 'over'),
      );
      const heard = (await callsOf(agent.url)).map(({ packets_received }) => packets_received);
      t.ok(
        heard.every((packets) => packets > 0),
        `the agent heard ${heard.join(' and ')} packets`,
      );
    },
  );
}
