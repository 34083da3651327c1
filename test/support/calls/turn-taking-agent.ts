import { systemClock } from '../../../src/platform/clock.ts';
import { readClips, silentFrame, type Clip } from '../../../src/voice/opus/index.ts';
import { joinClips, trimStart } from '../../../src/voice/speech/index.ts';
import type { DoubleCall } from './voice-double.ts';

/** How an agent takes turns, in milliseconds. */
export interface TurnTakingHabits {
  /** The silence of the caller after which the agent answers. */
  endpointMs: number;
  /** How long the agent speaks on after the caller has interrupted it; undefined: until it is done. */
  yieldMs?: number;
  /** How long after the caller's first sound the agent speaks over it. */
  talksOverAfterMs?: number;
}

const POLL_MS = 5;
/** How long an agent speaks over the caller. */
export const TALK_OVER_MS = 400;
/** Only the first answer is long, so that it can be interrupted. */
export const LATER_ANSWER_MS = 2_000;

/** Handles a call of an agent with simple habits that does not use the code under test. */
export function takeTurns(habits: TurnTakingHabits): (call: DoubleCall) => Promise<void> {
  return async (call) => {
    const longAnswer = await loadLongClip();
    const shortened = (ms: number): Clip => ({
      ...longAnswer,
      packets: longAnswer.packets.slice(0, ms / 20),
    });
    await call.connect();
    const { endpointMs, yieldMs = Infinity, talksOverAfterMs = Infinity } = habits;
    let answer = longAnswer;
    let answeringSinceMs = -Infinity;
    let lineSinceMs: number | undefined;
    let hasTalkedOver = false;
    let hasAnswered = false;
    let isAnswered = true;
    for (;;) {
      await systemClock.sleep(POLL_MS);
      if (call.socket.readyState !== call.socket.OPEN) return;
      const nowMs = systemClock.monotonicMs();
      const heardMs = call.heardAtMs();
      const isAnswering = nowMs - answeringSinceMs < answer.packets.length * 20;
      if (nowMs - heardMs < 100) {
        lineSinceMs ??= heardMs;
        isAnswered = false;
      }
      if (lineSinceMs === undefined) continue;
      if (isAnswering && nowMs - lineSinceMs >= yieldMs && lineSinceMs > answeringSinceMs) {
        call.play(silence);
        answeringSinceMs = -Infinity;
      } else if (!hasTalkedOver && nowMs - lineSinceMs >= talksOverAfterMs) {
        hasTalkedOver = true;
        call.play(shortened(TALK_OVER_MS));
      }
      if (nowMs - heardMs < endpointMs || isAnswered || isAnswering) continue;
      isAnswered = true;
      hasTalkedOver = false;
      lineSinceMs = undefined;
      if (hasAnswered) answer = shortened(LATER_ANSWER_MS);
      hasAnswered = true;
      call.play(answer);
      answeringSinceMs = nowMs;
      call.update('I can help you with that.');
    }
  };
}

const silence: Clip = {
  id: 'silence',
  speaker: 'agent',
  text: '',
  packets: [silentFrame],
  speechStartTicks: 0,
  speechEndTicks: 1,
};

/** Returns about 10 s of speech without a longer pause, which starts with its first frame. */
export async function loadLongClip(): Promise<Clip> {
  const clips = (await readClips()).filter(({ speaker }) => speaker === 'agent');
  const spoken: Clip[] = [];
  for (let packets = 0; packets < 500;) {
    const clip = clips[spoken.length % clips.length];
    if (!clip) throw new Error('The kit has no agent clips.');
    spoken.push(clip);
    packets += clip.packets.length;
  }
  return trimStart(joinClips(spoken.map((clip) => ({ clip, pauseMs: 40 }))).clip);
}
