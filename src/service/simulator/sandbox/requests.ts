/** What a session sends to the sandbox: its user, its turns by chat, and its call. */
import type { ChatMessage, ChatRequest, UserCreateRequest } from '../../../contract/index.ts';
import type { CallMessage } from '../../../voice/call/index.ts';
import type { SessionPlan } from '../session-plan.ts';

/** Returns the body of `POST /users`, which creates the simulated user (spec 4.7). */
export function createUserRequest({ scenario, persona, userId }: SessionPlan): UserCreateRequest {
  const { preferences, history, profile } = scenario;
  return {
    user_id: userId,
    metadata: {
      scenario_id: scenario.id,
      persona: persona.name,
      session_type: scenario.channel,
      ...(preferences && { preferences }),
      ...(history && { history }),
    },
    ...(profile && { profile: { ...profile } }),
  };
}

/**
 * Returns the body of `POST /v1/chat/completions` for a turn (spec 2.7). `messages` is the conversation so
 * far, and `userId` is undefined if no user was created.
 */
export const createChatRequest = (
  plan: SessionPlan,
  userId: string | undefined,
  messages: ChatMessage[],
): ChatRequest => ({
  messages,
  ...(userId !== undefined && { user_id: userId }),
  session_id: plan.sessionId,
  metadata: describeSession(plan),
});

/** Returns the fields of `start_call` except its type (spec 6). */
export const createStartCall = (plan: SessionPlan, userId: string | undefined): CallMessage => ({
  ...(userId !== undefined && { user_id: userId }),
  session_id: plan.sessionId,
  metadata: {
    ...describeSession(plan),
    // The caller supports captions, an extension.
    captions: true,
    audio_config: { codec: 'opus', sampleRate: 48_000 },
  },
});

const describeSession = ({
  scenario,
  persona,
}: SessionPlan): NonNullable<ChatRequest['metadata']> => ({
  ...scenario.metadata,
  scenario_id: scenario.id,
  persona: persona.name,
});
