import { readAgentVersion } from '../../src/contract/index.ts';
import { formatList } from '../../src/report-kit/format.ts';
import type { Exchange } from '../engine/transcript/reading.ts';

/** Returns the version that the newest response to `GET /health` reports, if one does. */
export function findAgentVersion(exchanges: readonly Exchange[]): { agentVersion?: string } {
  const agentVersion = listVersions(exchanges).at(-1);
  return agentVersion === undefined ? {} : { agentVersion };
}

/** The most versions that a notice names. */
const VERSIONS_MAX = 5;

/** Says that the agent changed during the run, so that its results are of several versions. */
export function describeVersionChange(exchanges: readonly Exchange[]): string[] {
  const versions = [...new Set(listVersions(exchanges))];
  if (versions.length < 2) return [];
  return [
    `The version of the agent changed during the run: ${formatList(versions, VERSIONS_MAX)}. The results may be of different versions; run the check again.`,
  ];
}

const listVersions = (exchanges: readonly Exchange[]): string[] =>
  exchanges.flatMap(({ endpoint, json }) =>
    endpoint === 'health' ? (readAgentVersion(json) ?? []) : [],
  );
