/** A request to a server and its response, as `/__admin/requests` shows it. */
export interface RequestSummary {
  method: string;
  /** Without the query. */
  path: string;
  /** HTTP status; 0 when no response was sent. */
  status: number;
  /** ISO 8601 time at which the response was sent. */
  at: string;
  duration_ms: number;
  /** From the request's `Content-Length`; 0 without one. */
  request_bytes: number;
}
