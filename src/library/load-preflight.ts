import type * as conformanceModule from '../../conformance/index.ts';
import type { LoadOptions, Preflight } from '../../load/index.ts';
import type { Area, LoadProfileName } from '../contract/index.ts';

type Conformance = typeof conformanceModule;
type Endpoint = 'chat' | 'health' | 'voice';
type Exchange = Awaited<ReturnType<Conformance['diagnose']>>['exchanges'][number];

/** The areas that the preflight tests, and the endpoints that must respond with success. */
const preflightOf: Record<LoadProfileName, { areas: Area[]; required: Endpoint[] }> = {
  chat: { areas: ['chat', 'health'], required: ['chat'] },
  conversation: { areas: ['chat', 'health'], required: ['chat'] },
  health: { areas: ['health'], required: ['health'] },
  mixed: { areas: ['chat', 'health', 'users'], required: ['chat'] },
  voice: { areas: ['voice'], required: ['voice'] },
  all: { areas: ['chat', 'health', 'users', 'voice'], required: ['chat', 'voice'] },
};

/** Runs the diagnosis of `doctor`, and checks that the endpoints to load respond with success. */
export async function runLoadPreflight(
  conformance: Conformance,
  options: {
    target: string;
    kitVersion: string;
    seed: string;
    apiKey: string | undefined;
    ca: string | undefined;
    connection: LoadOptions['connection'];
    profile: LoadProfileName;
    voiceUrl: string | undefined;
    signal: AbortSignal;
  },
): Promise<Preflight> {
  const { profile, voiceUrl, ...access } = options;
  const { areas, required } = preflightOf[profile];
  const { blockedBy, exchanges } = await conformance.diagnose({
    ...access,
    areas,
    voice: voiceUrl === undefined ? {} : { url: voiceUrl },
  });
  const causes = required.map((endpoint) => findEndpointProblem(endpoint, exchanges));
  const cause = blockedBy ?? causes.find((each) => each !== undefined);
  const created = exchanges.filter(({ endpoint }) => endpoint === 'create');
  return {
    blockedBy: cause && { message: cause.message, cure: cause.cure },
    hasUsers: created.some(isSuccess),
  };
}

const isSuccess = ({ response }: Exchange): boolean =>
  response !== undefined && response.status >= 200 && response.status < 300;

function findEndpointProblem(
  endpoint: Endpoint,
  exchanges: readonly Exchange[],
): Preflight['blockedBy'] {
  const all = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  // For voice, the diagnosis also tries a path that must fail, so the last exchange proves nothing.
  const upgraded = all.find(({ response }) => response?.status === 101);
  const last = endpoint === 'voice' ? (upgraded ?? all[0]) : all.at(-1);
  if (last && (isSuccess(last) || upgraded)) return undefined;
  const problem = last?.response
    ? `responded with HTTP ${last.response.status}`
    : `got no response (${last?.failure?.message ?? 'it was not sent'})`;
  const { method, path } = last?.request ?? { method: 'A request to', path: endpoint };
  return {
    message: `${method} ${path} ${problem}, so the load test was not started.`,
    cure: 'Check that the URL is the base URL of the sandbox, and run sandbox-kit check first.',
  };
}
