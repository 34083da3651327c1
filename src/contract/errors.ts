/** One row of the sandbox's error table (spec 7, area B). */
export interface SandboxErrorRow {
  /** The HTTP status; undefined where the specification leaves it open. */
  status: number | undefined;
  type: string;
}

/**
 * Every pair of type and code that the specification names for a sandbox (spec 7, area B), by code.
 * A wire fact: the agent answers by it, the judge judges by it.
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
