/**
 * Messages between the parent process and the processes that place calls. Times are in
 * milliseconds.
 */
import type { CallFaultKind, CallNetwork } from '../../src/contract/index.ts';
import type { VoiceTarget } from '../../src/voice/call/index.ts';

/** A call to place. */
export interface CallOrder {
  /** Index in the run, starting at 0. */
  nth: number;
  session: string;
  /** The header of the WebSocket request. */
  traceparent: string;
  /** Since the Unix epoch. */
  dueAtMs: number;
}

/** Place calls, start the measured window, or hang up and report the results. */
export type CallersCommand =
  | { kind: 'place'; target: VoiceTarget; network: CallNetwork | undefined; calls: CallOrder[] }
  | { kind: 'window' }
  | { kind: 'finish' };

/** A call connected or failed, some seconds have passed, or all calls are done. */
export type CallersEvent =
  | { kind: 'settled'; nth: number; isConnected: boolean }
  | { kind: 'seconds'; seconds: CallerSecond[] }
  | { kind: 'done'; calls: CallOutcome[]; cost: ProcessCost };

/** The traffic of one process in one second. */
export interface CallerSecond {
  /** Whole seconds since the Unix epoch. */
  epochS: number;
  up: number;
  sent: number;
  received: number;
  gaps: number;
  sendLateMaxMs: number;
}

/** How well one process kept up in the window. */
export interface ProcessCost {
  /** Percent of one core. */
  cpuPercent: number;
  loopLateP99Ms: number;
  sendLateP99Ms: number;
  sendLateMaxMs: number;
}

/** Why a call failed. */
export interface CallFault {
  kind: CallFaultKind;
  detail: string;
  /** Since the Unix epoch. */
  atMs: number;
}

/**
 * The result of one call; media values cover the window only. Times that were not measured are
 * missing.
 */
export interface CallOutcome {
  nth: number;
  session: string;
  traceId?: string | undefined;
  fault?: CallFault;
  isConnected: boolean;
  isHeld: boolean;
  /** Whether the sandbox closed the call soon after the caller hung up. */
  isClosed: boolean;
  readyMs?: number;
  setupMs?: number;
  firstPacketMs?: number;
  pathMs?: number;
  jitterMs?: number;
  roundTripsMs: number[];
  /** The response latency of each turn that got a response. */
  turnResponsesMs: number[];
  turns: number;
  unansweredTurns: number;
  sent: number;
  received: number;
  lost: number;
  reordered: number;
  gaps: number;
  longestGapMs: number;
}
