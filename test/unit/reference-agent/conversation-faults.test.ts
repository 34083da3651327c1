/** Each fault of a conversation changes one thing of the agent's behavior. */
import t from 'tap';
import {
  applyFaults,
  type ConversationBehavior,
  type ConversationControls,
  type Frame,
} from '../../../reference-agent/voice/conversation-behavior.ts';
import { drawCallFaults } from '../../../reference-agent/voice/call-faults.ts';
import type { HeardTurn } from '../../../reference-agent/voice/turn-listener.ts';
import type { AgentFault } from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import type { Clip } from '../../../src/voice/opus/index.ts';

const heard = { clipId: 'cancel-order' } as HeardTurn;
const clip = (id: string): Clip => ({ id }) as Clip;

/** Creates an agent with faults. `steps` lists what it does. */
function createAgent(...faults: AgentFault[]) {
  const steps: string[] = [];
  const state = { isSpeaking: false, isHearing: true };
  const frames: Frame[] = [];
  const behavior: ConversationBehavior = {
    hangOverMs: 140,
    yieldMs: 200,
    isLoud: () => true,
    onSpeaking: () => void steps.push('caller speaks'),
    onTurn: () => void steps.push('turn'),
    onInterruption: () => void steps.push('interrupted'),
    actOnTime: () => {},
    speakReply: (_reply, fromMs) => void steps.push(`replies at ${fromMs}`),
    frameDueMs: () => 1_000,
    sendFrame: (frame) => void frames.push(frame),
  };
  const controls = {
    output: {
      get isSpeaking(): boolean {
        return state.isSpeaking;
      },
      speak: ({ id }: Clip) => void steps.push(`speaks ${id}`),
    },
    repertoire: { greeting: clip('greeting'), filler: clip('filler') },
    isHearing: () => state.isHearing,
    answer: () => void steps.push('answers'),
    reply: (_turn: HeardTurn, { id }: Clip) => void steps.push(`replies ${id}`),
    endInterruptedReply: () => void steps.push('ends its reply'),
    forget: () => void steps.push('forgets'),
  } as unknown as ConversationControls;
  const { conversation } = drawCallFaults(faults, seededRandom('test'));
  return { ...applyFaults(behavior, conversation, controls), steps, state, frames };
}

void t.test('jitter delays a frame, and late_reply a reply', (t) => {
  const { frameDueMs, speakReply, steps } = createAgent(
    { kind: 'jitter', latency: { min_ms: 30, max_ms: 30 } },
    { kind: 'late_reply', latency: { min_ms: 500, max_ms: 500 } },
  );
  t.equal(frameDueMs(), 1_030);
  speakReply(clip('reply'), 2_000);
  t.same(steps, ['replies at 2500']);
  t.end();
});

void t.test('buffered_audio sends silence first, and each frame later', (t) => {
  const { sendFrame, frames } = createAgent({
    kind: 'buffered_audio',
    latency: { min_ms: 40, max_ms: 40 },
  });
  const sent = [1, 2, 3].map((byte): Frame => ({ payload: Buffer.of(byte) }));
  for (const frame of sent) sendFrame(frame, 0);
  t.equal(frames.length, 3);
  t.equal(frames[2], sent[0], 'two frames of 20 ms are buffered');
  t.end();
});

void t.test('slow_yield and eager_endpoint have default times', (t) => {
  const { yieldMs, hangOverMs } = createAgent({ kind: 'slow_yield' }, { kind: 'eager_endpoint' });
  t.same([yieldMs, hangOverMs], [800, 50]);
  t.end();
});

void t.test('talks_over speaks while the caller does, and then answers', (t) => {
  const { onSpeaking, actOnTime, onTurn, steps } = createAgent({ kind: 'talks_over' });
  onSpeaking(1_000);
  actOnTime(1_599);
  t.same(steps, ['caller speaks']);
  actOnTime(1_600);
  actOnTime(1_620);
  onTurn(heard);
  t.same(steps, ['caller speaks', 'speaks filler', 'answers']);
  onTurn(heard);
  t.equal(steps.at(-1), 'turn', 'the next turn is an ordinary one');
  t.end();
});

void t.test('talks_over says nothing once the caller has stopped', (t) => {
  const { onSpeaking, actOnTime, onTurn, steps } = createAgent({ kind: 'talks_over' });
  onSpeaking(1_000);
  onTurn(heard);
  actOnTime(1_600);
  t.same(steps, ['caller speaks', 'turn']);
  t.end();
});

void t.test('deaf_after_noise hears until it has heard noise', (t) => {
  const { isLoud } = createAgent({ kind: 'deaf_after_noise' });
  t.ok(isLoud(-90));
  for (let window = 0; window < 200; window += 1) isLoud(-40);
  t.notOk(isLoud(-10));
  t.end();
});

void t.test('forgets_after_barge_in greets again instead of answering', (t) => {
  const { onInterruption, steps } = createAgent({ kind: 'forgets_after_barge_in' });
  onInterruption(heard);
  t.same(steps, ['ends its reply', 'forgets', 'replies greeting']);
  t.end();
});

void t.test('never_yields answers after its reply, whatever other faults there are', (t) => {
  const { yieldMs, onInterruption, actOnTime, steps, state } = createAgent(
    { kind: 'never_yields' },
    { kind: 'slow_yield' },
    { kind: 'forgets_after_barge_in' },
  );
  t.equal(yieldMs, Infinity);
  state.isSpeaking = true;
  onInterruption(heard);
  actOnTime(1_000);
  t.same(steps, []);
  state.isSpeaking = false;
  actOnTime(1_020);
  actOnTime(1_040);
  t.same(steps, ['answers']);
  t.end();
});
