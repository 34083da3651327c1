import { isObject } from '../../src/platform/json.ts';
import type { Exchange } from '../engine/transcript/reading.ts';

/** The most characters of a version. */
const LENGTH_MAX = 100;

/** Returns the version that the newest response to `GET /health` reports, if one does. */
export function findAgentVersion(exchanges: readonly Exchange[]): { agentVersion?: string } {
  const versions = exchanges.flatMap(({ endpoint, json }) => {
    const version = endpoint === 'health' && isObject(json) ? json['version'] : undefined;
    return typeof version === 'string' && version !== '' ? [version] : [];
  });
  const version = versions.at(-1)?.slice(0, LENGTH_MAX).toWellFormed();
  return version === undefined ? {} : { agentVersion: version };
}
