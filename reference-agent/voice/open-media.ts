import type { Peer } from '../../src/voice/peer/index.ts';
import { Echo } from './echo.ts';
import type { Media } from './media.ts';
import type { AskedCall } from './messages.ts';
import type { SoundParts } from './sound-parts.ts';
import { Talk, type TalkParts } from './talk.ts';

/** What a call brings to its media. */
export interface OpeningMedia extends Omit<
  TalkParts,
  'decoder' | 'repertoire' | 'scenarioId' | 'send'
> {
  peer: Peer;
  sound: SoundParts;
  asked: AskedCall | undefined;
}

/** The media that a call asks for: a conversation, or its own sound back. */
export async function openMedia({ peer, sound, asked, ...parts }: OpeningMedia): Promise<Media> {
  const { faults, record } = parts;
  const send = (payload: Buffer, timestamp: number): void => {
    if (peer.send(payload, timestamp)) record.packetsSent += 1;
  };
  if (asked?.isEcho) return new Echo(faults.media === 'none' ? () => {} : send, faults);
  const { createDecoder, repertoire } = sound;
  const scenarioId = asked?.scenarioId ?? '';
  return new Talk({ ...parts, send, repertoire, scenarioId, decoder: await createDecoder() });
}
