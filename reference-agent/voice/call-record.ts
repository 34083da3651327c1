import { isoTime } from '../../src/platform/clock.ts';
import type { CallState, Ending } from './call-states.ts';

/** One turn, as the agent lived it; times on the monotonic clock, in milliseconds. */
export interface TurnRecord {
  /** The clip of the kit that was heard; undefined for any other speech. */
  heardClip: string | undefined;
  speechStartMs: number;
  speechEndMs: number;
  /** The clip of the kit, or the id of a line that was spoken; undefined until there is one. */
  replyClip: string | undefined;
  /** Whether the caller said in words what it spoke. */
  isCaptioned: boolean;
  /** What the agent holds to be its response time; what it does not know of is not in it. */
  responseMs: number | undefined;
  /** When the first audible sound of the reply left; undefined while, or if, none did. */
  firstAudibleMs: number | undefined;
  /** Whether the caller spoke again before the reply was over. */
  isInterrupted: boolean;
}

/** What the agent knows of a call; without a word of what was said. */
export interface CallRecord {
  callId: string;
  sessionId: string | undefined;
  isEcho: boolean;
  state: CallState;
  ending: Ending | undefined;
  closeCode: number | undefined;
  /** Milliseconds since the Unix epoch. */
  openedAtMs: number;
  /** On the monotonic clock, as are all below. */
  openedMs: number;
  readyMs: number | undefined;
  connectedMs: number | undefined;
  endedMs: number | undefined;
  packetsSent: number;
  packetsReceived: number;
  /** Messages of types that the agent does not know. */
  unknownMessages: number;
  /** Captions that came. */
  captions: number;
  turns: TurnRecord[];
}

/** A record that begins now. */
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

/** The calls that are open and those that were, oldest first. */
export interface CallHistory {
  open(record: CallRecord): void;
  /** What is over makes room when there are too many. */
  close(record: CallRecord): void;
  view(): object;
  /** Forgets the calls that are over. */
  clear(): void;
}

const CLOSED_CALLS_MAX = 200;

/** An empty book. */
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

/** A record as the wire has it: times in milliseconds since the call's WebSocket opened. */
function viewOf(record: CallRecord): Record<string, unknown> {
  const since = (ms: number | undefined): number | null =>
    ms === undefined ? null : Math.round((ms - record.openedMs) * 1_000) / 1_000;
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
          : Math.round((turn.firstAudibleMs - turn.speechEndMs) * 1_000) / 1_000,
      stated_response_ms: turn.responseMs === undefined ? null : Math.round(turn.responseMs),
      interrupted: turn.isInterrupted,
    })),
  };
}
