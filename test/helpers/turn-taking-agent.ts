import { systemClock } from '../../src/platform/clock.ts';
import { readClips, silentFrame, type Clip } from '../../src/voice/opus/index.ts';
import { joinClips, trimStart } from '../../src/voice/speech/index.ts';
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
const TALK_OVER_MS = 400;

/** Handles a call of an agent with simple habits that does not use the code under test. */
export function takeTurns(habits: TurnTakingHabits): (call: DoubleCall) => Promise<void> {
  return async (call) => {
    const answer = await loadLongClip();
    await call.connect();
    const { endpointMs, yieldMs = Infinity, talksOverAfterMs = Infinity } = habits;
    const answerMs = answer.packets.length * 20;
    let answeringSinceMs = -Infinity;
    let lineSinceMs: number | undefined;
    let hasTalkedOver = false;
    let isAnswered = true;
    for (;;) {
      await systemClock.sleep(POLL_MS);
      if (call.socket.readyState !== call.socket.OPEN) return;
      const nowMs = systemClock.monotonicMs();
      const heardMs = call.heardAtMs();
      const isAnswering = nowMs - answeringSinceMs < answerMs;
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
        call.play({ ...answer, packets: answer.packets.slice(0, TALK_OVER_MS / 20) });
      }
      if (nowMs - heardMs < endpointMs || isAnswered || isAnswering) continue;
      isAnswered = true;
      hasTalkedOver = false;
      lineSinceMs = undefined;
      call.play(answer);
      answeringSinceMs = nowMs;
      call.update('I can help you with that.');
    }
  };
}

const silence: Clip = {
  ...{ id: 'silence', speaker: 'agent', text: '', packets: [silentFrame] },
  ...{ speechStartTicks: 0, speechEndTicks: 1 },
};

/** Returns about 10 s of speech without a longer pause, which starts with its first frame. */
async function loadLongClip(): Promise<Clip> {
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
