import { join } from 'node:path';
import {
  makeScenarioFromConversation,
  type ConversationScenario,
} from '../domain/conversation-scenario.ts';
import { StartError } from '../domain/errors.ts';
import { withFileOf } from './start-failure.ts';
import { openStore } from '../store/open-store.ts';

/** Which conversation of which folder. */
export interface KeptConversation {
  /** The data folder of a service, which may be running. */
  dataDir: string;
  conversationId: string;
  /** Name of the owner; `development` when left out. */
  owner?: string;
}

/**
 * A conversation of a data folder as a scenario; undefined where there is none.
 * @throws StartError where the folder is no service's, or can't be read.
 */
export async function scenarioOfKept(
  kept: KeptConversation,
): Promise<ConversationScenario | undefined> {
  const { dataDir, conversationId, owner = 'development' } = kept;
  const file = join(dataDir, 'service.db');
  const store = await withFileOf(file, () => openStore({ file }));
  try {
    const ownerId = await store.owners.findId(owner);
    if (ownerId === undefined) throw new StartError(`${file} knows no owner ${owner}`);
    return await makeScenarioFromConversation(store, ownerId, conversationId);
  } finally {
    await store.close();
  }
}
