/** Opus: recorded clips, the decoder, packets and Ogg files. */
export { readClips, type Clip, type ClipMetadata, type Speaker } from './clips.ts';
export { createDecoder, type Decoder } from './decoder.ts';
export { OggError, readOgg, silentFrame, FRAME_TICKS, writeOgg, writeStereoOgg } from './ogg.ts';
export { countPacketTicks } from './packet.ts';
