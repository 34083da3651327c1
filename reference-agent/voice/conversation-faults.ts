import type { AgentFault } from '../../src/contract/index.ts';
import { FRAME_MS, silentFrame } from '../../src/voice/opus/index.ts';
import type { ConversationFault, Frame } from './conversation-behavior.ts';
import { NoiseFloor } from './noise-floor.ts';
import type { HeardTurn } from './turn-listener.ts';

/** The time of a fault. */
export interface FaultTime {
  /** Drawn once for the call, in milliseconds; 0 if the fault has no such time. */
  ms: number;
  /** Draws another time within the bounds of the fault, in milliseconds. */
  drawMs: () => number;
}

/** Creates a fault for one call. */
export type CreateConversationFault = (time: FaultTime) => ConversationFault;

/** The faults of a conversation. Each wraps those above it. */
export const conversationFaults = {
  jitter:
    ({ drawMs }) =>
    (behavior) => ({ frameDueMs: () => behavior.frameDueMs() + drawMs() }),

  late_reply:
    ({ drawMs }) =>
    (behavior) => ({
      speakReply: (reply, fromMs) => behavior.speakReply(reply, fromMs + drawMs()),
    }),

  /** The agent does not know of the buffer, so it reports replies before they are audible. */
  buffered_audio:
    ({ ms }) =>
    (behavior) => {
      const buffer = Array.from({ length: countBufferedFrames(ms) }, (): Frame => ({
        payload: silentFrame,
      }));
      return {
        sendFrame(frame, atMs) {
          buffer.push(frame);
          const due = buffer.shift();
          if (due) behavior.sendFrame(due, atMs);
        },
      };
    },

  slow_yield:
    ({ ms }) =>
    () => ({ yieldMs: ms }),

  eager_endpoint:
    ({ ms }) =>
    () => ({ hangOverMs: ms }),

  talks_over:
    ({ ms }) =>
    (behavior, agent) => {
      let talkOverAtMs = Infinity;
      let isTalkingOver = false;
      return {
        onSpeaking(startMs) {
          if (!agent.output.isSpeaking) talkOverAtMs = startMs + ms;
          behavior.onSpeaking(startMs);
        },
        actOnTime(nowMs) {
          behavior.actOnTime(nowMs);
          if (nowMs < talkOverAtMs) return;
          talkOverAtMs = Infinity;
          isTalkingOver = agent.isHearing();
          if (isTalkingOver) agent.output.speak(agent.repertoire.filler, nowMs);
        },
        onTurn(heard) {
          talkOverAtMs = Infinity;
          // The caller has not interrupted a reply: the agent has interrupted the caller.
          if (isTalkingOver) agent.answer(heard);
          else behavior.onTurn(heard);
          isTalkingOver = false;
        },
      };
    },

  deaf_after_noise: () => (behavior) => {
    const noise = new NoiseFloor();
    let isDeaf = false;
    return {
      isLoud(levelDb) {
        noise.add(levelDb);
        isDeaf ||= noise.isNoisy;
        return behavior.isLoud(levelDb) && !isDeaf;
      },
    };
  },

  /** Greets the caller again, as if the call had just begun. */
  forgets_after_barge_in: () => (_behavior, agent) => ({
    onInterruption(heard) {
      agent.endInterruptedReply();
      agent.forget();
      agent.reply(heard, agent.repertoire.greeting);
    },
  }),

  /** Speaks to the end, and answers after that. */
  never_yields: () => (behavior, agent) => {
    let unanswered: HeardTurn | undefined;
    return {
      yieldMs: Infinity,
      onInterruption(heard) {
        unanswered = heard;
      },
      actOnTime(nowMs) {
        behavior.actOnTime(nowMs);
        if (!unanswered || agent.output.isSpeaking) return;
        const heard = unanswered;
        unanswered = undefined;
        agent.answer(heard);
      },
    };
  },
} satisfies Partial<Record<AgentFault['kind'], CreateConversationFault>>;

/** Returns how many frames are buffered for a delay in milliseconds. */
export const countBufferedFrames = (ms: number): number => Math.round(ms / FRAME_MS);
