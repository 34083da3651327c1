import type { ChatMessage } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Channel } from './channel.ts';
import { createChatRequest } from './sandbox/requests.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { SessionPlan } from './session-plan.ts';
import type { TurnEnd } from './turn-end.ts';

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
  const messages: ChatMessage[] = scenario.initial_messages.map((message) => ({ ...message }));
  const timeoutMs = scenario.limits.turn_timeout_ms;
  let lineSentAtMs: number | undefined;
  const requestReply = async (signal: AbortSignal): Promise<TurnEnd> => {
    const request = createChatRequest(plan, userId, messages);
    lineSentAtMs = clock.monotonicMs();
    const reply = await sandbox.chat(request, timeoutMs, signal);
    messages.push({ role: 'assistant', content: reply.content });
    return { kind: 'replied', reply };
  };
  return {
    say({ text }, signal) {
      messages.push({ role: 'user', content: text });
      return requestReply(signal);
    },
    listen: requestReply,
    get lineSentAtMs() {
      return lineSentAtMs;
    },
    close: () =>
      Promise.resolve({
        reportsTools: true,
        notes: [],
        turnTaking: undefined,
        compareReplies: undefined,
      }),
  };
}
