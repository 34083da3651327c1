/** Calls from a browser to the reference agent, with the browser's own WebRTC and microphone. */
import t from 'tap';
import { resolvePointer } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import {
  placeBrowserCall,
  type BrowserCall,
  type InboundAudioStats,
} from '../support/calls/browser-call.ts';
import { fetchCalls } from '../support/calls/caller.ts';
import { withSpeakingBrowser } from '../support/calls/speaking-browser.ts';
import { nightOnly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

/** Waits for a second of audible sound without concealment; returns the statistics around it. */
async function waitForGaplessSecond(
  call: BrowserCall,
): Promise<[InboundAudioStats, InboundAudioStats]> {
  let second: [InboundAudioStats, InboundAudioStats] | undefined;
  await until('the browser plays a second of sound without concealed samples', async () => {
    const before = await call.inboundStats();
    await systemClock.sleep(1_000);
    const after = await call.inboundStats();
    if (before && after) {
      const isAudible = after.totalAudioEnergy - before.totalAudioEnergy > 0.001;
      const isGapless = after.concealedSamples === before.concealedSamples;
      if (isAudible && isGapless) second = [before, after];
    }
    return second !== undefined;
  });
  if (!second) throw new Error('No second of sound was gapless.');
  return second;
}

void t.test('a browser and the agent hear each other without gaps', async (t) => {
  const browser = await withSpeakingBrowser(t, 'where-is-my-order');
  const { agent } = await withReferenceAgent(t);
  const call = await placeBrowserCall(browser, `${agent.url}/health`, agent.voiceUrl ?? '');
  await until('the media is connected', async () => (await call.state()) === 'connected');

  const [before, after] = await waitForGaplessSecond(call);
  t.ok(
    after.packetsReceived - before.packetsReceived >= 30,
    'the browser receives a packet every 20 ms or so',
  );
  t.equal(after.packetsLost, 0);
  t.ok(after.jitter >= 0 && after.jitter < 1, `jitter ${after.jitter} s`);
  t.comment(`${after.concealedSamples} of ${after.totalSamplesReceived} samples concealed`);

  // The microphone may have been in the middle of the clip when the call connected.
  const findWholeUtterance = async () =>
    (await call.messages()).find(
      (message) =>
        message['type'] === 'conversation_update' &&
        // The browser encodes the clip again, so the agent cannot recognize it by its packets.
        /^\(1\.\d s of speech\)$/.test(String(resolvePointer(message, '/transcript/user'))),
    );
  await until(
    'an update for the whole clip',
    async () => (await findWholeUtterance()) !== undefined,
  );
  t.match(await findWholeUtterance(), {
    transcript: { agent: String },
    metadata: { audio_quality: 'good' },
  });

  await call.hangUp();
  const findEndedCall = async () =>
    (await fetchCalls(agent.url)).find(({ ended_ms }) => ended_ms !== null);
  await until('the call has ended', async () => (await findEndedCall()) !== undefined);
  t.match(await findEndedCall(), { state: 'over', ending: 'disconnected' });
});

const SHOW_ADDRESSES = '--disable-features=WebRtcHideLocalIpsWithMdns';

for (const [name, flags] of Object.entries({ hides: [], shows: [SHOW_ADDRESSES] })) {
  void t.test(
    `a browser that ${name} its addresses connects, with candidates in the answer or after it`,
    nightOnly(),
    async (t) => {
      const browser = await withSpeakingBrowser(t, 'thank-you', flags);
      const { agent } = await withReferenceAgent(t);
      for (const trickles of [false, true]) {
        const url = agent.voiceUrl ?? '';
        const call = await placeBrowserCall(browser, `${agent.url}/health`, url, trickles);
        await until(
          'the browser receives audio',
          async () => ((await call.inboundStats())?.packetsReceived ?? 0) > 10,
        );
        const answer = await call.answerSdp();
        t.match(answer, / typ host/);
        t.equal(/\.local /.test(answer), name === 'hides');
        await call.hangUp();
      }
      await until('all calls have ended', async () =>
        (await fetchCalls(agent.url)).every(({ state }) => state === 'over'),
      );
      const packetCounts = (await fetchCalls(agent.url)).map((call) => call.packets_received);
      t.ok(
        packetCounts.every((count) => count > 0),
        `the agent received ${packetCounts.join(' and ')} packets`,
      );
    },
  );
}
