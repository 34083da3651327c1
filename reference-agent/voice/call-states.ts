/**
 * The life of one call as a table: what may happen in each state, and what follows. No IO, no time.
 *
 *     waiting -> preparing -> offered -> connecting -> talking -> over
 */

/** Where a call stands. `over` is final. */
export type CallState = 'waiting' | 'preparing' | 'offered' | 'connecting' | 'talking' | 'over';

/** What can happen to a call. */
export type CallEvent =
  /** `start_call` came, or another of the messages. */
  | 'start_asked'
  | 'answered'
  | 'end_asked'
  /** Our side is through with a step. */
  | 'offer_made'
  | 'connected'
  /** The time that the state has is over. */
  | 'time_over'
  | Ending;

/** Why a call is over. */
export type Ending =
  | 'hung_up'
  | 'gone'
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

/** What a step makes the call do; an ending is all that there is to do for it. */
export type CallAction = 'make_offer' | 'send_offer' | 'take_answer' | 'begin_talking' | Ending;

/** A step of a call. */
export interface CallStep {
  state: CallState;
  action: CallAction;
}

/** How an ending is told. */
export interface EndingResponse {
  /** The WebSocket's; undefined where nothing is told: the socket is gone, or is to be cut. */
  closeCode: number | undefined;
  /** Of an ending that is an error, with one of the two codes that the specification names. */
  error?: ErrorDetails;
}

/** An error as the caller is told it. */
export interface ErrorDetails {
  code: 'connection_failed' | 'audio_error';
  message: string;
}

const failed = (message: string): ErrorDetails => ({ code: 'connection_failed', message });

/** How each ending is told (spec 7 names no close codes). */
export const endingResponses: Record<Ending, EndingResponse> = {
  hung_up: { closeCode: 1000 },
  gone: { closeCode: undefined },
  dropped: { closeCode: undefined },
  stopping: { closeCode: 1001 },
  out_of_turn: { closeCode: 1002, error: failed('This message has no place here in a call.') },
  not_text: { closeCode: 1003, error: failed('This is no message.') },
  bad_message: { closeCode: 1007, error: failed('This message can not be used.') },
  too_many_messages: { closeCode: 1008, error: failed('These are too many messages.') },
  codec_refused: {
    closeCode: 4406,
    error: { code: 'audio_error', message: 'The audio can not be set up.' },
  },
  not_answered: { closeCode: 4408, error: failed('The next message did not come in time.') },
  too_many_calls: { closeCode: 4429, error: failed('There are too many calls at this time.') },
  connection_lost: { closeCode: 1011, error: failed('The WebRTC connection failed.') },
  broken: { closeCode: 1011, error: failed('The agent failed to set the call up.') },
};

const TRANSITIONS: Record<CallState, Partial<Record<CallEvent, CallStep>>> = {
  waiting: {
    start_asked: { state: 'preparing', action: 'make_offer' },
    time_over: { state: 'over', action: 'not_answered' },
  },
  preparing: {
    offer_made: { state: 'offered', action: 'send_offer' },
    time_over: { state: 'over', action: 'broken' },
  },
  offered: {
    answered: { state: 'connecting', action: 'take_answer' },
    time_over: { state: 'over', action: 'not_answered' },
  },
  connecting: {
    connected: { state: 'talking', action: 'begin_talking' },
    time_over: { state: 'over', action: 'connection_lost' },
  },
  talking: {
    time_over: { state: 'over', action: 'hung_up' },
  },
  over: {},
};

/** The messages of the caller that have their time; at any other they are out of turn. */
const ORDERED_EVENTS: ReadonlySet<CallEvent> = new Set<CallEvent>(['start_asked', 'answered']);

/** What follows from an event; undefined when nothing does. */
export function nextStep(state: CallState, event: CallEvent): CallStep | undefined {
  if (state === 'over') return undefined;
  const step = TRANSITIONS[state][event];
  if (step) return step;
  if (event === 'end_asked') return { state: 'over', action: 'hung_up' };
  if (ORDERED_EVENTS.has(event)) return { state: 'over', action: 'out_of_turn' };
  return isEnding(event) ? { state: 'over', action: event } : undefined;
}

/** Whether an event, or an act, is the end of the call. */
export function isEnding(what: CallEvent | CallAction): what is Ending {
  return Object.hasOwn(endingResponses, what);
}
