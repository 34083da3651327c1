/** Captions, an extension of the kit: the caller sends the text of what it speaks. */
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations, type ChatMessage, type ChatResponse } from '../../src/contract/index.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import { createSpeechSynthesizer } from '../../src/voice/speech/index.ts';
import { withAgent, type Send } from '../helpers/agent.ts';
import {
  callsOf,
  clipOf,
  greeted,
  Microphone,
  openLine,
  withCall,
  type CallUp,
  type Message,
} from '../helpers/caller.ts';
import { until } from '../helpers/until.ts';

const user = createSpeechSynthesizer({ kind: 'user' });
const agentVoice = createSpeechSynthesizer({ kind: 'agent' });
t.teardown(() => Promise.all([user.close(), agentVoice.close()]));

// The calls run in real time: about 40 s.
t.setTimeout(120_000);

/** A caller that sends captions. */
interface Caller {
  call: CallUp;
  microphone: Microphone;
  /** Sends the caption, and says the line; resolves when it is said. */
  say: (text: string) => Promise<number>;
  updates: () => Message[];
  /** The update of a turn, once it is there. */
  update: (nth: number) => Promise<Message>;
}

async function withCaller(t: Test, url: string | null, start: Message = {}): Promise<Caller> {
  const call = await withCall(t, url ?? '', start);
  const microphone = new Microphone(call.peer);
  t.teardown(() => microphone.stop());
  const updates = (): Message[] =>
    call.messages.filter(({ type }) => type === 'conversation_update');
  return {
    call,
    microphone,
    async say(text) {
      const clip = await user.speak(text);
      call.send({ type: 'caption', call_id: call.callId, text });
      return microphone.say(clip);
    },
    updates,
    async update(nth) {
      await until(`update ${nth}`, () => updates().length > nth);
      return updates()[nth] ?? {};
    },
  };
}

/** Waits until a clip has been heard to its end, and looks whether all of it was. */
async function heardWhole(t: Test, { call }: Caller, clip: Clip): Promise<void> {
  const nth = Math.ceil(clip.speechEndTicks / 960) - 1;
  const last = clip.packets[nth] ?? Buffer.alloc(0);
  const place = (): number => call.heard.findIndex(({ payload }) => payload.equals(last));
  await until(`"${clip.text}" is heard`, () => place() >= 0);
  const heard = call.heard.slice(place() - nth, place() + 1).map(({ payload }) => payload);
  t.ok(Buffer.concat(heard).equals(Buffer.concat(clip.packets.slice(0, nth + 1))), clip.text);
}

interface Asked {
  session_id: string;
  user_id: string;
  metadata: Record<string, unknown>;
}

/** What chat answers to the same words, turn by turn. */
async function inChat(send: Send, lines: readonly string[], asked: Asked): Promise<ChatResponse[]> {
  const messages: ChatMessage[] = [];
  const answers: ChatResponse[] = [];
  for (const content of lines) {
    messages.push({ role: 'user', content });
    const { json } = await send('POST /v1/chat/completions', { body: { messages, ...asked } });
    const answer = json as ChatResponse;
    messages.push(answer.choices[0].message);
    answers.push(answer);
  }
  return answers;
}

void t.test('a captioned call gives the same replies by voice as by chat', async (t) => {
  const { agent, send } = await withAgent(t);
  const user_id = 'sim_user_1';
  await send('POST /users', { body: { user_id, profile: { name: 'Ada' } } });
  const asked = { session_id: 'session-1', user_id, metadata: { time_of_day: 'evening' } };
  const caller = await withCaller(t, agent.voiceUrl, asked);
  t.match(caller.call.ready, { metadata: { captions: true } });
  t.same(findViolations('CallReady', caller.call.ready), []);
  await greeted(caller.call);
  t.equal(caller.updates().length, 0, 'no update for the greeting without metadata.captions');

  const lines = ['Hello, a refund please!', 'It is A-1001.'];
  const chat = await inChat(send, lines, asked);
  for (const [nth, line] of lines.entries()) {
    await caller.say(line);
    const update = await caller.update(nth);
    t.same(findViolations('ConversationUpdate', update), []);
    const { message } = chat[nth]?.choices[0] ?? {};
    const { evaluation_metadata: hints, metadata } = chat[nth] ?? {};
    t.match(update, {
      session_id: 'session-1',
      transcript: { user: line, agent: message?.content },
      metadata: { audio_quality: 'good', confidence_score: metadata?.agent_confidence },
      evaluation_metadata: { ...hints, next_action: 'listen' },
    });
    t.strictSame(update['tool_calls'], message?.tool_calls);
    const { response_time_ms: stated } = update['metadata'] as { response_time_ms: number };
    t.ok(stated >= 140, `measured: ${stated} ms`);
    await heardWhole(t, caller, await agentVoice.speak(message?.content ?? ''));
  }
  t.match(chat[0]?.choices[0].message.content, /^Good evening Ada/);
  t.match(await callsOf(agent.url), [
    {
      captions: 2,
      turns: lines.map(() => ({ captioned: true, heard_clip: null, reply_clip: /^line-/ })),
    },
  ]);
});

void t.test('a caller that announces captions gets an update for the greeting', async (t) => {
  const { agent } = await withAgent(t);
  const caller = await withCaller(t, agent.voiceUrl, { metadata: { captions: true } });
  const greeting = await caller.update(0);
  t.same(findViolations('ConversationUpdate', greeting), []);
  t.match(greeting, { transcript: { user: '', agent: 'Hello how can I help you today' } });
  await heardWhole(t, caller, await clipOf('how-can-i-help'));

  void caller.microphone.say(await clipOf('where-is-my-order'));
  t.match(await caller.update(1), {
    transcript: { agent: (await clipOf('order-is-shipped')).text },
  });
  await heardWhole(t, caller, await clipOf('order-is-shipped'));
  await caller.say('Are you open on Saturdays?');
  t.match(await caller.update(2), {
    transcript: { user: 'Are you open on Saturdays?', agent: /^We are open from/ },
    tool_calls: [{ function: { name: 'opening_hours' } }],
  });
});

void t.test('an interrupted agent replies to the new caption', async (t) => {
  const { agent } = await withAgent(t);
  const caller = await withCaller(t, agent.voiceUrl);
  await greeted(caller.call);
  await caller.say('When are you open?');
  await caller.update(0);
  await caller.say('Where is A-1002?');
  t.match(await caller.update(1), { transcript: { agent: /^Order A-1002 is processing/ } });
  t.match(await callsOf(agent.url), [
    { turns: [{ interrupted: true, captioned: true }, { captioned: true }] },
  ]);
});

void t.test('a line with a pause gets one reply at its end, and one update', async (t) => {
  const { agent } = await withAgent(t);
  const caller = await withCaller(t, agent.voiceUrl);
  await greeted(caller.call);
  const rest = await user.speak('very much');
  await caller.say('Thank you');
  const turns = async () => (await callsOf(agent.url))[0]?.turns ?? [];
  await until('the turn is taken for over', async () => (await turns()).length === 1);
  void caller.microphone.say(rest);
  await until('and the rest as well', async () => (await turns()).length === 2);
  const reply = await agentVoice.speak('You are welcome.');
  await heardWhole(t, caller, reply);
  const replies = (await turns()).map(({ reply_clip }) => reply_clip);
  t.equal(replies[1], reply.id, 'the reply starts again');
  t.match(caller.updates(), [{ transcript: { user: 'Thank you', agent: 'You are welcome.' } }]);
  t.equal(caller.updates().length, 1);
});

void t.test('an agent without captions ignores them', async (t) => {
  const { agent } = await withAgent(t, { voice: { captions: false } });
  const caller = await withCaller(t, agent.voiceUrl, { metadata: { captions: true } });
  t.notOk('captions' in (caller.call.ready['metadata'] as object));
  await greeted(caller.call);
  caller.call.send({ type: 'caption', text: 5 });
  void caller.microphone.say(await clipOf('thank-you'));
  t.match(await caller.update(0), { transcript: { agent: (await clipOf('goodbye')).text } });
  t.match(await callsOf(agent.url), [{ unknown_messages: 1, captions: 0 }]);
});

void t.test('empty, very long, and very many captions are harmless', async (t) => {
  const { agent } = await withAgent(t);
  const caller = await withCaller(t, agent.voiceUrl);
  const { call, microphone, update } = caller;
  await greeted(call);
  const send = (text: string): void => call.send({ type: 'caption', call_id: call.callId, text });
  send('');
  send('  \n');
  void microphone.say(await clipOf('thank-you'));
  t.match(await update(0), { transcript: { user: (await clipOf('thank-you')).text } });
  await heardWhole(t, caller, await clipOf('goodbye'));
  send('x'.repeat(60_000));
  for (let nth = 0; nth < 500; nth += 1) send('and more');
  void microphone.say(await clipOf('thank-you'));
  t.match(await update(1), {
    transcript: { user: 'x'.repeat(2_000), agent: /^I am not sure/ },
    evaluation_metadata: { understood_intent: false },
  });
});

void t.test('an invalid caption, or one of another call, ends the call', async (t) => {
  const { agent } = await withAgent(t);
  const url = agent.voiceUrl ?? '';
  const wrong: [Message, RegExp][] = [
    [{ text: 'Hello', call_id: 'another' }, /call_id must be/],
    [{ text: 'Hello' }, /call_id/],
    [{ text: 5, call_id: 'mine' }, /text/],
  ];
  for (const [caption, says] of wrong) {
    const line = await openLine(url);
    line.send({ type: 'start_call' });
    const ready = await line.next('call_ready');
    const call_id = caption['call_id'] === 'mine' ? ready['call_id'] : caption['call_id'];
    line.send({ ...caption, type: 'caption', call_id });
    t.match(await line.next('error'), { error: { code: 'connection_failed', details: says } });
    t.equal(await line.closed, 1007);
  }
  const echo = await withCall(t, url, { metadata: { context: 'echo', captions: true } });
  t.notOk('captions' in (echo.ready['metadata'] as object), 'an echo call has no captions');
  echo.send({ type: 'caption', call_id: echo.callId, text: 'Hello' });
  const { packets } = await clipOf('thank-you');
  packets.forEach((packet, nth) => echo.peer.send(packet, nth * 960));
  await until('all are back', () => echo.heard.length === packets.length);
});

void t.test('a script speaks too; a clip replaces text that cannot be spoken', async (t) => {
  const script: AgentOptions['script'] = {
    rules: [
      {
        when: { turn: 1 },
        reply: {
          content: 'Let me see.',
          tool_calls: [{ name: 'see', arguments: { far: true }, result: {} }],
          evaluation_metadata: { tone: 5, next_action: 'wait', ours: 'x' },
          delay_ms: 300,
        },
      },
      {
        when: { turn: 2 },
        reply: { content: '👀', tool_calls: [], evaluation_metadata: {}, delay_ms: 0 },
      },
    ],
  };
  const { agent } = await withAgent(t, { script });
  const caller = await withCaller(t, agent.voiceUrl);
  await greeted(caller.call);
  await caller.say('Hello');
  const first = await caller.update(0);
  t.same(findViolations('ConversationUpdate', first), []);
  t.match(first, {
    transcript: { user: 'Hello', agent: 'Let me see.' },
    tool_calls: [{ function: { name: 'see', arguments: '{"far":true}' } }],
    evaluation_metadata: { tone: 'friendly', next_action: 'wait', ours: 'x' },
  });
  const { response_time_ms: stated } = first['metadata'] as { response_time_ms: number };
  t.ok(stated >= 440, `the delay of the script is waited for: ${stated} ms`);
  await heardWhole(t, caller, await agentVoice.speak('Let me see.'));
  await caller.say('And?');
  const second = await caller.update(1);
  const { agent: says } = second['transcript'] as { agent: string };
  t.notMatch(says, '👀');
  t.match(
    (await callsOf(agent.url))[0]?.turns[1]?.reply_clip,
    /^(?!line)/,
    'the clip that was spoken',
  );
});
