import type { FaultKind } from '../../src/contract/index.ts';

/** A request as it goes out. */
export interface Outgoing {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL of the sandbox. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What came of a request: an answer, or the fault that kept it from coming. Times are monotonic. */
export interface Came {
  /** When it was handed to the network. */
  sentMs: number;
  /** When the status line was there. */
  firstByteMs?: number;
  endedMs: number;
  /** The status, also of an answer that broke off. */
  status?: number;
  headers?: Record<string, string | string[] | undefined>;
  /** The body of a whole answer, as it came. */
  body?: Uint8Array;
  fault?: { kind: FaultKind; message: string };
}

/** Sends requests to one sandbox, each at once. A request is never sent twice. */
export interface Transport {
  /** Name and version. */
  readonly name: string;
  /**
   * Sends; `ended` is called once, at the latest when the time `deadlineAtMs` has come. Never throws:
   * what goes wrong is what came.
   */
  send(outgoing: Outgoing, deadlineAtMs: number, ended: (came: Came) => void): void;
  /** Requests that had to wait for the transport itself: it was not big enough for the rate. */
  readonly held: number;
  close(): Promise<void>;
}

/** The largest body that is read; nothing in the interface comes near it. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024;
