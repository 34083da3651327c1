import {
  callerMessageNames,
  describeViolations,
  isMessage,
  findViolations,
  type CallMetadata,
  type CallReady,
  type Caption,
  type ConversationUpdate,
  type EndCall,
  type ChatResponse,
  type EvaluationHints,
  type IceCandidate,
  type StartCall,
  type TurnHints,
  type VoiceError,
  type WebrtcAnswer,
} from '../../src/contract/index.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import type { ErrorDetails } from './call-states.ts';
import type { HeardTurn } from './turn-listener.ts';
import { roundTo } from '../../src/platform/round.ts';

/** The reply to a turn with a caption. */
export interface CaptionedReply {
  caption: string;
  /** Milliseconds to wait before it is spoken. */
  delayMs: number;
  response: ChatResponse;
  /** Resolves with undefined if the reply can't be spoken. */
  clip: Promise<Clip | undefined>;
  /** Whether the caller was sent a `conversation_update` for it. */
  isReported: boolean;
}

/** A message from the caller. */
export type CallerMessage = StartCall | WebrtcAnswer | IceCandidate | Caption | EndCall;

/** A parsed message, or the problem with it. */
export type ReadMessage =
  | { kind: 'message'; message: CallerMessage }
  /** A type that this agent does not know; the message is ignored. */
  | { kind: 'unknown' }
  | { kind: 'invalid'; problem: string };

/** An extension, known only if the agent supports captions. */
const CAPTION_TYPE = 'caption';

/** Parses a message (spec 6). Accepts any text. */
export function readMessage(text: string, supportsCaptions: boolean): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      kind: 'invalid',
      problem: 'the message is not JSON; it must be an object with a type',
    };
  }
  const type = typeof value === 'object' && value !== null && 'type' in value && value.type;
  if (typeof type !== 'string') {
    return {
      kind: 'invalid',
      problem: 'the message has no type; it must be an object with a type',
    };
  }
  const isCaption = supportsCaptions && type === CAPTION_TYPE;
  const name = isCaption
    ? 'Caption'
    : Object.hasOwn(callerMessageNames, type)
      ? callerMessageNames[type]
      : undefined;
  if (name === undefined) return { kind: 'unknown' };
  if (isMessage(name, value)) return { kind: 'message', message: value as CallerMessage };
  const problem = describeViolations(findViolations(name, value));
  return { kind: 'invalid', problem: `not a ${type}: ${problem}` };
}

/** The ids of a call. */
export interface CallIds {
  callId: string;
  /** From `start_call`; undefined if it had none. */
  sessionId: string | undefined;
}

/** A `start_call` message, in either form. */
export interface CallRequest {
  sessionId: string | undefined;
  userId: string | undefined;
  scenarioId: string;
  metadata: CallMetadata | undefined;
  /** Whether the caller requested an echo, to measure latency; an extension. */
  isEcho: boolean;
  /** Whether the caller supports captions, and wants an update with the text of the greeting. */
  wantsCaptions: boolean;
  /** Why the call must be rejected; undefined if it need not be. */
  rejection: string | undefined;
}

const SAMPLE_RATES: readonly number[] = [8_000, 12_000, 16_000, 24_000, 48_000];

/**
 * Reads `start_call`: the audio configuration is at the top level in the minimal form, under
 * `metadata` in the full form.
 */
export function readStart(start: StartCall): CallRequest {
  const { session_id, user_id, metadata, audio_config } = start;
  const { codec = 'opus', sampleRate = 48_000 } = audio_config ?? metadata?.audio_config ?? {};
  const received = JSON.stringify(codec.slice(0, 60));
  const rejection =
    codec.toLowerCase() !== 'opus'
      ? `The codec ${received} is not supported. Supported: opus.`
      : SAMPLE_RATES.includes(sampleRate)
        ? undefined
        : `Opus has no sample rate ${sampleRate}. It has ${SAMPLE_RATES.join(', ')}.`;
  return {
    sessionId: session_id,
    userId: user_id,
    metadata,
    scenarioId: metadata?.scenario_id ?? '',
    isEcho: metadata?.context === 'echo',
    wantsCaptions: metadata?.captions === true,
    rejection,
  };
}

/** Returns why a message does not belong to this call; undefined if it does. */
export function findIdMismatch(
  { call_id, session_id }: WebrtcAnswer | IceCandidate | Caption,
  { callId, sessionId }: CallIds,
): string | undefined {
  if (call_id !== callId) return `call_id must be ${callId}, as in call_ready`;
  const isOwn = session_id === undefined || session_id === sessionId;
  return isOwn ? undefined : 'session_id must be the same as in start_call';
}

const idsOf = ({ callId, sessionId }: CallIds): { session_id?: string; call_id: string } => ({
  ...(sessionId !== undefined && { session_id: sessionId }),
  call_id: callId,
});

/**
 * Creates `call_ready` with the offer. The media path does not exist yet, so its quality is
 * unknown.
 */
export function createCallReady(ids: CallIds, sdp: string, supportsCaptions: boolean): CallReady {
  return {
    type: 'call_ready',
    ...idsOf(ids),
    webrtc_offer: { type: 'offer', sdp },
    metadata: {
      agent_ready: true,
      audio_codec: 'opus',
      estimated_setup_time: '200 ms',
      ...(supportsCaptions && { captions: true }),
    },
    evaluation_metadata: {
      connection_quality: 'not measured yet',
      setup_success: true,
      audio_path_established: false,
    },
  };
}

/** A turn to report. */
export interface TurnReport {
  heard: HeardTurn;
  /** What the caller said; undefined if the agent does not know. */
  text: string | undefined;
  reply: Clip;
  responseMs: number;
  /** The reply from the dialogue, for a turn with a caption. */
  captioned?: CaptionedReply | undefined;
  /** What was said of the reply before the caller interrupted it; undefined if it was not. */
  spoken?: string | undefined;
}

/** Creates the `conversation_update` of a turn. */
export function createTurnUpdate(ids: CallIds, turn: TurnReport): ConversationUpdate {
  const { heard, text, reply, responseMs, captioned, spoken } = turn;
  const seconds = (heard.durationMs / 1_000).toFixed(1);
  const hints: TurnHints = {
    understood_intent: text !== undefined,
    appropriate_response: text !== undefined,
    tone: 'friendly',
    next_action: reply.id === 'goodbye' ? 'end_call' : 'listen',
  };
  const toolCalls = captioned?.response.choices[0].message.tool_calls;
  const recognized = roundTo(heard.recognized, 2);
  return {
    type: 'conversation_update',
    ...idsOf(ids),
    transcript: { user: text ?? `(${seconds} s of speech)`, agent: spoken ?? reply.text },
    ...(toolCalls && { tool_calls: toolCalls }),
    metadata: {
      audio_quality: heard.lost < 0.01 ? 'good' : heard.lost < 0.05 ? 'fair' : 'poor',
      response_time_ms: Math.round(responseMs),
      confidence_score: captioned?.response.metadata?.agent_confidence ?? recognized,
      ...(spoken !== undefined && { interrupted: true }),
    },
    evaluation_metadata: mergeChatHints(hints, captioned?.response.evaluation_metadata),
  };
}

/** Adds the hints of chat. A chat hint may replace a call hint only if it has the same type. */
function mergeChatHints(hints: TurnHints, chat: EvaluationHints = {}): TurnHints {
  const ofChat = Object.entries(chat).filter(
    ([name, value]) => hints[name] === undefined || typeof hints[name] === typeof value,
  );
  const understood = chat['customer_acknowledged'] !== false && hints.understood_intent === true;
  return { ...hints, understood_intent: understood, ...Object.fromEntries(ofChat) };
}

/**
 * Creates the `conversation_update` of the greeting; `spoken` is what was said of it before the caller
 * interrupted it.
 */
export function createGreetingUpdate(
  ids: CallIds,
  greeting: Clip,
  spoken?: string,
): ConversationUpdate {
  return {
    type: 'conversation_update',
    ...idsOf(ids),
    transcript: { user: '', agent: spoken ?? greeting.text },
    ...(spoken !== undefined && { metadata: { interrupted: true } }),
  };
}

/** Creates an `error` message. */
export function createErrorMessage(error: ErrorDetails, details: string): VoiceError {
  return { type: 'error', error: { ...error, details } };
}
