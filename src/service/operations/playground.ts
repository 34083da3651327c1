import type { ChatRequest, TranscriptUpload } from '../../contract/index.ts';
import { randomUuid } from '../../platform/random.ts';
import type { Store } from '../store/store.ts';
import type { ToolCall } from '../turns/turn-types.ts';
import { findDocument } from './documents.ts';
import type { KitFunctions, ReplyFinding } from './kit-functions.ts';

/** The most turns of a conversation on the page of an agent. */
export const PLAYGROUND_TURNS_MAX = 100;

/** The most findings of a reply that are kept. */
const FINDINGS_MAX = 10;

/** How long a reply may take. */
const REPLY_TIMEOUT_MS = 60_000;

/** A conversation of a person with an agent. Its page keeps it, not the service. */
export interface PlaygroundConversation {
  sessionId: string;
  /** Sent as `user_id`; empty to send none. */
  userId: string;
  turns: readonly PlaygroundTurn[];
}

/** What a person said, and the reply or why there is none. */
export interface PlaygroundTurn {
  userInput: string;
  /** Empty if there is a problem. */
  agentResponse: string;
  toolCalls: readonly ToolCall[];
  evaluationMetadata?: object | undefined;
  latencyMs: number | undefined;
  problem?: string | undefined;
  /** The status of the response; undefined if none arrived. */
  status?: number | undefined;
  /** What the response breaks; absent if it obeys the interface. */
  findings?: readonly ReplyFinding[];
  /** The response body as JSON; undefined if there is none. */
  response: unknown;
}

/** Sends one chat request to a sandbox. Operating failures are problems of the turn. */
export type SendChat = (
  sandbox: { url: string; apiKey: string | undefined },
  request: ChatRequest,
  options: { timeoutMs: number; signal: AbortSignal },
) => Promise<Omit<PlaygroundTurn, 'userInput'>>;

/** What conversations with agents need. */
export interface PlaygroundDeps {
  store: Pick<Store, 'documents'>;
  sendChat: SendChat;
  kit: KitFunctions | undefined;
}

/** Begins a conversation. */
export const beginConversation = (): PlaygroundConversation => ({
  sessionId: `playground-${randomUuid()}`,
  userId: '',
  turns: [],
});

/** Returns the request that says a line after the turns so far (spec 2.7). */
export function makeChatRequest(
  { sessionId, userId, turns }: PlaygroundConversation,
  line: string,
): ChatRequest {
  const earlier = turns.flatMap(({ userInput, agentResponse, problem }) =>
    problem === undefined
      ? ([
          { role: 'user', content: userInput },
          { role: 'assistant', content: agentResponse },
        ] as const)
      : [],
  );
  return {
    messages: [...earlier, { role: 'user', content: line }],
    session_id: sessionId,
    ...(userId !== '' && { user_id: userId }),
  };
}

/** Says a line to an agent, and returns the conversation with its reply. @throws RequestError `not_found`. */
export async function sayTo(
  { store, sendChat, kit }: PlaygroundDeps,
  { ownerId, agentId, signal }: { ownerId: string; agentId: string; signal: AbortSignal },
  conversation: PlaygroundConversation,
  line: string,
): Promise<PlaygroundConversation> {
  const { url } = await findDocument(store, ownerId, 'agent', agentId);
  const apiKey = await store.documents.findApiKey(ownerId, agentId);
  const request = makeChatRequest(conversation, line);
  const limits = { timeoutMs: REPLY_TIMEOUT_MS, signal };
  const received = await sendChat({ url, apiKey }, request, limits);
  const turn = { userInput: line, ...(await judgeReply(kit, request, received)) };
  return { ...conversation, turns: [...conversation.turns, turn] };
}

/** Returns a conversation as an upload. Turns without a reply are left out. */
export function toUpload(
  { sessionId, turns }: PlaygroundConversation,
  agentName: string,
): TranscriptUpload {
  const replied = turns
    .filter(({ problem }) => problem === undefined)
    .map(({ userInput, agentResponse, evaluationMetadata }) => ({
      user_input: userInput,
      agent_response: agentResponse,
      ...(evaluationMetadata && { evaluation_metadata: { ...evaluationMetadata } }),
    }));
  return {
    session_id: sessionId,
    run: `Playground: ${agentName}`.slice(0, 200),
    turns: replied as TranscriptUpload['turns'],
  };
}

/** Adds to a turn which requirements its response breaks. */
async function judgeReply<Turn extends Omit<PlaygroundTurn, 'userInput'>>(
  kit: Pick<KitFunctions, 'judgeReply'> | undefined,
  request: ChatRequest,
  turn: Turn,
): Promise<Turn> {
  const { response, status, latencyMs = 0 } = turn;
  if (!kit || response === undefined || status === undefined) return turn;
  const findings = await kit.judgeReply(request, { status, json: response, latencyMs });
  return findings.length === 0 ? turn : { ...turn, findings: findings.slice(0, FINDINGS_MAX) };
}
