import type { ChatRequest } from '../../../src/contract/index.ts';
import { seededRandom, type Random } from '../../../src/platform/random.ts';
import { applyProperties, createLookup, type SizedProperty } from '../../engine/sweep/property.ts';
import { sweep } from '../../engine/sweep/sweep.ts';
import { GENERATED } from '../accepted.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import { createChatDraft, toChatRequest, writeEscaped, type ChatDraft } from './request-draft.ts';
import {
  arePaired,
  ASSISTANT,
  chatProperties,
  ESCAPED,
  HISTORY,
  isExclusive,
  KEYS,
} from './request-properties.ts';
import { createSessionId, knownMetadata, valid } from './requests.ts';

/** The number of chat requests that contain all properties. */
export const GENERATED_CHATS = 12;

/** What the generated chat requests of a run combine. */
export const chatCombination = {
  properties: chatProperties,
  requests: GENERATED_CHATS,
  isExclusive,
  arePaired,
  imply: implyProperties,
};

const lookup = createLookup(chatProperties);
const valuesOfNoRun = seededRandom('');

/**
 * Returns the properties that requests have because others are put together: an assistant message
 * between two user messages, the number of messages, and the number of metadata keys.
 */
function implyProperties(sized: readonly SizedProperty<ChatDraft>[]): SizedProperty<ChatDraft>[] {
  const names = { userId: undefined, sessionId: '' };
  const { messages, metadata = {} } = generateChat(sized, valuesOfNoRun, names);
  const has = (name: string): boolean =>
    sized.some(
      ({ property }) => property.name === name || lookup(property.name)?.isSimpler(name) === true,
    );
  const keys = Object.keys(metadata).length;
  return chatProperties
    .filter(({ name }) => !has(name))
    .flatMap((property) => {
      if (property.name === ASSISTANT && messages.some(({ role }) => role === 'assistant')) {
        return [{ property, size: 0 }];
      }
      // The number of messages of the property is odd.
      if (property.name === HISTORY && messages.length > MESSAGES_FEW) {
        return [{ property, size: messages.length - 1 + (messages.length % 2) }];
      }
      return property.name === KEYS && keys > KEYS_FEW ? [{ property, size: keys }] : [];
    });
}

/** Fewer messages or metadata keys are not worth a property. */
const MESSAGES_FEW = 5;
const KEYS_FEW = 5;

/** Returns the chat request with some properties. */
export function generateChat(
  sized: readonly SizedProperty<ChatDraft>[],
  random: Random,
  names: { userId: string | undefined; sessionId: string },
): ChatRequest {
  const draft = createChatDraft(knownMetadata);
  return toChatRequest(applyProperties(draft, sized, chatProperties, random), names);
}

/** Sends chat requests with all properties, each in a new session. */
export async function sweepChats(context: SandboxContext): Promise<void> {
  const { random, users } = context;
  const values = random.fork('values');
  await sweep<ChatDraft>({
    ...chatCombination,
    send(sized, properties) {
      const names = { userId: users.chatAs, sessionId: createSessionId(context) };
      const request = generateChat(sized, values, names);
      const isEscaped = sized.some(({ property }) => property.name === ESCAPED);
      const body = isEscaped ? { text: writeEscaped(request) } : { json: request };
      return context.send({ ...valid(GENERATED, request), body, properties });
    },
  });
}
