import { formatList } from '../../report-kit/format.ts';
import type { StoredAgent, TestedBuild } from '../store/store.ts';
import type { ReadinessPart } from './readiness-part.ts';

/** Whether a build was reached at other addresses, or with another key, than its agent has now. */
export const isOtherConnection = (
  { connection }: TestedBuild,
  agent: Pick<StoredAgent, 'connection'>,
): boolean => connection !== undefined && connection !== (agent.connection ?? 0);

/**
 * Marks the parts whose evidence is about an earlier build of an agent. Only what is known counts: the
 * newest of all tests that name a version says which version the agent has.
 */
export function markOutdated(
  parts: readonly ReadinessPart[],
  agent: Pick<StoredAgent, 'connection'>,
  tested: readonly (TestedBuild & { atMs: number })[],
): ReadinessPart[] {
  const dated = tested
    .filter((build) => build.agentVersion !== undefined && !isOtherConnection(build, agent))
    .sort((left, right) => right.atMs - left.atMs);
  const version = dated[0]?.agentVersion;
  return parts.map((part) => {
    const reason = explainAge(part, agent, version);
    if (reason === undefined) return part;
    const detail = `${reason} The earlier result: ${part.verdict}. ${part.detail}`;
    return { ...part, standing: 'warn', verdict: 'Out of date', detail, outdated: reason };
  });
}

/** Returns why the evidence of a part is out of date, if it is. */
function explainAge(
  { id, builds = [] }: ReadinessPart,
  agent: Pick<StoredAgent, 'connection'>,
  version: string | undefined,
): string | undefined {
  if (builds.some((build) => isOtherConnection(build, agent))) {
    return 'It was measured before the key or an address of the agent changed.';
  }
  // A new version does not end a connection.
  if (id === 'connection') return undefined;
  const others = listVersions(builds).filter((each) => each !== version);
  if (version === undefined || others.length === 0) return undefined;
  return `It was measured at version ${formatList(others)}, but the agent now reports version ${version}.`;
}

/** Returns the known versions of builds, each once. */
export const listVersions = (builds: readonly TestedBuild[]): string[] => [
  ...new Set(builds.flatMap(({ agentVersion }) => agentVersion ?? [])),
];
