import type { AgentFault } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { FRAME_TICKS, TICKS_PER_MS } from '../../src/voice/opus/index.ts';

/** The faults of one call. */
export interface CallFaults {
  /** Delay of the offer, in milliseconds. */
  offerDelayMs: number;
  /** Changes the SDP of the offer. */
  corruptOffer: (sdp: string) => string;
  /** Whether only the first half of `call_ready` is sent. */
  truncatesReady: boolean;
  media: 'good' | 'none' | 'silent';
  /** Draws the lateness of the next packet, in milliseconds. */
  drawJitterMs: () => number;
  /** Draws an extra delay for the next reply, or for each packet in echo mode, in milliseconds. */
  drawReplyDelayMs: () => number;
  /** Number of 20 ms frames that are buffered without the agent knowing. */
  bufferedFrames: number;
  /** Whether jitter, a late reply or buffering makes packets late. */
  isLate: boolean;
  /** Milliseconds until the call is dropped; undefined if it is not. */
  dropAfterMs: number | undefined;
  /** Whether the agent goes on when the caller speaks over it. */
  neverYields: boolean;
  /** Milliseconds until the agent stops then, and of silence that ends a turn; undefined for those of the limits. */
  yieldMs: number | undefined;
  hangOverMs: number | undefined;
  /** Milliseconds of the caller's speech after which the agent speaks over it; undefined if it does not. */
  talkOverAfterMs: number | undefined;
  isDeafAfterNoise: boolean;
  /** Whether an interruption makes the agent forget the conversation. */
  forgetsAfterBargeIn: boolean;
}

const BUFFERED_MS_DEFAULT = { min_ms: 600, max_ms: 600 };
const DROP_AFTER_MS_DEFAULT = { min_ms: 1_000, max_ms: 1_000 };
const SLOW_YIELD_MS_DEFAULT = { min_ms: 800, max_ms: 800 };
const EAGER_ENDPOINT_MS_DEFAULT = { min_ms: 50, max_ms: 50 };
const TALK_OVER_MS_DEFAULT = { min_ms: 600, max_ms: 600 };

/** Translates injected faults into the faults of one call. All random values come from `random`. */
export function drawCallFaults(faults: readonly AgentFault[], random: Random): CallFaults {
  const find = (kind: AgentFault['kind']): AgentFault | undefined =>
    faults.find((fault) => fault.kind === kind);
  const draw = (bounds: AgentFault['latency']): number =>
    bounds ? random.integer(bounds.min_ms, bounds.max_ms) : 0;
  /** Draws the time of a fault that has a default; undefined without the fault. */
  const drawOr = (
    kind: AgentFault['kind'],
    bounds: NonNullable<AgentFault['latency']>,
  ): number | undefined => {
    const fault = find(kind);
    return fault && draw(fault.latency ?? bounds);
  };
  const bufferedMs = drawOr('buffered_audio', BUFFERED_MS_DEFAULT);
  return {
    offerDelayMs: draw(find('latency')?.latency),
    corruptOffer: find('wrong_codec')
      ? replaceOpus
      : find('bad_sdp')
        ? removeFingerprint
        : keepOffer,
    truncatesReady: find('malformed_body') !== undefined,
    media: find('no_media') ? 'none' : find('silent_media') ? 'silent' : 'good',
    drawJitterMs: () => draw(find('jitter')?.latency),
    drawReplyDelayMs: () => draw(find('late_reply')?.latency),
    bufferedFrames: Math.round(((bufferedMs ?? 0) * TICKS_PER_MS) / FRAME_TICKS),
    isLate: (['jitter', 'late_reply', 'buffered_audio'] as const).some(find),
    dropAfterMs: drawOr('dropped_call', DROP_AFTER_MS_DEFAULT),
    neverYields: find('never_yields') !== undefined,
    yieldMs: drawOr('slow_yield', SLOW_YIELD_MS_DEFAULT),
    hangOverMs: drawOr('eager_endpoint', EAGER_ENDPOINT_MS_DEFAULT),
    talkOverAfterMs: drawOr('talks_over', TALK_OVER_MS_DEFAULT),
    isDeafAfterNoise: find('deaf_after_noise') !== undefined,
    forgetsAfterBargeIn: find('forgets_after_barge_in') !== undefined,
  };
}

const keepOffer = (sdp: string): string => sdp;

/** Offers G.711 instead of Opus: a valid offer with the wrong codec. */
function replaceOpus(sdp: string): string {
  const [, type = ''] = /^a=rtpmap:(\d+) opus\//im.exec(sdp) ?? [];
  return sdp
    .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
    .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
    .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\r\n`, 'gm'), '');
}

/** Removes the DTLS fingerprint, so that the offer can't be accepted. */
function removeFingerprint(sdp: string): string {
  return sdp.replace(/^a=fingerprint:.*\r\n/gm, '');
}
