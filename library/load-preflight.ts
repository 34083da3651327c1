import type { Diagnosis } from '../conformance/index.ts';
import type { LoadRun, Preflight } from '../load/index.ts';
import { profiles, sourcesOf, type Source } from '../load/options.ts';
import { findHealthProblem, type Area, type LoadProfileName } from '../src/contract/index.ts';
import type { Conformance } from './packages.ts';

type Exchange = Diagnosis['exchanges'][number];

/** Runs the diagnosis of `doctor`, and checks that the endpoints to load respond with success. */
export async function runLoadPreflight(
  conformance: Conformance,
  options: {
    target: string;
    kitVersion: string;
    seed: string;
    apiKey: string | undefined;
    ca: string | undefined;
    connection: LoadRun['connection'];
    profile: LoadProfileName;
    voiceUrl: string | undefined;
    signal: AbortSignal;
  },
): Promise<Preflight> {
  const { profile, voiceUrl, ...access } = options;
  const sources = sourcesOf(profile);
  const areas = new Set<Area>(sources);
  // A service checks the health before each simulation.
  if (sources.includes('chat')) areas.add('health');
  const { main } = profiles[profile];
  const required = sources.filter((source) => source === main || source === 'voice');
  const { blockedBy, exchanges } = await conformance.diagnose({
    ...access,
    areas: [...areas],
    voice: voiceUrl === undefined ? {} : { url: voiceUrl },
  });
  // The preflight of chat and calls also creates a user, to talk as.
  const users: Preflight = areas.has('users') ? findUsers(exchanges) : { hasUsers: false };
  const causes = [
    ...required.map((endpoint) => findEndpointProblem(endpoint, exchanges)),
    users.blockedBy,
  ];
  const cause = blockedBy ?? causes.find((each) => each !== undefined);
  return {
    blockedBy: cause && {
      ...('id' in cause && { id: cause.id }),
      message: cause.message,
      cure: cause.cure,
    },
    hasUsers: users.hasUsers,
    ...conformance.findAgentVersion(exchanges),
  };
}

/**
 * Decides whether the sandbox has `/users`, which is optional. A failure is neither yes nor no: leaving
 * the requests out would change the load, and for only one of several shards.
 */
function findUsers(exchanges: readonly Exchange[]): Preflight {
  const created = exchanges.filter(({ endpoint }) => endpoint === 'create');
  const last = created.at(-1);
  if (!last) return { hasUsers: false };
  const status = last.response?.status ?? 0;
  // After a 409, the endpoint exists: another run has created the same user.
  if (created.some(isSuccess) || status === 409) return { hasUsers: true };
  const isRefusal = (status >= 300 && status < 500 && status !== 429) || status === 501;
  if (isRefusal) return { hasUsers: false };
  return {
    hasUsers: false,
    blockedBy: {
      message: describeFailure(last),
      cure: 'Run a check to see what is wrong with the endpoint, or choose a profile without users, such as chat.',
    },
  };
}

const isSuccess = ({ response }: Exchange): boolean =>
  response !== undefined && response.status >= 200 && response.status < 300;

function findEndpointProblem(
  endpoint: Source,
  exchanges: readonly Exchange[],
): Preflight['blockedBy'] {
  const all = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  // For voice, the diagnosis also tries a path that must fail, so the last exchange proves nothing.
  const upgraded = all.find(({ response }) => response?.status === 101);
  const last = endpoint === 'voice' ? (upgraded ?? all[0]) : all.at(-1);
  if (last && (isSuccess(last) || upgraded)) return undefined;
  return {
    message: last
      ? describeFailure(last)
      : `No request to ${endpoint} was sent, so the load test was not started.`,
    cure: 'Check that the URL is the base URL of the sandbox, and run a check first.',
  };
}

function describeFailure({ endpoint, request, response, failure, json }: Exchange): string {
  const { status } = response ?? {};
  const isOfHealth = endpoint === 'health' && status !== undefined;
  const healthProblem = isOfHealth ? findHealthProblem(status, json) : undefined;
  const problem =
    healthProblem !== undefined
      ? `returned ${healthProblem}`
      : status !== undefined
        ? `responded with HTTP ${status}`
        : `got no response (${failure?.message ?? 'unknown reason'})`;
  return `${request.method} ${request.path} ${problem}, so the load test was not started.`;
}
