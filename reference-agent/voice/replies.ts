import type { Clip } from '../../src/voice/opus/index.ts';

/** What the agent answers to a clip of the kit. */
const REPLY_BY_CLIP: Readonly<Record<string, string>> = {
  'where-is-my-order': 'order-is-shipped',
  'return-shoes': 'return-is-easy',
  'cancel-order': 'order-is-cancelled',
  'opening-hours': 'let-me-look',
  'thank-you': 'goodbye',
};
const GREETING_ID = 'how-can-i-help';

/** What it says to speech that it does not know, in turn. */
const DEFAULT_REPLIES = ['let-me-look', 'order-is-shipped', 'return-is-easy', 'order-is-cancelled'];

/** What the agent knows to say, and what it knows when it hears it. */
export interface Repertoire {
  greeting: Clip;
  /**
   * The reply of a turn: to what was said where it is known, else by scenario and turn; the same in
   * every call.
   */
  replyTo(said: string | undefined, scenarioId: string, turn: number): Clip;
  /** The user's clip that has such a packet. */
  clipOf(packet: Buffer): string | undefined;
  /** What is said in a clip. */
  textOf(clipId: string): string | undefined;
}

/** The repertoire that these clips make. @throws when one is missing. */
export function createRepertoire(clips: readonly Clip[]): Repertoire {
  const byId = new Map(clips.map((clip) => [clip.id, clip]));
  const clip = (id: string): Clip => {
    const found = byId.get(id);
    if (!found) throw new Error(`there is no clip ${id}`);
    return found;
  };
  const clipByPacket = new Map<string, string>();
  for (const { id, speaker, packets } of clips) {
    if (speaker !== 'user') continue;
    for (const packet of packets) clipByPacket.set(packet.toString('latin1'), id);
  }
  return {
    greeting: clip(GREETING_ID),
    replyTo(said, scenarioId, turn) {
      const known = said === undefined ? undefined : REPLY_BY_CLIP[said];
      if (known !== undefined) return clip(known);
      const first = Buffer.from(scenarioId).reduce((sum, byte) => sum + byte, 0);
      return clip(DEFAULT_REPLIES[(first + turn - 1) % DEFAULT_REPLIES.length] ?? GREETING_ID);
    },
    clipOf: (packet) => clipByPacket.get(packet.toString('latin1')),
    textOf: (clipId) => byId.get(clipId)?.text,
  };
}
