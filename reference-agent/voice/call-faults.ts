import type { AgentFault } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { FRAME_TICKS } from '../../src/voice/opus/index.ts';

/** How a call differs from a good one. */
export interface CallFaults {
  /** Milliseconds before the offer is made. */
  offerDelayMs: number;
  /** What becomes of the offer's description. */
  corruptOffer: (sdp: string) => string;
  /** Whether `call_ready` is cut in two. */
  truncatesReady: boolean;
  media: 'good' | 'none' | 'silent';
  /** Milliseconds by which the next packet is late; drawn anew each time. */
  drawJitterMs: () => number;
  /** Milliseconds more before the next reply, or before each packet in echo mode. */
  drawReplyDelayMs: () => number;
  /** Frames of 20 ms that are held back inside, unknown to the agent. */
  bufferedFrames: number;
  /** Whether any of these three makes packets late. */
  isLate: boolean;
  /** Milliseconds after which the call is dropped. */
  dropAfterMs: number | undefined;
}

const BUFFERED_MS_DEFAULT = { min_ms: 600, max_ms: 600 };
const DROP_AFTER_MS_DEFAULT = { min_ms: 1_000, max_ms: 1_000 };

/** What the faults that a call suffers make of it. All that is drawn is drawn from `chance`. */
export function drawCallFaults(faults: readonly AgentFault[], chance: Random): CallFaults {
  const find = (kind: AgentFault['kind']): AgentFault | undefined =>
    faults.find((fault) => fault.kind === kind);
  const draw = (bounds: AgentFault['latency']): number =>
    bounds ? chance.integer(bounds.min_ms, bounds.max_ms) : 0;
  const [held, drop] = [find('buffered_audio'), find('dropped_call')];
  return {
    offerDelayMs: draw(find('latency')?.latency),
    corruptOffer: find('wrong_codec') ? replaceOpus : find('bad_sdp') ? removeFingerprint : asItIs,
    truncatesReady: find('malformed_body') !== undefined,
    media: find('no_media') ? 'none' : find('silent_media') ? 'silent' : 'good',
    drawJitterMs: () => draw(find('jitter')?.latency),
    drawReplyDelayMs: () => draw(find('late_reply')?.latency),
    bufferedFrames: held
      ? Math.round((draw(held.latency ?? BUFFERED_MS_DEFAULT) * 48) / FRAME_TICKS)
      : 0,
    isLate: (['jitter', 'late_reply', 'buffered_audio'] as const).some(find),
    dropAfterMs: drop && draw(drop.latency ?? DROP_AFTER_MS_DEFAULT),
  };
}

const asItIs = (sdp: string): string => sdp;

/** Offers G.711 instead, which is legal and not what was asked for. */
function replaceOpus(sdp: string): string {
  const [, type = ''] = /^a=rtpmap:(\d+) opus\//im.exec(sdp) ?? [];
  return sdp
    .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
    .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
    .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\r\n`, 'gm'), '');
}

/** Leaves out what the connection is secured by, so that nobody can take the offer. */
function removeFingerprint(sdp: string): string {
  return sdp.replace(/^a=fingerprint:.*\r\n/gm, '');
}
