import type { VoiceSecond } from '../../src/contract/index.ts';
import type { VoiceRun } from '../voice/voice-run.ts';

/** The seconds of all processes together, counted from the judged window's beginning. */
export function voiceSeconds({ seconds, windowStartMs }: VoiceRun): VoiceSecond[] {
  const first = Math.min(...seconds.map(({ epochS }) => epochS));
  const zero = windowStartMs === undefined ? first : Math.floor(windowStartMs / 1_000);
  const byTime = new Map<number, VoiceSecond>();
  for (const { epochS, up, sent, received, gaps, sendLateMaxMs } of seconds) {
    const second = epochS - zero;
    const before = byTime.get(second);
    byTime.set(second, {
      second,
      up: up + (before?.up ?? 0),
      sent: sent + (before?.sent ?? 0),
      received: received + (before?.received ?? 0),
      gaps: gaps + (before?.gaps ?? 0),
      sendLateMaxMs: Math.round(Math.max(sendLateMaxMs, before?.sendLateMaxMs ?? 0) * 100) / 100,
    });
  }
  return [...byTime.values()].sort((one, other) => one.second - other.second);
}
