import type { SdkSettings } from '../../exporters/sdk-settings.ts';
import { dialects } from './table.ts';

const TOPICS = [
  'withoutOperation',
  'withoutMessages',
  'withoutInput',
  'withoutToolDetails',
  'withoutTurn',
  'conversationId',
] as const;

/** Lists each SDK and instrumentation once, with everything that the table of dialects says about it. */
export function listSdkSettings(): SdkSettings[] {
  return [...Map.groupBy(dialects, ({ name }) => name)].map(([name, entries]) => ({
    name,
    texts: [...new Set(entries.flatMap((entry) => TOPICS.flatMap((topic) => entry[topic] ?? [])))],
  }));
}
