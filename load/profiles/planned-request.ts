import type { Endpoint, StreamName } from '../../src/contract/index.ts';
import type { OutgoingRequest } from '../engines/transport.ts';

/** A request of a profile. */
export interface PlannedRequest {
  stream: StreamName;
  endpoint: Endpoint;
  /** A name that no other request of the run has. Its trace context derives from it. */
  name: string;
  outgoing: OutgoingRequest;
  /** Timeout in milliseconds, from the due time. */
  deadlineMs: number;
  /** The markers of this conversation, which may appear in the response. */
  markers: readonly string[];
  /** Excludes the result from the record, because it shows nothing about the sandbox. */
  unjudged?: true;
  /** Its session id, if it has one. */
  session?: string;
  /** Returns the next request. `json` is the body of a valid response, undefined after a failure. */
  next?: (json: unknown) => FollowUp | undefined;
}

/** A request that follows another one. */
export interface FollowUp {
  request: PlannedRequest;
  /** Milliseconds after the end of the previous request. */
  afterMs: number;
  /** Sends the request even after the steady state. */
  isCleanup?: true;
}
