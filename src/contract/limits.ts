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
