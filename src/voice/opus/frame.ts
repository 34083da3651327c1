/** The clock of RTP timestamps of Opus: 48 kHz. */
export const TICKS_PER_MS = 48;

/** The frames that the kit sends. */
export const FRAME_MS = 20;
export const FRAME_TICKS = FRAME_MS * TICKS_PER_MS;

/** A timestamp that jumps by more than this starts a new stream: 10 s. */
export const TIMESTAMP_JUMP_TICKS_MAX = 10_000 * TICKS_PER_MS;
