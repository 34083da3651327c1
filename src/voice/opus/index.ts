/** Opus: recorded clips, the decoder, packets and Ogg files. */
export { readClips, type Clip, type ClipMetadata, type Speaker } from './clips.ts';
export { createDecoder, type Decoder } from './decoder.ts';
export { FRAME_MS, FRAME_TICKS, TICKS_PER_MS, TIMESTAMP_JUMP_TICKS_MAX } from './frame.ts';
export { OggError, readOgg, silentFrame, writeOgg, writeStereoOgg } from './ogg.ts';
export { countPacketTicks, SILENT_PACKET_BYTES_MAX } from './packet.ts';
