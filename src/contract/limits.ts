/**
 * The numbers of spec part 8, and the bounds that the interface sets elsewhere. Units stand last in
 * each name.
 */

/** The longest user id that a sandbox must take (spec 2.9, 8). */
export const userIdLengthMax = 64;

/** A chat reply is expected in less than this (spec 8, a target). */
export const chatResponseMsTarget = 5_000;

/** Chat requests a second that a sandbox should hold (spec 8, a target). */
export const chatRequestsPerSecondTarget = 100;

/** A health answer is expected within this (spec 8, a target). */
export const healthResponseMsTarget = 2_000;

/** The service gives up a health request after this (spec 8). */
export const healthTimeoutMs = 10_000;

/** The share of requests answered during testing windows, as a percentage (spec 8, a target). */
export const availabilityPercentTarget = 99.9;

/** One-way latency of voice audio (spec 8, a target). */
export const voiceAudioLatencyMsTarget = 200;

/** Voice connections at once that a sandbox should hold (spec 8, a target). */
export const voiceConnectionsTarget = 100;

/** The largest trace request that is taken, as sent and again inflated: 10 MB (spec 8), read as MiB. */
export const ingestBodyBytesMax = 10_485_760;

/** Trace requests that a key may send in a minute (spec 5, 8). */
export const ingestRequestsPerMinuteMax = 120;

/** Evals that score live traces (spec 2.2, 8). */
export const liveEvalsMax = 5;

/** A conversation that is idle for so long is closed (spec 3.1, 8). */
export const conversationIdleMsMax = 86_400_000;

/** Sessions on a page of results when the caller names no limit (spec 4.3, 4.4). */
export const pageLimitDefault = 50;

/** Sessions on a page of results at most (spec 4.3, 4.4). */
export const pageLimitMax = 500;
