import type { ChatMessage, ChatRequest } from '../../../src/contract/index.ts';
import type { Step, ProbeContext } from '../../engine/probe-context.ts';

/** A message of the user. */
export const user = (content: string): ChatMessage => ({ role: 'user', content });
/** What is said where nothing depends on it. */
export const GREETING = 'Hello, what can you help me with?';

/** Both cases, a hyphen and some length: an echo that folds or cuts the id shows. */
export const sessionId = ({ random }: ProbeContext): string =>
  `sk_${random.id(6)}${random.id(6).toUpperCase()}-Conformance-Check-Session`;

/** The keys that the specification names. */
export const knownMetadata = {
  scenario_id: 'late-parcel',
  persona: 'friendly',
  time_of_day: 'evening',
};

/** Keys that a scenario may bring, one nested and one of mixed types. */
export const otherMetadata = {
  session_type: 'support',
  stress_level: 3,
  location: { city: 'Zurich', coordinates: [47.37, 8.54] },
  tags: ['first', null, true],
};

/** A request with every optional part, in a session of its own. */
export function fullRequest(context: ProbeContext): ChatRequest {
  return {
    messages: [user(GREETING)],
    ...(context.users.chatAs === undefined ? {} : { user_id: context.users.chatAs }),
    session_id: sessionId(context),
    metadata: knownMetadata,
  };
}

/** A request that must be accepted. */
export const valid = (step: string, json: ChatRequest): Step => ({
  endpoint: 'chat',
  step,
  intent: 'valid',
  body: { json },
});

/** The request without one of its parts. */
export function without(request: ChatRequest, key: keyof ChatRequest): ChatRequest {
  const rest = { ...request };
  Reflect.deleteProperty(rest, key);
  return rest;
}
