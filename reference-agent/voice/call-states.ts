/**
 * The state machine of a call, as a table of transitions. It does no I/O and reads no clock.
 *
 *     waiting -> preparing -> offered -> connecting -> talking -> over
 */

/** The state of a call. `over` is final. */
export type CallState = 'waiting' | 'preparing' | 'offered' | 'connecting' | 'talking' | 'over';

/** An event of a call. */
export type CallEvent =
  /** The caller sent `start_call`, an answer, or `end_call`. */
  | 'start_requested'
  | 'answered'
  | 'end_requested'
  /** The agent completed a step. */
  | 'offer_created'
  | 'connected'
  /** The time limit of the state expired. */
  | 'timed_out'
  | Ending;

/** Why a call ended. */
export type Ending =
  | 'hung_up'
  | 'disconnected'
  | 'out_of_turn'
  | 'not_text'
  | 'bad_message'
  | 'too_many_messages'
  | 'codec_refused'
  | 'not_answered'
  | 'too_many_calls'
  | 'connection_lost'
  | 'stopping'
  | 'dropped'
  | 'broken';

/** What to do after a transition; an ending is its own action. */
export type CallAction = 'create_offer' | 'send_offer' | 'accept_answer' | 'start_media' | Ending;

/** The result of an event: the next state and what to do. */
export interface CallStep {
  state: CallState;
  action: CallAction;
}

/** What the caller is sent when a call ends. */
export interface EndingResponse {
  /**
   * WebSocket close code; undefined if the socket is closed already or must be terminated without a
   * close frame.
   */
  closeCode: number | undefined;
  /** The error message to send first, with one of the two codes of the specification. */
  error?: ErrorDetails;
}

/** The error that the caller receives. */
export interface ErrorDetails {
  code: 'connection_failed' | 'audio_error';
  message: string;
}

const failed = (message: string): ErrorDetails => ({ code: 'connection_failed', message });

/** What the caller is sent for each ending (the specification defines no close codes). */
export const endingResponses: Record<Ending, EndingResponse> = {
  hung_up: { closeCode: 1000 },
  disconnected: { closeCode: undefined },
  dropped: { closeCode: undefined },
  stopping: { closeCode: 1001 },
  out_of_turn: {
    closeCode: 1002,
    error: failed('This message is not expected at this point of the call.'),
  },
  not_text: { closeCode: 1003, error: failed('Messages must be text frames.') },
  bad_message: { closeCode: 1007, error: failed('This message is invalid.') },
  too_many_messages: { closeCode: 1008, error: failed('The call has too many messages.') },
  codec_refused: {
    closeCode: 4406,
    error: { code: 'audio_error', message: 'The audio cannot be set up.' },
  },
  not_answered: { closeCode: 4408, error: failed('The next message did not arrive in time.') },
  too_many_calls: { closeCode: 4429, error: failed('There are too many concurrent calls.') },
  connection_lost: { closeCode: 1011, error: failed('The WebRTC connection failed.') },
  broken: { closeCode: 1011, error: failed('The agent failed to set up the call.') },
};

const TRANSITIONS: Record<CallState, Partial<Record<CallEvent, CallStep>>> = {
  waiting: {
    start_requested: { state: 'preparing', action: 'create_offer' },
    timed_out: { state: 'over', action: 'not_answered' },
  },
  preparing: {
    offer_created: { state: 'offered', action: 'send_offer' },
    timed_out: { state: 'over', action: 'broken' },
  },
  offered: {
    answered: { state: 'connecting', action: 'accept_answer' },
    timed_out: { state: 'over', action: 'not_answered' },
  },
  connecting: {
    connected: { state: 'talking', action: 'start_media' },
    timed_out: { state: 'over', action: 'connection_lost' },
  },
  talking: {
    timed_out: { state: 'over', action: 'hung_up' },
  },
  over: {},
};

/** Messages that are valid in one state only; in any other state they are out of turn. */
const ORDERED_EVENTS: ReadonlySet<CallEvent> = new Set<CallEvent>(['start_requested', 'answered']);

/** Returns the transition for an event; undefined if the event is ignored. */
export function nextStep(state: CallState, event: CallEvent): CallStep | undefined {
  if (state === 'over') return undefined;
  const step = TRANSITIONS[state][event];
  if (step) return step;
  if (event === 'end_requested') return { state: 'over', action: 'hung_up' };
  if (ORDERED_EVENTS.has(event)) return { state: 'over', action: 'out_of_turn' };
  return isEnding(event) ? { state: 'over', action: event } : undefined;
}

/** Returns whether an event or action ends the call. */
export function isEnding(what: CallEvent | CallAction): what is Ending {
  return Object.hasOwn(endingResponses, what);
}
