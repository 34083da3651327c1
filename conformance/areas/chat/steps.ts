import { stepsOf } from '../../engine/probe.ts';
import type { ChatRequirementId } from './requirements.ts';

/** The steps with a valid request, each with the requirement for its success. */
export const validChatSteps = {
  full: 'CHAT-001',
  control: 'CHAT-001',
  prompt: 'CHAT-001',
  'first on a connection': 'CHAT-001',
  'second on a connection': 'CHAT-001',
  minimal: 'CHAT-002',
  anonymous: 'CHAT-002',
  'next anonymous': 'CHAT-002',
  'without user_id': 'CHAT-003',
  'without session_id': 'CHAT-004',
  'without metadata': 'CHAT-005',
  'only user_id': 'CHAT-006',
  '64-character user_id': 'CHAT-006',
  'only session_id': 'CHAT-007',
  'known metadata': 'CHAT-008',
  'other metadata': 'CHAT-009',
  'only other metadata': 'CHAT-009',
  turn: 'CHAT-012',
  'after refusals': 'CHAT-013',
  overlap: 'CHAT-014',
} as const satisfies Readonly<Record<string, ChatRequirementId>>;

/** The steps with a malformed request, each with the requirement for its refusal. */
export const malformedChatSteps = {
  'messages missing': 'CHAT-060',
  'messages a string': 'CHAT-061',
  'messages an object': 'CHAT-061',
  'messages null': 'CHAT-061',
  'message a string': 'CHAT-061',
  'role missing': 'CHAT-062',
  'role a number': 'CHAT-062',
  'role tool': 'CHAT-063',
  'role unknown': 'CHAT-063',
  'role unknown in the last of two': 'CHAT-063',
  'content missing': 'CHAT-064',
  'content missing in the first of two': 'CHAT-064',
  'content a number': 'CHAT-065',
  'content an object': 'CHAT-065',
  'content null': 'CHAT-065',
  'body not JSON': 'CHAT-066',
  'body empty': 'CHAT-066',
  'body an array': 'CHAT-066',
} as const satisfies Readonly<Record<string, ChatRequirementId>>;

/** A step with a valid chat request. */
export type ValidChatStep = keyof typeof validChatSteps;

/** The step of all generated requests. Their properties name the requirements for their success. */
export const GENERATED = 'generated';

/** A step with a malformed chat request. */
export type MalformedChatStep = keyof typeof malformedChatSteps;

/** A step with a chat request for which the specification defines no response. */
export type OpenChatStep =
  | 'wrong key'
  | 'no key'
  | 'empty messages'
  | 'content in parts'
  | 'user_id a number'
  | 'metadata a string'
  | 'content type text/plain';

/** Any step of the chat probes. */
export type ChatStep = ValidChatStep | typeof GENERATED | MalformedChatStep | OpenChatStep;

/** Creates a predicate for the exchanges of some steps: `isChatStep('full')(exchange)`. */
export const isChatStep = stepsOf<ChatStep>('chat');
