import type {
  AgentMessage,
  ChatRequest,
  ChatResponse,
  EvaluationHints,
  ToolCall,
} from '../src/contract/index.ts';
import { replyTo, type AgentReply, type Conversation } from './dialogue.ts';
import type { Prompter, ScriptedReply } from './script.ts';
import type { ToolUse } from './tools.ts';

/** What the chat needs of the rest of the agent. */
export interface ChatDeps {
  seed: string;
  /** Name in the profile of a simulated user; undefined for one that is unknown or has no name. */
  customerName: (userId: string) => string | undefined;
  prompter: Prompter | undefined;
}

/** A reply that is ready but for its time. */
export interface ReadyReply {
  /** Milliseconds to wait before it is sent. */
  delayMs: number;
  /** The response of spec 2.8, for a request that took so many milliseconds. */
  response: (tookMs: number) => ChatResponse;
}

/**
 * Answers a chat request (spec 4.5). The conversation is what `messages` holds and nothing else, so
 * two conversations can't meet, and a session id that comes again starts afresh.
 */
export function chat(deps: ChatDeps, request: ChatRequest): ReadyReply {
  const conversation = readConversation(deps, request);
  const scripted = deps.prompter?.replyTo(conversation);
  const reply = scripted ? fromScript(scripted) : fromDialogue(replyTo(conversation), conversation);
  return {
    delayMs: scripted?.delay_ms ?? 0,
    response: (tookMs) =>
      respond(reply, request, {
        tookMs,
        turn: conversation.turn,
        key: conversationKey(deps.seed, request),
      }),
  };
}

function respond(
  { content, tools, confidence, hints }: Composed,
  { session_id }: ChatRequest,
  { tookMs, turn, key }: { tookMs: number; turn: number; key: string },
): ChatResponse {
  const message: AgentMessage = { role: 'assistant', content };
  if (tools.length > 0) {
    const idStart = `call_${key}_${turn}`;
    message.tool_calls = tools.map((use, index) => toolCall(`${idStart}_${index + 1}`, use));
  }
  const response: ChatResponse = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  if (session_id !== undefined) response.session_id = session_id;
  response.chat_id = `chat_${key}`;
  response.metadata = {
    agent_confidence: confidence,
    response_time_ms: Math.round(tookMs),
    tools_used: [...new Set(tools.map(({ name }) => name))],
  };
  response.evaluation_metadata = hints;
  return response;
}

function toolCall(
  id: string,
  { name, arguments: given, result }: Composed['tools'][number],
): ToolCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given), result } };
}

function readConversation(deps: ChatDeps, request: ChatRequest): Conversation {
  const { messages, user_id: userId, metadata } = request;
  let turn = 0;
  let said = '';
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    turn += 1;
    said = content;
  }
  const customerName = userId === undefined ? undefined : deps.customerName(userId);
  return { messages, said, turn, customerName, metadata };
}

/**
 * What a conversation is told apart by: its session id, or where there is none the first thing that
 * the user said; the same in all its turns. 16 hexadecimal digits.
 */
function conversationKey(seed: string, { session_id, messages }: ChatRequest): string {
  return session_id === undefined
    ? fingerprint(`${seed}\nfirst ${messages.find(({ role }) => role === 'user')?.content ?? ''}`)
    : fingerprint(`${seed}\nsession ${session_id}`);
}

/**
 * 64 bits of a text, by two multiplying hashes. Ids have to differ and to come out the same again,
 * not to be hard to guess, and a digest of node:crypto showed in the benchmark.
 */
function fingerprint(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x5bd1e995);
    other ^= other >>> 13;
  }
  return hex(one ^ (other >>> 15)) + hex(other ^ (one >>> 13));
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}

interface Composed {
  content: string;
  tools: Pick<ToolUse, 'name' | 'arguments' | 'result'>[];
  confidence: number;
  hints: EvaluationHints;
}

function fromDialogue(reply: AgentReply, { turn }: Conversation): Composed {
  const { content, tools, confidence } = reply;
  const hints: EvaluationHints = {
    tone: reply.tone,
    resolution_step: turn,
    customer_acknowledged: reply.understood,
    response_included_status: reply.tellsStatus,
    customer_informed: reply.informs,
  };
  const lastTool = tools.at(-1);
  if (lastTool) {
    hints['tool_called'] = lastTool.name;
    hints['tool_success'] = tools.every(({ succeeded }) => succeeded);
  }
  const lookUps = tools.filter(({ name }) => name === 'look_up_order');
  if (lookUps.length > 0) hints['order_found'] = lookUps.every(({ succeeded }) => succeeded);
  return { content, tools, confidence, hints };
}

function fromScript(scripted: ScriptedReply): Composed {
  return {
    content: scripted.content,
    tools: scripted.tool_calls,
    confidence: 1,
    hints: scripted.evaluation_metadata,
  };
}
