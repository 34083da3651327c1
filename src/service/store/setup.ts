import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';

// What an owner sets up, beside what comes in and what is found. Known to others by `store.ts`.

export interface EvalStore {
  /** Adds an eval, or replaces the one of that id. */
  put(ownerId: string, definition: EvalDefinition): Promise<void>;
  list(ownerId: string): Promise<EvalDefinition[]>;
  /** False when there is none. A deleted eval may still stand in the settings. */
  remove(ownerId: string, id: string): Promise<boolean>;
  settings(ownerId: string): Promise<Required<LiveSettings>>;
  /** Changes what is given. */
  putSettings(ownerId: string, settings: LiveSettings): Promise<void>;
}
