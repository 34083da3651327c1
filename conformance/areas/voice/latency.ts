/** The target for the audio latency of calls (spec 8). */
import type { AudioPacket } from '../../../src/voice/peer/index.ts';
import type { LatencyVerdict } from '../../../src/voice/latency/index.ts';
import type { Check } from '../../engine/checks/check.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { unlessAbsent } from './absence.ts';
import { changeMedia, distortCalls } from './call-transforms.ts';
import { callFinding } from './evidence.ts';
import { callsWithSpeech, measureAudioLatency, measureCall } from './latency-measurements.ts';
import { explainNoMedia } from './media-evidence.ts';

/** 800 ms. */
const LATE_FRAMES = 40;

const defaults = {
  inMedia: true,
  probes: ['voice/conversation'],
  wrapCheck: unlessAbsent,
} as const;

export const latency: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-090': {
      level: 'target',
      rule: 'The audio latency is less than 200 ms.',
      statements: ['8.b7'],
      reason:
        'A slow agent interrupts the natural flow of a conversation. The check measures the network path latency and the response latency of turns, and states that the target is met or missed only if they prove it.',
      check: checkLatency(),
      mutants: {
        late: distortCalls('Sends audio in bursts of 800 ms.', sendInBursts(LATE_FRAMES)),
      },
    },
  }),
};

/** Checks the latency target; an unproven result is a note. */
function checkLatency(): Check {
  const expectedByVerdict: Record<LatencyVerdict, string> = {
    met: '',
    missed: 'less than 200 ms',
    not_proven: 'a proven latency of less than 200 ms',
  };
  return {
    evidence: callsWithSpeech,
    judge(calls, transcript) {
      const measured = measureAudioLatency(transcript);
      const [slowest] = [...calls].sort(
        (exchange, other) =>
          (measureCall(other)?.pathMs ?? 0) - (measureCall(exchange)?.pathMs ?? 0),
      );
      if (!measured || !slowest || measured.verdict === 'met') return [];
      const finding = callFinding(slowest, expectedByVerdict[measured.verdict], measured.reason);
      return [measured.verdict === 'missed' ? finding : { ...finding, isNote: true }];
    },
    unjudged: explainNoMedia,
  };
}

/** Delays packets and sends them in bursts. */
function sendInBursts(count: number): VoiceTransformFactory {
  return changeMedia(() => {
    const delayed: AudioPacket[] = [];
    return {
      toKit(packet, send) {
        delayed.push(packet);
        if (delayed.length < count) return;
        for (const delayedPacket of delayed.splice(0)) send(delayedPacket);
      },
    };
  });
}
