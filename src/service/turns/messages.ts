import { isToolCallPart, readCallId, readCallName } from '../../contract/index.ts';
import { isObject } from '../../platform/json.ts';

/** A message of a conversation, reduced to what turns need. */
export interface Message {
  role: 'user' | 'assistant' | 'system' | 'tool' | 'other';
  /** The text of all parts, joined by line breaks. */
  text: string;
  /** Tool calls that it requests. */
  calls: readonly CallPart[];
  /** Results of tool calls. */
  responses: readonly ResponsePart[];
  /** The model stopped to call tools, even if the message does not contain the calls. */
  stopsForTools: boolean;
}

export interface CallPart {
  id: string | undefined;
  name: string;
  arguments: unknown;
}

export interface ResponsePart {
  /** The id of the tool call. */
  id: string | undefined;
  result: unknown;
}

/**
 * Reads a message array (spec 2.1) in the forms that instrumentations send: parts or plain content,
 * tool calls inside or outside the parts, any role. Skips what it can't read; never throws.
 */
export function readMessages(json: string | undefined): Message[] {
  const value = json === undefined ? undefined : parseJson(json);
  if (Array.isArray(value)) return value.map(readMessage);
  return typeof value === 'object' && value !== null ? [readMessage(value)] : [];
}

/** Parses a value that is the JSON text of an object or an array; returns others unchanged. */
export function unwrapJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  return parseJson(value) ?? value;
}

/** Returns whether a message contains only tool results, regardless of its role. */
export function isToolResponse({ role, text, responses }: Message): boolean {
  return role === 'tool' || (responses.length > 0 && text === '');
}

/** Returns the index of the last user message, or -1. */
export function findLastUserIndex(input: readonly Message[]): number {
  const index = input.findLastIndex(
    (message) => message.role === 'user' && !isToolResponse(message),
  );
  return index >= 0 ? index : input.findLastIndex(({ role, text }) => role === 'other' && text);
}

/** Returns the text of the last message in a model's output that the agent wrote. */
export function findAgentText(output: readonly Message[]): string {
  return output.findLast(({ role, text }) => text !== '' && AGENT_ROLES.has(role))?.text ?? '';
}

/** Output messages with an unknown role, or none, count as the agent's. */
const AGENT_ROLES: ReadonlySet<Message['role']> = new Set(['assistant', 'other']);

type Json = Readonly<Record<string, unknown>>;

/** Deeper values are not read, because later code may process them recursively. */
const DEPTH_MAX = 100;

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isWithin(value, DEPTH_MAX) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1));
}

const noMessage: Json = {};

// Shared, because a conversation can have millions of messages without calls.
const noCalls: readonly CallPart[] = [];
const noResponses: readonly ResponsePart[] = [];

function readMessage(value: unknown): Message {
  const json = isObject(value) ? value : noMessage;
  const role = readRole(json['role']);
  const parts = [...toList(json['parts'] ?? json['content'])];
  if (!isObject(value)) parts.push(value);
  const calls = [...parts.filter(isToolCallPart), ...toList(json['tool_calls']).filter(isObject)];
  const texts = parts.map(readText).filter((text) => text !== '');
  const responseParts = parts.filter(isResponse);
  const responses = responseParts.length === 0 ? noResponses : responseParts.map(readResponse);
  const message: Message = {
    role,
    text: texts.join('\n'),
    calls: calls.length === 0 ? noCalls : calls.map(readCall),
    responses,
    stopsForTools: calls.length > 0 || /^tool/i.test(toText(json['finish_reason']) ?? ''),
  };
  // In the chat completions format, the message itself is the tool result.
  if (role !== 'tool' || responses.length > 0) return message;
  const result = unwrapJson(message.text);
  const id = toText(json['tool_call_id']) ?? toText(json['id']);
  return { ...message, text: '', responses: [{ id, result }] };
}

const roles: Readonly<Record<string, Message['role']>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  ai: 'assistant',
  agent: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'tool',
  function: 'tool',
};

function readRole(value: unknown): Message['role'] {
  const name = toText(value)?.toLowerCase() ?? '';
  return (Object.hasOwn(roles, name) ? roles[name] : undefined) ?? 'other';
}

/** Parts are an array, a single object, or plain text. */
function toList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

function readText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return '';
  const type = toText(part['type']) ?? 'text';
  if (!/^(text|(input|output)_text)$/.test(type)) return '';
  return toText(part['content']) ?? toText(part['text']) ?? '';
}

const responseTypes = /^((server_)?tool[_-](call_response|result)|function_call_output)$/;

function isResponse(part: unknown): part is Json {
  return isObject(part) && responseTypes.test(toText(part['type']) ?? '');
}

/** Reads a tool call in the format of the GenAI conventions, model vendors, or chat completions. */
function readCall(part: Json): CallPart {
  const inner = isObject(part['function']) ? part['function'] : part;
  return {
    id: readCallId(part),
    name: readCallName(part) ?? '',
    arguments: unwrapJson(inner['arguments'] ?? inner['input'] ?? inner['args'] ?? null),
  };
}

function readResponse(part: Json): ResponsePart {
  const result = part['response'] ?? part['result'] ?? part['output'] ?? part['content'];
  return { id: readCallId(part), result: unwrapJson(result ?? null) };
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
