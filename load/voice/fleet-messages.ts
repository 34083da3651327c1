/** What goes between the process that judges and those that place calls. Times are milliseconds. */
import type { CallFaultKind } from '../../src/contract/index.ts';
import type { VoiceTarget } from '../../src/voice/call/index.ts';

/** One call to place. */
export interface CallOrder {
  /** 0 for the first of the run. */
  nth: number;
  session: string;
  /** Since the Unix epoch. */
  dueAtMs: number;
}

/** Place these; the judged window begins; it is over: hang up, and say what came of them. */
export type CallersCommand =
  | { kind: 'place'; target: VoiceTarget; calls: CallOrder[] }
  | { kind: 'window' }
  | { kind: 'finish' };

/** A call is connected, or never will be; some seconds are over; all is over. */
export type CallersEvent =
  | { kind: 'settled'; nth: number; isConnected: boolean }
  | { kind: 'seconds'; seconds: CallerSecond[] }
  | { kind: 'done'; calls: CallOutcome[]; cost: CallersCost };

/** What one process did in one second. */
export interface CallerSecond {
  /** Whole seconds since the Unix epoch. */
  epochS: number;
  up: number;
  sent: number;
  received: number;
  gaps: number;
  sendLateMaxMs: number;
}

/** How one process kept up in the window. */
export interface CallersCost {
  /** Of one core. */
  cpuPercent: number;
  loopLateP99Ms: number;
  sendLateP99Ms: number;
  sendLateMaxMs: number;
}

/** Why a call was not held. */
export interface CallFault {
  kind: CallFaultKind;
  detail: string;
  /** Since the Unix epoch. */
  atMs: number;
}

/** What came of one call; of its media, in the window. Times that were not measured are left out. */
export interface CallOutcome {
  nth: number;
  session: string;
  fault?: CallFault;
  isConnected: boolean;
  isHeld: boolean;
  readyMs?: number;
  setupMs?: number;
  firstPacketMs?: number;
  pathMs?: number;
  jitterMs?: number;
  roundTripsMs: number[];
  /** Each turn that was answered. */
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
