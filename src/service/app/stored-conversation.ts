import { StartError } from '../../http-kit/errors.ts';
import {
  makeScenarioFromConversation,
  type ConversationScenario,
} from '../scenarios/conversation-scenario.ts';
import { openStore } from '../store/open-store.ts';
import { databaseFileOf, withDataFile } from './data-dir.ts';
import { OWNER_NAME_DEFAULT } from './keys.ts';

/** A conversation in a data directory. */
export interface StoredConversation {
  /** Data directory of a service, which may be running. */
  dataDir: string;
  conversationId: string;
  /** Name of the owner (default: `development`). */
  owner?: string;
}

/**
 * Makes a scenario from a stored conversation; undefined when there is no such conversation.
 * @throws StartError when the directory is not a data directory or can't be read.
 */
export async function makeScenarioFromDataDir({
  dataDir,
  conversationId,
  owner = OWNER_NAME_DEFAULT,
}: StoredConversation): Promise<ConversationScenario | undefined> {
  const file = databaseFileOf(dataDir);
  const store = await withDataFile(file, () => openStore({ file }));
  try {
    const ownerId = await store.owners.findId(owner);
    if (ownerId === undefined) throw new StartError(`${file} has no owner ${owner}.`);
    return await makeScenarioFromConversation(store, ownerId, conversationId);
  } finally {
    await store.close();
  }
}
