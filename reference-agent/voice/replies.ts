import type { Clip } from '../../src/voice/opus/index.ts';

/** The reply to each recorded clip of a user. */
const REPLY_BY_CLIP: Readonly<Record<string, string>> = {
  'where-is-my-order': 'order-is-shipped',
  'return-shoes': 'return-is-easy',
  'cancel-order': 'order-is-canceled',
  'opening-hours': 'let-me-look',
  'open-now': 'yes-we-are',
  'thank-you': 'goodbye',
};
const GREETING_ID = 'how-can-i-help';
const FILLER_ID = 'let-me-look';

/** The replies to any other speech, in rotation. */
const DEFAULT_REPLIES = ['let-me-look', 'order-is-shipped', 'return-is-easy', 'order-is-canceled'];

/** The clips that the agent can speak, and those that it recognizes. */
export interface Repertoire {
  greeting: Clip;
  /** What an agent says that speaks over the caller. */
  filler: Clip;
  /**
   * Returns the reply to a recognized clip, or else a reply by scenario and turn. The result is the
   * same in every call.
   */
  replyTo(heardClipId: string | undefined, scenarioId: string, turn: number): Clip;
  /** Returns the user's clip that contains a packet. */
  clipOf(packet: Buffer): string | undefined;
  /** Returns the text of a clip. */
  textOf(clipId: string): string | undefined;
}

/** Creates the repertoire from the recorded clips. @throws if a clip is missing. */
export function createRepertoire(clips: readonly Clip[]): Repertoire {
  const byId = new Map(clips.map((clip) => [clip.id, clip]));
  const findClip = (id: string): Clip => {
    const result = byId.get(id);
    if (!result) throw new Error(`Unknown clip ${id}.`);
    return result;
  };
  const clipByPacket = new Map<string, string>();
  for (const { id, speaker, packets } of clips) {
    if (speaker !== 'user') continue;
    for (const packet of packets) clipByPacket.set(packet.toString('latin1'), id);
  }
  return {
    greeting: findClip(GREETING_ID),
    filler: findClip(FILLER_ID),
    replyTo(heardClipId, scenarioId, turn) {
      const replyId = heardClipId === undefined ? undefined : REPLY_BY_CLIP[heardClipId];
      if (replyId !== undefined) return findClip(replyId);
      const first = Buffer.from(scenarioId).reduce((sum, byte) => sum + byte, 0);
      return findClip(DEFAULT_REPLIES[(first + turn - 1) % DEFAULT_REPLIES.length] ?? GREETING_ID);
    },
    clipOf: (packet) => clipByPacket.get(packet.toString('latin1')),
    textOf: (clipId) => byId.get(clipId)?.text,
  };
}
