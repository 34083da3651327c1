/** Recorded speech in Opus: the door to the room. */
export { readClips, type Clip, type ClipMetadata, type Speaker } from './clips.ts';
export { createDecoder, type Decoder } from './decoder.ts';
export { OggError, readOgg, silentFrame, FRAME_TICKS, writeOgg } from './ogg.ts';
export { countPacketTicks } from './packet.ts';
