import { readAgentVersion } from '../../src/contract/index.ts';
import type { Exchange } from '../engine/transcript/reading.ts';

/** Returns the version that the newest response to `GET /health` reports, if one does. */
export function findAgentVersion(exchanges: readonly Exchange[]): { agentVersion?: string } {
  const versions = exchanges
    .filter(({ endpoint }) => endpoint === 'health')
    .flatMap(({ json }) => readAgentVersion(json) ?? []);
  const agentVersion = versions.at(-1);
  return agentVersion === undefined ? {} : { agentVersion };
}
