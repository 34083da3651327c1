import { isoTime } from '../../src/platform/clock.ts';
import type { AgentCalls } from '../controls.ts';
import type { CallState, Ending } from './call-states.ts';
import { roundTo } from '../../src/platform/round.ts';

/** One turn as the agent experienced it; times in milliseconds on the monotonic clock. */
export interface TurnRecord {
  /** The recorded clip that was recognized; undefined for any other speech. */
  heardClip: string | undefined;
  speechStartMs: number;
  speechEndMs: number;
  /** The recorded clip or the id of the synthesized line; undefined until there is a reply. */
  replyClip: string | undefined;
  /** Whether the caller sent a caption for this turn. */
  isCaptioned: boolean;
  /** The response time that the agent reports; it does not include injected buffering. */
  responseMs: number | undefined;
  /** When the first audible frame of the reply was sent; undefined if none was. */
  firstAudibleMs: number | undefined;
  /** Whether the caller spoke again before the reply ended. */
  isInterrupted: boolean;
}

/** What the agent recorded about a call; contains no text of the conversation. */
export interface CallRecord {
  callId: string;
  sessionId: string | undefined;
  isEcho: boolean;
  state: CallState;
  ending: Ending | undefined;
  closeCode: number | undefined;
  /** Milliseconds since the Unix epoch. */
  openedAtMs: number;
  /** On the monotonic clock, like all times below. */
  openedMs: number;
  readyMs: number | undefined;
  connectedMs: number | undefined;
  endedMs: number | undefined;
  packetsSent: number;
  packetsReceived: number;
  /** Messages of unknown types. */
  unknownMessages: number;
  /** Number of captions received. */
  captions: number;
  turns: TurnRecord[];
}

/** Creates a record for a call that starts now. */
export function createCallRecord(callId: string, openedAtMs: number, openedMs: number): CallRecord {
  return {
    callId,
    sessionId: undefined,
    isEcho: false,
    state: 'waiting',
    ending: undefined,
    closeCode: undefined,
    openedAtMs,
    openedMs,
    readyMs: undefined,
    connectedMs: undefined,
    endedMs: undefined,
    packetsSent: 0,
    packetsReceived: 0,
    unknownMessages: 0,
    captions: 0,
    turns: [],
  };
}

/** Open and past calls, oldest first. */
export interface CallHistory {
  open(record: CallRecord): void;
  /** Moves a call to the past calls; the oldest is dropped when there are too many. */
  close(record: CallRecord): void;
  view(): AgentCalls;
  /** Removes the past calls. */
  clear(): void;
}

const CLOSED_CALLS_MAX = 200;

/** Creates an empty history. */
export function createCallHistory(): CallHistory {
  const open = new Set<CallRecord>();
  let closed: CallRecord[] = [];
  return {
    open: (record) => void open.add(record),
    close(record) {
      open.delete(record);
      closed.push(record);
      if (closed.length > CLOSED_CALLS_MAX) closed.shift();
    },
    view: () => ({ open: open.size, calls: [...closed, ...open].map(viewOf) }),
    clear: () => void (closed = []),
  };
}

/** Converts a record for `/__admin/calls`: times are in milliseconds since the WebSocket opened. */
function viewOf(record: CallRecord): Record<string, unknown> {
  const since = (ms: number | undefined): number | null =>
    ms === undefined ? null : roundTo(ms - record.openedMs, 3);
  return {
    call_id: record.callId,
    session_id: record.sessionId ?? null,
    echo: record.isEcho,
    state: record.state,
    ending: record.ending ?? null,
    close_code: record.closeCode ?? null,
    opened_at: isoTime(record.openedAtMs),
    ready_ms: since(record.readyMs),
    connected_ms: since(record.connectedMs),
    ended_ms: since(record.endedMs),
    packets_sent: record.packetsSent,
    packets_received: record.packetsReceived,
    unknown_messages: record.unknownMessages,
    captions: record.captions,
    turns: record.turns.map((turn) => ({
      heard_clip: turn.heardClip ?? null,
      speech_start_ms: since(turn.speechStartMs),
      speech_end_ms: since(turn.speechEndMs),
      reply_clip: turn.replyClip ?? null,
      captioned: turn.isCaptioned,
      first_audible_ms: since(turn.firstAudibleMs),
      response_ms:
        turn.firstAudibleMs === undefined
          ? null
          : roundTo(turn.firstAudibleMs - turn.speechEndMs, 3),
      stated_response_ms: turn.responseMs === undefined ? null : Math.round(turn.responseMs),
      interrupted: turn.isInterrupted,
    })),
  };
}
