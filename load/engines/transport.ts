import type { Failure } from './failures.ts';

/** A request to send. */
export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative to the base URL of the sandbox. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The result of a request: a response or a fault. Times are monotonic. */
export interface ExchangeResult {
  /** When the request was handed to the network. */
  sentMs: number;
  /** When the status line arrived. */
  firstByteMs?: number;
  endedMs: number;
  /** The status, even of an incomplete response. */
  status?: number;
  headers?: Record<string, string | string[] | undefined>;
  /** The raw body of a complete response. */
  body?: Uint8Array;
  fault?: Failure;
}

/** Sends requests to one sandbox immediately. A request is never retried. */
export interface Transport {
  /** Name and version of the HTTP client. */
  readonly name: string;
  /**
   * Sends a request and calls `onEnd` exactly once, at the latest at the monotonic time `deadlineAtMs`.
   * Never throws; a failure is part of the result.
   */
  send(
    outgoing: OutgoingRequest,
    deadlineAtMs: number,
    onEnd: (result: ExchangeResult) => void,
  ): void;
  close(): Promise<void>;
}

/** Returns a request with more headers. */
export function withHeaders(
  outgoing: OutgoingRequest,
  headers: Readonly<Record<string, string>>,
): OutgoingRequest {
  return { ...outgoing, headers: { ...outgoing.headers, ...headers } };
}

/** The largest response body that is read, far above anything in the interface. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024;
