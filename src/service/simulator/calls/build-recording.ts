import { setImmediate } from 'node:timers/promises';
import {
  createDecoder,
  writeStereoOgg,
  type Decoder,
  FRAME_MS,
  SILENT_PACKET_BYTES_MAX,
} from '../../../voice/opus/index.ts';
import { alignCall, type AlignedCall, type CallAudio } from '../../../voice/call/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import type { CallSummary, NewRecording } from '../../store/store.ts';
import type { SessionPlan } from '../session-plan.ts';

/** When the simulated user spoke a line of a call, on the monotonic clock. */
export interface LineSpan extends SpeechSpan {
  /** The turn of the line; interruptions are turns, too. */
  turn: number;
}

/** The audio of a call, and when the user spoke. */
export interface RecordedCall {
  audio: CallAudio;
  lines: readonly LineSpan[];
}

/** Receives the call of a session when it has ended. Must not throw. */
export type OnRecorded = (plan: SessionPlan, call: RecordedCall) => void;

const FRAMES_PER_LEVEL = 5;
/** Packets that are decoded before other work gets its turn. */
const PACKETS_PER_BLOCK = 50;

/** Builds what the service keeps of a call; undefined if no packet was exchanged. */
export async function buildRecording(call: RecordedCall): Promise<NewRecording | undefined> {
  const streams = alignCall(call.audio);
  if (!streams) return undefined;
  const audio = writeStereoOgg(streams.user, streams.agent);
  return { audio, summary: await summarize(call, streams) };
}

/** Measures the levels of a call, and the times of its lines; undefined if no packet was exchanged. */
export async function summarizeCall(call: RecordedCall): Promise<CallSummary | undefined> {
  const streams = alignCall(call.audio);
  return streams && summarize(call, streams);
}

const summarize = async (
  { lines }: RecordedCall,
  { startedMs, user, agent }: AlignedCall,
): Promise<CallSummary> => ({
  durationMs: Math.max(user.length, agent.length) * FRAME_MS,
  levelMs: FRAMES_PER_LEVEL * FRAME_MS,
  user: await measurePeaks(user),
  agent: await measurePeaks(agent),
  lines: lines.map(({ turn, startMs, endMs }) => ({
    turn,
    startMs: Math.max(0, Math.round(startMs - startedMs)),
    endMs: Math.max(0, Math.round(endMs - startedMs)),
  })),
});

/** Returns the peak of each 100 ms of a stream, from 0 to 100. */
async function measurePeaks(packets: readonly Buffer[]): Promise<number[]> {
  const decoder = await createDecoder();
  try {
    const peaks: number[] = [];
    for (let at = 0; at < packets.length; at += FRAMES_PER_LEVEL) {
      const frames = packets.slice(at, at + FRAMES_PER_LEVEL);
      peaks.push(Math.round(100 * Math.max(...frames.map((frame) => findPeak(frame, decoder)))));
      if (at % PACKETS_PER_BLOCK === 0) await setImmediate();
    }
    return peaks;
  } finally {
    decoder.free();
  }
}

function findPeak(packet: Buffer, decoder: Decoder): number {
  if (packet.length <= SILENT_PACKET_BYTES_MAX) return 0;
  let peak = 0;
  for (const sample of decoder.decode(packet) ?? []) peak = Math.max(peak, Math.abs(sample));
  return Math.min(1, peak);
}
