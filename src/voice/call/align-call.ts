import { FRAME_MS } from '../opus/index.ts';
import type { CallAudio } from './call-recording.ts';

/** The packets of both sides, from the time when the first of them was sent or received. */
export interface AlignedCall {
  startedMs: number;
  user: Buffer[];
  agent: Buffer[];
}

/** Aligns the packets of both sides of a call; undefined if no packet was exchanged. */
export function alignCall({ user, agent, startMs }: CallAudio): AlignedCall | undefined {
  const startedMs = Math.min(startMs.user ?? Infinity, startMs.agent ?? Infinity);
  if (startedMs === Infinity) return undefined;
  return {
    startedMs,
    user: delay(user, (startMs.user ?? startedMs) - startedMs),
    agent: delay(agent, (startMs.agent ?? startedMs) - startedMs),
  };
}

/** Puts missing packets before a stream that started later than the other one. */
function delay(packets: readonly Buffer[], ms: number): Buffer[] {
  const missing = Math.max(0, Math.round(ms / FRAME_MS));
  return [...Array.from({ length: missing }, () => Buffer.alloc(0)), ...packets];
}
