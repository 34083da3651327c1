import type { AgentFault } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { FRAME_MS, silentFrame } from '../../src/voice/opus/index.ts';
import type { ConversationFault } from './conversation-behavior.ts';
import {
  conversationFaults,
  countBufferedFrames,
  type CreateConversationFault,
} from './conversation-faults.ts';
import type { SendPacket } from './media.ts';

type FaultKind = AgentFault['kind'];

/** The faults of one call. */
export interface CallFaults {
  /** Delay of the offer, in milliseconds. */
  offerDelayMs: number;
  /** Changes the SDP of the offer. */
  corruptOffer: (sdp: string) => string;
  /** Whether only the first half of `call_ready` is sent. */
  truncatesReady: boolean;
  /** Milliseconds until the call is dropped; undefined if it is not. */
  dropAfterMs: number | undefined;
  /** Changes how the call sends packets. */
  corruptMedia: (send: SendPacket) => SendPacket;
  /** What the agent does wrong in a conversation, for `applyFaults`. */
  conversation: readonly ConversationFault[];
  /** Draws the delay of the next packet of an echo, in milliseconds; undefined without a delay. */
  drawEchoDelayMs: (() => number) | undefined;
}

/** The faults whose time is drawn once for each call, with the default time in milliseconds. */
const DEFAULT_MS = {
  buffered_audio: 600,
  latency: 0,
  dropped_call: 1_000,
  slow_yield: 800,
  eager_endpoint: 50,
  talks_over: 600,
} satisfies Partial<Record<FaultKind, number>>;

/** Translates injected faults into the faults of one call. All random values come from `random`. */
export function drawCallFaults(faults: readonly AgentFault[], random: Random): CallFaults {
  const find = (kind: FaultKind): AgentFault | undefined =>
    faults.find((fault) => fault.kind === kind);
  const draw = (bounds: AgentFault['latency']): number =>
    bounds ? random.integer(bounds.min_ms, bounds.max_ms) : 0;
  const drawMs = (kind: FaultKind): number => draw(find(kind)?.latency);
  const timesMs = new Map<string, number>();
  for (const [kind, ms] of Object.entries(DEFAULT_MS)) {
    const fault = find(kind as FaultKind);
    if (fault) timesMs.set(kind, draw(fault.latency ?? { min_ms: ms, max_ms: ms }));
  }
  const bufferedMs = countBufferedFrames(timesMs.get('buffered_audio') ?? 0) * FRAME_MS;
  const delaysEcho = (['jitter', 'late_reply', 'buffered_audio'] as const).some(find);
  return {
    offerDelayMs: timesMs.get('latency') ?? 0,
    corruptOffer: find('wrong_codec')
      ? replaceOpus
      : find('bad_sdp')
        ? removeFingerprint
        : keepOffer,
    truncatesReady: find('malformed_body') !== undefined,
    dropAfterMs: timesMs.get('dropped_call'),
    corruptMedia: find('no_media') ? sendNothing : find('silent_media') ? sendSilence : sendAll,
    conversation: Object.entries<CreateConversationFault>(conversationFaults)
      .filter(([kind]) => find(kind as FaultKind))
      .map(([kind, create]) =>
        create({ ms: timesMs.get(kind) ?? 0, drawMs: () => drawMs(kind as FaultKind) }),
      ),
    drawEchoDelayMs: delaysEcho
      ? () => drawMs('late_reply') + drawMs('jitter') + bufferedMs
      : undefined,
  };
}

const sendAll = (send: SendPacket): SendPacket => send;

const sendNothing = (): SendPacket => () => false;

/** Sends silence instead of every packet. */
const sendSilence =
  (send: SendPacket): SendPacket =>
  (_payload, timestamp) => {
    send(silentFrame, timestamp);
    return false;
  };

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
