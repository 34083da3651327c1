/** Captions, an extension of the kit: the caller sends its speech as text too. */
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations, type ChatMessage, type ChatResponse } from '../../src/contract/index.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import { createSpeechSynthesizer } from '../../src/voice/speech/index.ts';
import {
  fetchCalls,
  loadClip,
  loadLine,
  loadLineWithPauses,
  waitForGreeting,
  startMicrophone,
  openSignaling,
  withCall,
  type CallView,
  type ConnectedCall,
  type Message,
} from '../support/calls/caller.ts';
import type { Send } from '../support/network/send.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const agentVoice = createSpeechSynthesizer({ speaker: 'agent' });
t.teardown(() => agentVoice.close());

// The calls take real time, in which the tests mostly wait, so they run in parallel.
t.jobs = 4;

// One agent has the calls of all tests that need no other options: each synthesizer takes CPU time.
const scripted = { regex: '^scripted' };
const script: AgentOptions['script'] = {
  rules: [
    {
      when: { ...scripted, turn: 1 },
      reply: {
        content: 'Let me see.',
        tool_calls: [{ name: 'see', arguments: { far: true }, result: {} }],
        evaluation_metadata: { tone: 5, next_action: 'wait', ours: 'x' },
        delay_ms: 300,
      },
    },
    {
      when: { ...scripted, turn: 2 },
      reply: { content: '👀', tool_calls: [], evaluation_metadata: {}, delay_ms: 0 },
    },
  ],
};
const { agent, send } = await withReferenceAgent(t, { script });

/** Returns the agent's records of the calls that a test placed. */
const fetchOwnCalls = async ({ call }: Caller): Promise<CallView[]> =>
  (await fetchCalls(agent.url)).filter(({ call_id }) => call_id === call.callId);

/** A caller that sends captions. */
interface Caller {
  call: ConnectedCall;
  microphone: ReturnType<typeof startMicrophone>;
  /** Sends a caption, and says a line (default: a short one). */
  say: (text: string, line?: Clip) => Promise<number>;
  updates: () => Message[];
  /** Returns the update of a turn; waits until it arrives. */
  nextUpdate: (nth: number) => Promise<Message>;
}

async function withCaller(t: Test, url: string | null, start: Message = {}): Promise<Caller> {
  const call = await withCall(t, url ?? '', start);
  const microphone = startMicrophone(t, call.peer);
  const updates = (): Message[] =>
    call.messages.filter(({ type }) => type === 'conversation_update');
  return {
    call,
    microphone,
    async say(text, line) {
      call.send({ type: 'caption', call_id: call.callId, text });
      return microphone.say(line ?? (await loadLine()));
    },
    updates,
    async nextUpdate(nth) {
      await until(`update ${nth}`, () => updates().length > nth);
      return updates()[nth] ?? {};
    },
  };
}

/** Waits until the caller has received the end of a clip, and asserts that it received all of it. */
async function assertReceivesClip(t: Test, { call }: Caller, clip: Clip): Promise<void> {
  const expected = clip.packets.slice(0, Math.ceil(clip.speechEndTicks / 960));
  const lastPacket = expected.at(-1) ?? Buffer.alloc(0);
  const findEnd = () => call.received.findIndex(({ payload }) => payload.equals(lastPacket)) + 1;
  await until(`the end of "${clip.text}" has arrived`, () => findEnd() > 0);
  const received = call.received.slice(findEnd() - expected.length, findEnd());
  const payloads = received.map(({ payload }) => payload);
  t.ok(Buffer.concat(payloads).equals(Buffer.concat(expected)), clip.text);
}

interface ChatFields {
  session_id: string;
  user_id: string;
  metadata: Record<string, unknown>;
}

/** Sends the same lines as a chat; returns the response of each turn. */
async function sendAsChat(
  send: Send,
  lines: readonly string[],
  fields: ChatFields,
): Promise<ChatResponse[]> {
  const messages: ChatMessage[] = [];
  const responses: ChatResponse[] = [];
  for (const content of lines) {
    messages.push({ role: 'user', content });
    const { json } = await send('POST /v1/chat/completions', { body: { messages, ...fields } });
    const response = json as ChatResponse;
    messages.push(response.choices[0].message);
    responses.push(response);
  }
  return responses;
}

void t.test('a captioned call gives the same replies by voice as by chat', async (t) => {
  const user_id = 'sim_user_1';
  await send('POST /users', { body: { user_id, profile: { name: 'Ada' } } });
  const fields = { session_id: 'session-1', user_id, metadata: { time_of_day: 'evening' } };
  const caller = await withCaller(t, agent.voiceUrl, fields);
  t.match(caller.call.ready, { metadata: { captions: true } });
  t.same(findViolations('CallReady', caller.call.ready), []);
  await waitForGreeting(caller.call);
  t.equal(caller.updates().length, 0, 'no update for the greeting without metadata.captions');

  const lines = ['Hello, a refund please!', 'It is A-1001.'];
  const chatResponses = await sendAsChat(send, lines, fields);
  for (const [nth, line] of lines.entries()) {
    await caller.say(line);
    const update = await caller.nextUpdate(nth);
    t.same(findViolations('ConversationUpdate', update), []);
    const { message } = chatResponses[nth]?.choices[0] ?? {};
    const { evaluation_metadata: hints, metadata } = chatResponses[nth] ?? {};
    t.match(update, {
      session_id: 'session-1',
      transcript: { user: line, agent: message?.content },
      metadata: { audio_quality: 'good', confidence_score: metadata?.agent_confidence },
      evaluation_metadata: { ...hints, next_action: 'listen' },
    });
    t.strictSame(update['tool_calls'], message?.tool_calls);
    const { response_time_ms: statedMs } = update['metadata'] as { response_time_ms: number };
    const recordedMs = (await fetchOwnCalls(caller))[0]?.turns[nth]?.response_ms ?? NaN;
    t.ok(Math.abs(recordedMs - statedMs) <= 1, `stated ${statedMs} ms, measured ${recordedMs} ms`);
    // An earlier line would interrupt the first reply.
    if (nth === 0) {
      await assertReceivesClip(t, caller, await agentVoice.speak(message?.content ?? ''));
    }
  }
  t.match(chatResponses[0]?.choices[0].message.content, /^Good evening Ada/);
  t.match(await fetchOwnCalls(caller), [
    {
      captions: 2,
      turns: lines.map(() => ({
        captioned: true,
        heard_clip: 'where-is-my-order',
        reply_clip: /^line-/,
      })),
    },
  ]);
});

void t.test('a caller that announces captions gets an update for the greeting', async (t) => {
  const caller = await withCaller(t, agent.voiceUrl, { metadata: { captions: true } });
  const greeting = await caller.nextUpdate(0);
  t.same(findViolations('ConversationUpdate', greeting), []);
  t.match(greeting, { transcript: { user: '', agent: 'Hello how can I help you today' } });
  await assertReceivesClip(t, caller, await loadClip('how-can-i-help'));

  void caller.microphone.say(await loadLine(600, 'thank-you'));
  t.match(await caller.nextUpdate(1), { transcript: { agent: (await loadClip('goodbye')).text } });
  await assertReceivesClip(t, caller, await loadClip('goodbye'));
  await caller.say('Are you open on Saturdays?');
  t.match(await caller.nextUpdate(2), {
    transcript: { user: 'Are you open on Saturdays?', agent: /^We are open from/ },
    tool_calls: [{ function: { name: 'opening_hours' } }],
  });
});

void t.test('a caption whose speech has a pause gets one reply and one update', async (t) => {
  const caller = await withCaller(t, agent.voiceUrl);
  await waitForGreeting(caller.call);
  // The pause is longer than the silence that ends a turn.
  await caller.say('Thank you', await loadLineWithPauses(200));
  const fetchTurns = async () => (await fetchOwnCalls(caller))[0]?.turns ?? [];
  await until('the rest ends another turn', async () => (await fetchTurns()).length === 2);
  const reply = await agentVoice.speak('You are welcome.');
  await assertReceivesClip(t, caller, reply);
  const replies = (await fetchTurns()).map(({ reply_clip }) => reply_clip);
  t.equal(replies[1], reply.id, 'the reply starts again');
  t.match(caller.updates(), [{ transcript: { user: 'Thank you', agent: 'You are welcome.' } }]);
  t.equal(caller.updates().length, 1);
});

void t.test('an agent without captions ignores them', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: { captions: false } });
  const caller = await withCaller(t, agent.voiceUrl, { metadata: { captions: true } });
  t.notOk('captions' in (caller.call.ready['metadata'] as object));
  await waitForGreeting(caller.call);
  caller.call.send({ type: 'caption', text: 5 });
  void caller.microphone.say(await loadLine(600, 'thank-you'));
  t.match(await caller.nextUpdate(0), { transcript: { agent: (await loadClip('goodbye')).text } });
  t.match(await fetchCalls(agent.url), [{ unknown_messages: 1, captions: 0 }]);
});

void t.test('the agent handles empty, very long, and very many captions', async (t) => {
  const caller = await withCaller(t, agent.voiceUrl);
  const { call, microphone, nextUpdate } = caller;
  await waitForGreeting(call);
  const send = (text: string): void => call.send({ type: 'caption', call_id: call.callId, text });
  send('');
  send('  \n');
  void microphone.say(await loadLine(600, 'thank-you'));
  t.match(await nextUpdate(0), { transcript: { user: (await loadClip('thank-you')).text } });
  await assertReceivesClip(t, caller, await loadClip('goodbye'));
  send('x'.repeat(60_000));
  for (let nth = 0; nth < 500; nth += 1) send('and more');
  void microphone.say(await loadLine(600, 'thank-you'));
  t.match(await nextUpdate(1), {
    transcript: { user: 'x'.repeat(2_000), agent: /^I am not sure/ },
    evaluation_metadata: { understood_intent: false },
  });
});

void t.test('an invalid caption, or a caption for another call, ends the call', async (t) => {
  const url = agent.voiceUrl ?? '';
  const invalidCaptions: [Message, RegExp][] = [
    [{ text: 'Hello', call_id: 'another' }, /call_id must be/],
    [{ text: 'Hello' }, /call_id/],
    [{ text: 5, call_id: 'mine' }, /text/],
  ];
  for (const [caption, details] of invalidCaptions) {
    const signaling = await openSignaling(url);
    signaling.send({ type: 'start_call' });
    const ready = await signaling.next('call_ready');
    const call_id = caption['call_id'] === 'mine' ? ready['call_id'] : caption['call_id'];
    signaling.send({ ...caption, type: 'caption', call_id });
    t.match(await signaling.next('error'), { error: { code: 'connection_failed', details } });
    t.equal(await signaling.closed, 1007);
  }
  const echo = await withCall(t, url, { metadata: { context: 'echo', captions: true } });
  t.notOk('captions' in (echo.ready['metadata'] as object), 'an echo call has no captions');
  echo.send({ type: 'caption', call_id: echo.callId, text: 'Hello' });
  const { packets } = await loadClip('thank-you');
  packets.forEach((packet, nth) => echo.peer.send(packet, nth * 960));
  await until('the agent has returned all packets', () => echo.received.length === packets.length);
});

void t.test('scripted replies are spoken; a clip replaces text without words', async (t) => {
  const caller = await withCaller(t, agent.voiceUrl);
  await waitForGreeting(caller.call);
  await caller.say('Scripted hello');
  const first = await caller.nextUpdate(0);
  t.same(findViolations('ConversationUpdate', first), []);
  t.match(first, {
    transcript: { user: 'Scripted hello', agent: 'Let me see.' },
    tool_calls: [{ function: { name: 'see', arguments: '{"far":true}' } }],
    evaluation_metadata: { tone: 'friendly', next_action: 'wait', ours: 'x' },
  });
  const { response_time_ms: statedMs } = first['metadata'] as { response_time_ms: number };
  // Packets that arrive in a burst shorten the silence that ends a turn, but never the delay.
  t.ok(statedMs >= 300, `the response time includes the scripted delay: ${statedMs} ms`);
  await assertReceivesClip(t, caller, await agentVoice.speak('Let me see.'));
  await caller.say('Scripted. And?');
  const second = await caller.nextUpdate(1);
  const { agent: replyText } = second['transcript'] as { agent: string };
  t.notMatch(replyText, '👀');
  t.match(
    (await fetchOwnCalls(caller))[0]?.turns[1]?.reply_clip,
    /^(?!line)/,
    'the turn names the spoken clip',
  );
});
