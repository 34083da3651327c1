// The constants of the specification. The name of a limit or target ends with its unit or bound.

/** Maximum length of a user id (spec 2.9, 8). */
export const USER_ID_LENGTH_MAX = 64;

/** Target for the chat response time (spec 8). */
export const CHAT_RESPONSE_MS_TARGET = 5_000;

/** Target for chat requests per second (spec 8). */
export const CHAT_REQUESTS_PER_SECOND_TARGET = 100;

/** Target for the health response time (spec 8). */
export const HEALTH_RESPONSE_MS_TARGET = 2_000;

/** The service times out a health request after this time (spec 8). */
export const HEALTH_TIMEOUT_MS = 10_000;

/** Target for the share of successful requests during testing windows (spec 8). */
export const AVAILABILITY_PERCENT_TARGET = 99.9;

/** Target for the latency of voice audio (spec 8). */
export const VOICE_AUDIO_LATENCY_MS_TARGET = 200;

/** Target for concurrent voice connections (spec 8). */
export const VOICE_CONNECTIONS_TARGET = 100;

/** Maximum size of a trace request, both as sent and decompressed. Spec 8 says 10 MB; the kit reads MiB. */
export const INGEST_BODY_BYTES_MAX = 10_485_760;

/** Maximum trace requests per minute and key (spec 5, 8). */
export const INGEST_REQUESTS_PER_MINUTE_MAX = 120;

/** Maximum number of evals that score live traces (spec 2.2, 8). */
export const LIVE_EVALS_MAX = 5;

/** The service closes a conversation after this time without activity (spec 3.1, 8). */
export const CONVERSATION_IDLE_MS_MAX = 86_400_000;

/** The statuses with which a sandbox says that it does not have an optional endpoint. */
export const ABSENT_ENDPOINT_STATUSES: readonly number[] = [404, 405, 501];

/** Default number of sessions on a page of results (spec 4.3, 4.4). */
export const PAGE_LIMIT_DEFAULT = 50;

/** Maximum number of sessions on a page of results (spec 4.3, 4.4). */
export const PAGE_LIMIT_MAX = 500;

/** Header with the key of the evaluation service (spec 5, area A). Lower case, as Node reports it. */
export const SERVICE_API_KEY_HEADER = 'x-service-api-key';

/** A row of the sandbox's error table (spec 7, area B). */
interface SandboxErrorRow {
  /** HTTP status; undefined if the specification leaves it open. */
  status: number | undefined;
  type: string;
}

/**
 * The pairs of type and code that the specification defines for a sandbox (spec 7, area B), by code. The
 * reference agent sends them and the conformance checks expect them.
 */
export const sandboxErrors = {
  bad_request: { status: 400, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  server_error: { status: 500, type: 'internal_error' },
  user_exists: { status: undefined, type: 'duplicate_user_error' },
  health_check_failed: { status: 500, type: 'internal_error' },
} as const satisfies Record<string, SandboxErrorRow>;

/** A code of the sandbox's error table. */
export type SandboxErrorCode = keyof typeof sandboxErrors;
