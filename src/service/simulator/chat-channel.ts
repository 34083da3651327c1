import type { ChatMessage, ChatRequest } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Channel } from './channel.ts';
import type { Sandbox } from './sandbox.ts';
import type { SessionPlan } from './session-plan.ts';
import type { AgentReply } from './simulated-session.ts';

const turnTimeoutMsDefault = 30_000;

/**
 * A conversation by `POST /v1/chat/completions` (spec 2.7): every request carries all that was said
 * before, the session's id, the user's where one was created, the scenario and the persona; never
 * tools, since the agent runs its own.
 */
export function chatChannel(
  { sandbox, clock }: { sandbox: Sandbox; clock: Clock },
  plan: SessionPlan,
  userId: string | undefined,
): Channel {
  const { scenario, persona, sessionId } = plan;
  const before = scenario.initial_messages ?? [];
  const messages: ChatMessage[] = before.map((message) => ({ ...message }));
  const timeoutMs = scenario.limits?.turn_timeout_ms ?? turnTimeoutMsDefault;
  let saidAtMs: number | undefined;
  const ask = async (signal: AbortSignal): Promise<AgentReply> => {
    const request: ChatRequest = {
      messages,
      ...(userId !== undefined && { user_id: userId }),
      session_id: sessionId,
      metadata: { ...scenario.metadata, scenario_id: scenario.id, persona: persona.name },
    };
    saidAtMs = clock.monotonicMs();
    const reply = await sandbox.chat(request, timeoutMs, signal);
    messages.push({ role: 'assistant', content: reply.content });
    return reply;
  };
  return {
    say(line, signal) {
      messages.push({ role: 'user', content: line });
      return ask(signal);
    },
    async listen(signal) {
      return messages.at(-1)?.role === 'assistant' ? undefined : await ask(signal);
    },
    get saidAtMs() {
      return saidAtMs;
    },
    close: () => Promise.resolve(),
    tellsTools: true,
    notes: [],
  };
}
