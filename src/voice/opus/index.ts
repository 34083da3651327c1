/** Recorded speech in Opus: the door to the room. */
export { readClips, type Clip, type ClipFacts, type Speaker } from './clips.ts';
export { createDecoder, type Decoder } from './decoder.ts';
export { OggError, readOgg, silentFrame, ticksOfFrame, writeOgg } from './ogg.ts';
export { ticksOfPacket } from './packet.ts';
