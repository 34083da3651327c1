import type { AgentFault } from '../src/contract/index.ts';
import type { FaultStatus } from '../src/http-kit/faults.ts';
import type { RequestSummary } from '../src/http-kit/request-summary.ts';

/** A request to the agent and its response. Headers are not recorded, because they contain keys. */
export interface AgentRequest extends RequestSummary {
  /** `Content-Length` of the response; 0 if it is absent. */
  response_bytes: number;
  /** The truncated bodies; only with the option `journalBodies`. */
  request_body?: string;
  response_body?: string;
}

/** A current fault, with its source and the number of times that it was injected. */
export interface AgentFaultStatus extends FaultStatus<AgentFault> {
  /** `options` of `startAgent`, or `admin`: this handle and `/__admin/faults`. */
  source: 'admin' | 'options';
}

/** Open and past calls; contains no text of the conversations. */
export interface AgentCalls {
  /** Number of open calls. */
  open: number;
  calls: { [field: string]: unknown }[];
}

/** The test controls of an agent. The routes under `/__admin` do the same over HTTP. */
export interface AgentControls {
  /**
   * Replaces the faults that this handle or `/__admin/faults` set. Keeps the faults of the options.
   * @throws {TypeError} about the first invalid fault.
   */
  setFaults(faults: readonly AgentFault[]): void;
  /** Adds a fault. @throws {TypeError} if it is invalid, or too many are set. */
  addFault(fault: AgentFault): void;
  /** Removes the faults that this handle or `/__admin/faults` set. */
  clearFaults(): void;
  /** Returns the current faults, with the number of times that each was injected. */
  faults(): AgentFaultStatus[];
  /** Returns the latest requests (at most `journalEntriesMax`), oldest first. */
  requests(): AgentRequest[];
  /** Deletes the recorded requests. */
  clearRequests(): void;
  /** Returns open and past calls. */
  calls(): AgentCalls;
  /**
   * Restores the state at the start: no users, no recorded requests, no past calls, the faults of the
   * options, and an unused script.
   */
  reset(): void;
}
