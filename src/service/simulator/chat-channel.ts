import type { ChatMessage, ChatRequest } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Channel } from './channel.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { SessionPlan } from './session-plan.ts';
import type { AgentReply } from './agent-reply.ts';

const TURN_TIMEOUT_MS_DEFAULT = 30_000;

/** Returns the request of a turn. */
export const createChatRequest = (
  { scenario, persona, sessionId }: SessionPlan,
  userId: string | undefined,
  messages: ChatMessage[],
): ChatRequest => ({
  messages,
  ...(userId !== undefined && { user_id: userId }),
  session_id: sessionId,
  metadata: { ...scenario.metadata, scenario_id: scenario.id, persona: persona.name },
});

/**
 * Opens a conversation by `POST /v1/chat/completions` (spec 2.7). Every request contains the whole conversation,
 * the session id, the user id if a user was created, the scenario, and the persona. It never contains tools: the
 * agent runs its own.
 */
export function openChatChannel(
  { sandbox, clock }: { sandbox: Sandbox; clock: Clock },
  plan: SessionPlan,
  userId: string | undefined,
): Channel {
  const { scenario } = plan;
  const initial = scenario.initial_messages ?? [];
  const messages: ChatMessage[] = initial.map((message) => ({ ...message }));
  const timeoutMs = scenario.limits?.turn_timeout_ms ?? TURN_TIMEOUT_MS_DEFAULT;
  let lineSentAtMs: number | undefined;
  const requestReply = async (signal: AbortSignal): Promise<AgentReply> => {
    const request = createChatRequest(plan, userId, messages);
    lineSentAtMs = clock.monotonicMs();
    const reply = await sandbox.chat(request, timeoutMs, signal);
    messages.push({ role: 'assistant', content: reply.content });
    return reply;
  };
  return {
    say({ text }, signal) {
      messages.push({ role: 'user', content: text });
      return requestReply(signal);
    },
    async listen(signal) {
      return messages.at(-1)?.role === 'assistant' ? undefined : await requestReply(signal);
    },
    get lineSentAtMs() {
      return lineSentAtMs;
    },
    close: () => Promise.resolve(),
    reportsTools: true,
    notes: [],
    turnTaking: undefined,
  };
}
