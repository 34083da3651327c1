/** The reference agent takes turns: it yields, and tolerates pauses, backchannels, and noise. */
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations } from '../../src/contract/index.ts';
import { createLineImpairment } from '../../src/voice/line-impairment/index.ts';
import { silentFrame, type Clip } from '../../src/voice/opus/index.ts';
import { createSpeechSynthesizer } from '../../src/voice/speech/index.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { Microphone } from '../../src/voice/call/index.ts';
import { cutToSpokenPart } from '../../reference-agent/voice/spoken-part.ts';
import { isBackchannelText } from '../../reference-agent/voice/backchannel.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  fetchCalls,
  loadClip,
  startMicrophone,
  waitForGreeting,
  withCall,
  type CallView,
  type ConnectedCall,
  type Message,
} from '../helpers/caller.ts';
import { nightOnly } from '../helpers/nightly.ts';
import { until } from '../helpers/until.ts';

const userVoice = createSpeechSynthesizer({ kind: 'user' });
t.teardown(() => userVoice.close());

// The calls take real time, in which the tests mostly wait, so they run in parallel.
t.jobs = 4;

interface Options {
  fault?: string;
  voice?: NonNullable<AgentOptions['voice']>;
  start?: Message;
}

/** Places a call to a new agent. */
async function withCaller(t: Test, { fault, voice = {}, start = {} }: Options = {}) {
  const { agent } = await withAgent(t, { voice });
  const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
  const call = await withCall(t, agent.voiceUrl ?? '', start, { headers });
  const microphone = startMicrophone(t, call.peer);
  const updates = (): Message[] =>
    call.messages.filter(({ type }) => type === 'conversation_update');
  return {
    call,
    microphone,
    updates,
    say: async (text: string): Promise<number> => {
      const clip = await userVoice.speak(text);
      call.send({ type: 'caption', call_id: call.callId, text });
      return microphone.say(clip);
    },
    turns: async (): Promise<CallView['turns']> => (await fetchCalls(agent.url))[0]?.turns ?? [],
    nextUpdate: (nth: number): Promise<void> =>
      until(`update ${nth}`, () => updates().length > nth),
  };
}

/** Returns how many different packets of a clip were received. */
function countReceived({ received }: ConnectedCall, { packets }: Clip): number {
  const payloads = new Set(received.map(({ payload }) => payload.toString('latin1')));
  return packets.filter((packet) => payloads.has(packet.toString('latin1'))).length;
}

/** Returns whether the last spoken packet of a clip was received. */
function hasEnded({ received }: ConnectedCall, { packets, speechEndTicks }: Clip): boolean {
  const last = packets[Math.ceil(speechEndTicks / 960) - 1];
  return received.some(({ payload }) => last !== undefined && payload.equals(last));
}

/** Waits until the caller has received this many more packets. */
async function hearMore({ received }: ConnectedCall, packets: number): Promise<void> {
  const from = received.length;
  await until('more of the reply', () => received.length >= from + packets);
}

const silence = (ms: number): Buffer[] => Array.from({ length: ms / 20 }, () => silentFrame);

/** Joins clips to one line with pauses of `pauseMs`. */
function joinClips(clips: readonly Clip[], pauseMs: number): Clip {
  const [first] = clips;
  if (!first) throw new Error('No clip.');
  const packets = clips.flatMap((clip, nth) => [
    ...(nth === 0 ? [] : silence(pauseMs)),
    ...clip.packets,
  ]);
  const before = packets.length - (clips.at(-1)?.packets.length ?? 0);
  const speechEndTicks = before * 960 + (clips.at(-1)?.speechEndTicks ?? 0);
  return { ...first, packets, speechEndTicks };
}

/** Speaks over the greeting, and returns how much of it was heard after that. */
async function interruptGreeting(t: Test, options: Options) {
  const caller = await withCaller(t, options);
  const greeting = await loadClip('how-can-i-help');
  await until('the greeting begins', () => countReceived(caller.call, greeting) >= 8);
  const before = countReceived(caller.call, greeting);
  void caller.microphone.say(await loadClip('where-is-my-order'));
  await until('the reply', () => caller.updates().length > 0);
  const heardMs = (countReceived(caller.call, greeting) - before) * 20;
  return { ...caller, greeting, heardMs };
}

void t.test('the agent yields within the set time', nightOnly, async (t) => {
  const usual = await interruptGreeting(t, {});
  t.ok(usual.heardMs >= 100 && usual.heardMs <= 500, `200 ms: ${usual.heardMs} ms`);
  const slow = await interruptGreeting(t, { voice: { yieldMs: 800 } });
  t.ok(slow.heardMs >= 600, `800 ms: ${slow.heardMs} ms`);
  t.notOk(hasEnded(usual.call, usual.greeting));
});

void t.test('slow_yield: the agent yields later', nightOnly, async (t) => {
  const { heardMs } = await interruptGreeting(t, { fault: 'slow_yield' });
  t.ok(heardMs >= 600, `${heardMs} ms`);
});

void t.test('never_yields: the agent speaks to the end, and then answers', async (t) => {
  const { call, greeting, updates } = await interruptGreeting(t, { fault: 'never_yields' });
  t.ok(hasEnded(call, greeting));
  t.match(updates(), [{ transcript: { agent: (await loadClip('order-is-shipped')).text } }]);
});

void t.test('a backchannel with a caption does not stop the agent', async (t) => {
  const { call, say, turns, updates } = await withCaller(t);
  const greeting = await loadClip('how-can-i-help');
  await until('the greeting begins', () => countReceived(call, greeting) >= 8);
  await say('Mhm, okay, yeah.');
  await until('the greeting ends', () => hasEnded(call, greeting));
  const numbers = call.received
    .filter(({ payload }) => greeting.packets.some((packet) => packet.equals(payload)))
    .map(({ sequence }) => sequence);
  t.equal((numbers.at(-1) ?? 0) - (numbers[0] ?? 0) + 1, numbers.length, 'without a gap');
  t.same(await turns(), []);
  t.same(updates(), []);
});

void t.test('a short sound without a caption does not end the reply', async (t) => {
  const { call, microphone, turns } = await withCaller(t);
  const greeting = await loadClip('how-can-i-help');
  await until('the greeting begins', () => countReceived(call, greeting) >= 8);
  const clip = await userVoice.speak('Mhm.');
  const packets = clip.packets.slice(0, Math.ceil(clip.speechStartTicks / 960) + 14);
  await microphone.say({ ...clip, packets, speechEndTicks: packets.length * 960 });
  await until('the greeting ends', () => hasEnded(call, greeting));
  t.same(await turns(), [], 'it was not taken for a turn');
});

void t.test('pauses up to the endpoint delay do not end a turn', async (t) => {
  const line = joinClips(
    [await userVoice.speak('I would like to return'), await userVoice.speak('my shoes')],
    500,
  );
  for (const [hangOverMs, turns] of [
    [1_000, 1],
    [300, 2],
  ] as const) {
    const caller = await withCaller(t, { voice: { hangOverMs } });
    await waitForGreeting(caller.call);
    await caller.microphone.say(line);
    await until('the agent replies', async () => (await caller.turns()).length === turns);
    await until('an update', () => caller.updates().length > 0);
    t.equal((await caller.turns()).length, turns, `${hangOverMs} ms`);
  }
});

void t.test('eager_endpoint: the agent answers in the middle of a sentence', async (t) => {
  const clip = await userVoice.speak('Hello, I would like to return my shoes, please.');
  const countTurns = async (options: Options): Promise<number> => {
    const caller = await withCaller(t, { ...options, voice: { captions: false } });
    await waitForGreeting(caller.call);
    await caller.microphone.say(clip);
    await until('an update', () => caller.updates().length > 0);
    return (await caller.turns()).length;
  };
  t.equal(await countTurns({}), 1);
  const turns = await countTurns({ fault: 'eager_endpoint' });
  t.ok(turns > 1, `${turns} turns`);
});

void t.test('talks_over: the agent speaks while the caller does', async (t) => {
  const filler = await loadClip('let-me-look');
  const clip = await loadClip('return-shoes');
  const isTalkedOver = async (options: Options): Promise<boolean> => {
    const caller = await withCaller(t, options);
    await waitForGreeting(caller.call);
    await caller.microphone.say(clip);
    const heard = countReceived(caller.call, filler);
    await until('an update', () => caller.updates().length > 0);
    t.match(caller.updates(), [{ transcript: { agent: (await loadClip('return-is-easy')).text } }]);
    return heard > 10;
  };
  t.equal(await isTalkedOver({}), false);
  t.equal(await isTalkedOver({ fault: 'talks_over' }), true);
});

void t.test('deaf_after_noise: the agent hears nothing after it heard noise', async (t) => {
  const clip = await userVoice.speak('Where is my order?');
  for (const [fault, snrDb, isHeard] of [
    [undefined, undefined, true],
    [undefined, 15, true],
    ['deaf_after_noise', undefined, true],
    ['deaf_after_noise', 15, false],
  ] as const) {
    const { agent } = await withAgent(t);
    const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
    const call = await withCall(t, agent.voiceUrl ?? '', {}, { headers });
    const noise = snrDb === undefined ? undefined : ({ kind: 'street', snr_db: snrDb } as const);
    const impairment = await createLineImpairment({ noise }, 'test');
    const [clock, pacer] = [systemClock, createPacer(systemClock)];
    const microphone = new Microphone({ peer: call.peer, clock, pacer, impairment });
    t.teardown(() => microphone.stop());
    await waitForGreeting(call);
    await microphone.say(clip);
    const hasUpdate = (): boolean =>
      call.messages.some(({ type }) => type === 'conversation_update');
    const from = call.received.length;
    await until(
      'an answer, or two seconds',
      () => hasUpdate() || call.received.length > from + 100,
    );
    t.equal(hasUpdate(), isHeard, `${fault ?? 'no fault'}, ${snrDb ?? 'no'} noise`);
  }
});

void t.test('after an interruption, an update has only what was said', async (t) => {
  const { call, say, updates, nextUpdate } = await withCaller(t, {
    start: { metadata: { captions: true } },
  });
  await waitForGreeting(call);
  await say('When are you open?');
  await nextUpdate(1);
  const full = (updates()[1]?.['transcript'] as { agent: string }).agent;
  await hearMore(call, 40);
  await say('Where is A-1002?');
  await nextUpdate(3);
  const [, , corrected, next] = updates();
  t.same(findViolations('ConversationUpdate', corrected), []);
  const { agent, user } = corrected?.['transcript'] as { agent: string; user: string };
  t.equal(user, 'When are you open?');
  t.ok(full.startsWith(agent) && agent !== '' && agent.length < full.length, agent);
  t.match(corrected, { metadata: { interrupted: true } });
  t.match(next, { transcript: { agent: /^Order A-1002 is processing/ } });
  t.notMatch(next, { metadata: { interrupted: true } });
});

void t.test('forgets_after_barge_in: the agent greets again instead of answering', async (t) => {
  const { call, say, updates, nextUpdate } = await withCaller(t, {
    fault: 'forgets_after_barge_in',
    start: { metadata: { captions: true } },
  });
  await waitForGreeting(call);
  await say('When are you open?');
  await nextUpdate(1);
  await hearMore(call, 40);
  await say('Where is A-1002?');
  await nextUpdate(3);
  t.match(updates()[3], { transcript: { agent: (await loadClip('how-can-i-help')).text } });
});

void t.test('the spoken part of a text ends with a whole word', (t) => {
  const text = 'Your order is on its way.';
  t.equal(cutToSpokenPart(text, 1), text);
  t.equal(cutToSpokenPart(text, 0.5), 'Your order');
  t.equal(cutToSpokenPart(text, 0.1), '');
  t.equal(cutToSpokenPart('', 0.5), '');
  t.end();
});

void t.test('backchannels are words that people say while they listen', (t) => {
  for (const text of ['Mhm', 'uh-huh', 'Yeah, okay.', 'right']) t.ok(isBackchannelText(text), text);
  for (const text of ['', 'Stop!', 'Yes, but I moved.', '?'])
    t.notOk(isBackchannelText(text), text);
  t.end();
});
