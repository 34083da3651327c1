import type {
  AgentMessage,
  ChatRequest,
  ChatResponse,
  EvaluationHints,
  ScriptReply,
  ToolCall,
} from '../src/contract/index.ts';
import { replyTo, type AgentReply, type Conversation } from './dialogue.ts';
import type { ScriptPlayer } from './script-player.ts';
import type { ToolUse } from './tools.ts';

/** What the replies of an agent depend on, besides the request. */
export interface ChatOptions {
  seed: string;
  /** Returns the name in a user's profile; undefined when the user is unknown or has no name. */
  findCustomerName: (userId: string) => string | undefined;
  script: ScriptPlayer | undefined;
}

/** A reply to a chat request. */
export interface ReadyReply {
  /** Milliseconds to wait before sending it. */
  delayMs: number;
  /** Creates the response (spec 2.8) for a request that took this many milliseconds. */
  createResponse: (durationMs: number) => ChatResponse;
}

/** Replies to the chat requests of an agent, and to the captions of its calls. */
export type Chat = (request: ChatRequest) => ReadyReply;

/**
 * Replies to a chat request (spec 4.5). Only `messages` defines the conversation, so conversations
 * can't affect each other, and a reused session id starts a new conversation.
 */
export function replyToChat(options: ChatOptions, request: ChatRequest): ReadyReply {
  const conversation = readConversation(options, request);
  const scripted = options.script?.replyTo(conversation);
  const reply = scripted ? fromScript(scripted) : fromDialogue(replyTo(conversation), conversation);
  return {
    delayMs: scripted?.delay_ms ?? 0,
    createResponse: (durationMs) =>
      toResponse(reply, request, {
        durationMs,
        turn: conversation.turn,
        key: keyOf(options.seed, request),
      }),
  };
}

function toResponse(
  { content, tools, confidence, hints }: ComposedReply,
  { session_id }: ChatRequest,
  { durationMs, turn, key }: { durationMs: number; turn: number; key: string },
): ChatResponse {
  const message: AgentMessage = { role: 'assistant', content };
  if (tools.length > 0) {
    const idPrefix = `call_${key}_${turn}`;
    message.tool_calls = tools.map((use, index) => toToolCall(`${idPrefix}_${index + 1}`, use));
  }
  const response: ChatResponse = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  if (session_id !== undefined) response.session_id = session_id;
  response.chat_id = `chat_${key}`;
  response.metadata = {
    agent_confidence: confidence,
    response_time_ms: Math.round(durationMs),
    tools_used: [...new Set(tools.map(({ name }) => name))],
  };
  response.evaluation_metadata = hints;
  return response;
}

function toToolCall(
  id: string,
  { name, arguments: args, result }: ComposedReply['tools'][number],
): ToolCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args), result } };
}

function readConversation(options: ChatOptions, request: ChatRequest): Conversation {
  const { messages, user_id: userId, metadata } = request;
  let turn = 0;
  let userText = '';
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    turn += 1;
    userText = content;
  }
  const customerName = userId === undefined ? undefined : options.findCustomerName(userId);
  return { messages, userText, turn, customerName, metadata };
}

/**
 * Returns a key of 16 hexadecimal digits that is the same in all turns of a conversation. It depends
 * on the session id, or without one on the first user message.
 */
function keyOf(seed: string, { session_id, messages }: ChatRequest): string {
  return session_id === undefined
    ? fingerprint(`${seed}\nfirst ${messages.find(({ role }) => role === 'user')?.content ?? ''}`)
    : fingerprint(`${seed}\nsession ${session_id}`);
}

/**
 * Returns a 64-bit hash of a text in hexadecimal, from two multiplicative hashes. Ids have to be
 * distinct and reproducible but not hard to guess, and a node:crypto digest slowed the benchmark.
 */
function fingerprint(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995);
    high ^= high >>> 13;
  }
  return toHex(low ^ (high >>> 15)) + toHex(high ^ (low >>> 13));
}

function toHex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}

/** A reply of the dialogue or the script, in one shape. */
interface ComposedReply {
  content: string;
  tools: Pick<ToolUse, 'name' | 'arguments' | 'result'>[];
  confidence: number;
  hints: EvaluationHints;
}

function fromDialogue(reply: AgentReply, { turn }: Conversation): ComposedReply {
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

function fromScript(scripted: ScriptReply): ComposedReply {
  const { content, tool_calls: tools = [], evaluation_metadata: hints = {} } = scripted;
  return { content, tools, confidence: 1, hints };
}
