/** The reference agent takes turns: it yields, and tolerates pauses, backchannels, and noise. */
import t, { type Test } from 'tap';
import { findViolations } from '../../src/contract/index.ts';
import { createLineImpairment } from '../../src/voice/line-impairment/index.ts';
import { cutToSpokenPart } from '../../reference-agent/voice/spoken-part.ts';
import { isBackchannelText } from '../../reference-agent/voice/backchannel.ts';
import {
  loadClip,
  loadLine,
  loadLineWithPauses,
  waitForGreeting,
  type ConnectedCall,
} from '../support/calls/caller.ts';
import {
  countReceived,
  hasEnded,
  interruptGreeting,
  withTurnTakingCaller,
  type TurnTakingOptions,
} from '../support/calls/turn-taking-caller.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

// The calls take real time, in which the tests mostly wait, so they run in parallel.
t.jobs = 4;

// One agent has the calls of all tests that need no other options: each synthesizer takes CPU time.
const { agent } = await withReferenceAgent(t);

/** Places a call; with options for its voice, to another agent. */
const withCaller = (t: Test, options: TurnTakingOptions = {}) =>
  withTurnTakingCaller(t, options.voice ? options : { agent, ...options });

/** Waits until the caller has received this many more packets. */
async function hearMore({ received }: ConnectedCall, packets: number): Promise<void> {
  const from = received.length;
  await until('more of the reply', () => received.length >= from + packets);
}

void t.test('never_yields: the agent speaks to the end, and then answers', async (t) => {
  const { call, greeting, updates } = await interruptGreeting(t, { agent, fault: 'never_yields' });
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
  // Half as long as an interruption, because packets that arrive late make it longer.
  await microphone.say(await loadLine(220));
  const from = call.received.length;
  const isOver = (): boolean => hasEnded(call, greeting) || call.received.length > from + 200;
  await until('the greeting ends, or four seconds', isOver);
  t.ok(hasEnded(call, greeting), 'the greeting goes on');
  t.same(await turns(), [], 'it was not mistaken for a turn');
});

void t.test('a pause ends a turn if it is longer than the endpoint delay', async (t) => {
  const line = await loadLineWithPauses(120, 500);
  const filler = await loadClip('let-me-look');
  for (const [options, count] of [
    [{ voice: { hangOverMs: 1_000, captions: false } }, 1],
    [{}, 2],
    [{ fault: 'eager_endpoint' }, 3],
  ] as const) {
    const { call, microphone, turns, updates } = await withCaller(t, options);
    await waitForGreeting(call);
    await microphone.say(line);
    await until('the agent has heard all', async () => (await turns()).length >= count);
    await until('an update', () => updates().length > 0);
    t.equal((await turns()).length, count, JSON.stringify(options));
    const overLine = countReceived(call, filler);
    t.ok(overLine <= 10, `the agent does not speak over the line: ${overLine} packets`);
  }
});

void t.test('talks_over: the agent speaks while the caller does', async (t) => {
  const { call, microphone, updates } = await withCaller(t, { fault: 'talks_over' });
  await waitForGreeting(call);
  await microphone.say(await loadLine(1_200, 'return-shoes'));
  const heard = countReceived(call, await loadClip('let-me-look'));
  await until('an update', () => updates().length > 0);
  t.match(updates(), [{ transcript: { agent: (await loadClip('return-is-easy')).text } }]);
  t.ok(heard > 10, `${heard} packets`);
});

void t.test('deaf_after_noise: the agent hears nothing after it heard noise', async (t) => {
  const clip = await loadLine();
  const cases: [fault: string | undefined, snrDb: number | undefined, isHeard: boolean][] = [
    [undefined, 15, true],
    ['deaf_after_noise', 15, false],
    ['deaf_after_noise', undefined, true],
  ];
  for (const [fault, snrDb, isHeard] of cases.slice(0, atNight(3, 2))) {
    const noise = snrDb === undefined ? undefined : ({ kind: 'street', snr_db: snrDb } as const);
    const { call, microphone, updates } = await withCaller(t, {
      ...(fault !== undefined && { fault }),
      impairment: await createLineImpairment({ noise }, 'test'),
    });
    await waitForGreeting(call);
    await microphone.say(clip);
    const hasUpdate = (): boolean => updates().length > 0;
    const from = call.received.length;
    await until(
      'an answer, or two seconds',
      () => hasUpdate() || call.received.length > from + 100,
    );
    t.equal(hasUpdate(), isHeard, `${fault ?? 'no fault'}, ${snrDb ?? 'no'} noise`);
  }
});

void t.test('after an interruption, an update has only what was said', async (t) => {
  const { call, say, turns, updates, nextUpdate } = await withCaller(t, {
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
  t.match(await turns(), [{ interrupted: true, captioned: true }, { captioned: true }]);
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
