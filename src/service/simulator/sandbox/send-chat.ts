import { systemClock } from '../../../platform/clock.ts';
import type { SendChat } from '../../operations/playground.ts';
import { PAGE_CURES } from './cures.ts';
import { readReply } from './read-reply.ts';
import { openHttp, postChat } from './sandbox-http.ts';
import { SessionError } from '../session-error.ts';

/** Sends one chat request to a sandbox, without a retry, so that a person sees what happens. */
export const sendChat: SendChat = async ({ url, apiKey }, request, { timeoutMs, signal }) => {
  const http = openHttp({ url, apiKey, connections: 1, clock: systemClock });
  const empty = { agentResponse: '', toolCalls: [], latencyMs: undefined, response: undefined };
  try {
    const response = await http.send(postChat(request, apiKey), timeoutMs, signal);
    const { status, json, latencyMs } = response;
    const received = { ...empty, status, latencyMs, response: json };
    try {
      const { content, toolCalls, evaluationMetadata } = readReply(response, {
        hasKey: apiKey !== undefined,
        cures: PAGE_CURES,
      });
      return { ...received, agentResponse: content, toolCalls, evaluationMetadata };
    } catch (error) {
      if (error instanceof SessionError) return { ...received, problem: error.message };
      throw error;
    }
  } catch (error) {
    if (error instanceof SessionError) return { ...empty, problem: error.message };
    throw error;
  } finally {
    await http.close();
  }
};
