/** A row of the sandbox's error table (spec 7, area B). */
export interface SandboxErrorRow {
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
