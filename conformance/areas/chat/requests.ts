import type { ChatMessage, ChatRequest } from '../../../src/contract/index.ts';
import { type Step, stepsOf } from '../../engine/probe.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** Returns a user message. */
export const user = (content: string): ChatMessage => ({ role: 'user', content });

/** The text of a message whose content doesn't matter. */
export const GREETING = 'Hello, what can you help me with?';

/** A phrase in the messages of concurrent requests. Mutants recognize them by it. */
export const REFERENCE_PHRASE = 'My reference number is';

/** The step of two requests of one session at the same moment. */
export const SAME_SESSION = 'same session';

/** The steps of chat requests, except malformed ones and those that try other forms of the key. */
export type ChatStep =
  | 'minimal'
  | 'full'
  | 'without user_id'
  | 'without session_id'
  | 'without metadata'
  | 'only session_id'
  | 'only user_id'
  | 'known metadata'
  | 'only other metadata'
  | 'generated'
  | 'turn'
  | 'first on a connection'
  | 'second on a connection'
  | 'overlap'
  | typeof SAME_SESSION
  | 'anonymous'
  | 'next anonymous'
  | 'prompt'
  | 'control'
  | 'after refusals'
  | '64-character user_id'
  // Requests whose response the specification leaves open.
  | 'wrong key'
  | 'no key'
  | 'empty messages'
  | 'content in parts'
  | 'user_id a number'
  | 'metadata a string'
  | 'content type text/plain'
  | `body of ${string}`
  // Only in recordings of earlier versions.
  | 'other metadata';

/** Creates a predicate for the exchanges of some steps: `isChatStep('full')(exchange)`. */
export const isChatStep = stepsOf<ChatStep>('chat');

/** Returns a long session id with mixed case and hyphens, so that any change in the echo shows. */
export const createSessionId = ({ random }: SandboxContext): string =>
  `sk_${random.id(6)}${random.id(6).toUpperCase()}-Conformance-Check-Session`;

/** The metadata keys that the specification names. */
export const knownMetadata = {
  scenario_id: 'late-parcel',
  persona: 'friendly',
  time_of_day: 'evening',
};

/** Metadata keys that a scenario may add, one of them nested and one with mixed types. */
export const otherMetadata = {
  session_type: 'support',
  stress_level: 3,
  location: { city: 'Zurich', coordinates: [47.37, 8.54] },
  tags: ['first', null, true],
};

/** Returns a request with every optional field, in a new session. */
export function fullRequest(context: SandboxContext): ChatRequest {
  return {
    messages: [user(GREETING)],
    ...(context.users.chatAs === undefined ? {} : { user_id: context.users.chatAs }),
    session_id: createSessionId(context),
    metadata: knownMetadata,
  };
}

/** Returns a step whose request must succeed. */
export const valid = (step: ChatStep, json: ChatRequest): Step<ChatStep> => ({
  endpoint: 'chat',
  step,
  intent: 'valid',
  body: { json },
});

/** Returns a step for whose request the specification defines no response. */
export const open = (
  step: ChatStep,
  json: unknown,
  more: Partial<Step<ChatStep>> = {},
): Step<ChatStep> => ({
  endpoint: 'chat',
  step,
  intent: 'open',
  body: { json },
  ...more,
});

/** Returns the request without one of its fields. */
export function omitField(request: ChatRequest, key: keyof ChatRequest): ChatRequest {
  const rest = { ...request };
  Reflect.deleteProperty(rest, key);
  return rest;
}
