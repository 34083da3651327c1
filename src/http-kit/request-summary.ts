/** A request to a server and its response, as `/__admin/requests` shows it. */
export interface RequestSummary {
  method: string;
  /** Path without the query. */
  path: string;
  /** HTTP status; 0 when no response was sent. */
  status: number;
  /** ISO 8601 time when the response was sent. */
  at: string;
  duration_ms: number;
  /** `Content-Length` of the request; 0 if it is absent. */
  request_bytes: number;
}
