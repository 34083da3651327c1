/**
 * The limits and targets of the specification (mostly spec 8). Each name ends with its unit or bound.
 */

/** Maximum length of a user id (spec 2.9, 8). */
export const userIdLengthMax = 64;

/** Target for the chat response time (spec 8). */
export const chatResponseMsTarget = 5_000;

/** Target for chat requests per second (spec 8). */
export const chatRequestsPerSecondTarget = 100;

/** Target for the health response time (spec 8). */
export const healthResponseMsTarget = 2_000;

/** The service times out a health request after this time (spec 8). */
export const healthTimeoutMs = 10_000;

/** Target for the share of successful requests during testing windows (spec 8). */
export const availabilityPercentTarget = 99.9;

/** Target for the latency of voice audio (spec 8). */
export const voiceAudioLatencyMsTarget = 200;

/** Target for concurrent voice connections (spec 8). */
export const voiceConnectionsTarget = 100;

/** Maximum size of a trace request, both as sent and decompressed. Spec 8 says 10 MB; the kit reads MiB. */
export const ingestBodyBytesMax = 10_485_760;

/** Maximum trace requests per minute and key (spec 5, 8). */
export const ingestRequestsPerMinuteMax = 120;

/** Maximum number of evals that score live traces (spec 2.2, 8). */
export const liveEvalsMax = 5;

/** The service closes a conversation after this time without activity (spec 3.1, 8). */
export const conversationIdleMsMax = 86_400_000;

/** Default number of sessions on a page of results (spec 4.3, 4.4). */
export const pageLimitDefault = 50;

/** Maximum number of sessions on a page of results (spec 4.3, 4.4). */
export const pageLimitMax = 500;
