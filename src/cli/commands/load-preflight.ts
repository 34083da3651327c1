import type { Area, LoadProfileName } from '../../contract/index.ts';
import type { Preflight } from '../../../load/index.ts';

type Judge = typeof import('../../../conformance/index.ts');
type Diagnosis = Awaited<ReturnType<Judge['diagnose']>>;
type Exchange = Diagnosis['exchanges'][number];

/** How the sandbox is reached. */
export interface PreflightOptions {
  target: string;
  kitVersion: string;
  seed: string;
  apiKey: string | undefined;
  ca: string | undefined;
  profile: LoadProfileName;
  /** Of the voice WebSocket; `/voice` of the target when undefined. */
  voiceUrl: string | undefined;
}

/** The preflight of `doctor`, and whether it is a sandbox that answers: chat, or health, is taken. */
export async function preflight(
  judge: Judge,
  { profile, voiceUrl, ...options }: PreflightOptions,
  signal: AbortSignal,
): Promise<Preflight> {
  const { blockedBy, exchanges } = await judge.diagnose({
    ...options,
    areas: areasOf[profile],
    voice: voiceUrl === undefined ? {} : { url: voiceUrl },
    signal,
  });
  const needed = neededBy[profile].map((endpoint) => notTaken(endpoint, exchanges));
  const cause = blockedBy ?? needed.find((one) => one);
  return {
    blockedBy: cause && { message: cause.message, cure: cause.cure },
    hasUsers: hasUsers(exchanges),
  };
}

const areasOf: Record<LoadProfileName, Area[]> = {
  chat: ['chat', 'health'],
  conversation: ['chat', 'health'],
  health: ['health'],
  mixed: ['chat', 'health', 'users'],
  voice: ['voice'],
  all: ['chat', 'health', 'users', 'voice'],
};

const neededBy: Record<LoadProfileName, Endpoint[]> = {
  chat: ['chat'],
  conversation: ['chat'],
  health: ['health'],
  mixed: ['chat'],
  voice: ['voice'],
  all: ['chat', 'voice'],
};

type Endpoint = 'chat' | 'health' | 'voice';

const isGood = ({ response }: Exchange): boolean =>
  response !== undefined && response.status >= 200 && response.status < 300;

function notTaken(
  endpoint: Endpoint,
  exchanges: readonly Exchange[],
): Preflight['blockedBy'] | undefined {
  const all = exchanges.filter((one) => one.endpoint === endpoint);
  // Of voice a path that leads nowhere is asked for as well, to know whether it is refused alike.
  const opened = all.find(({ response }) => response?.status === 101);
  const last = endpoint === 'voice' ? (opened ?? all[0]) : all.at(-1);
  if (last && (isGood(last) || opened)) return undefined;
  const came = last?.response
    ? `is answered with HTTP ${last.response.status}`
    : `gets no answer (${last?.failure?.message ?? 'it was not sent'})`;
  const { method, path } = last?.request ?? { method: 'A request to', path: endpoint };
  return {
    message: `${method} ${path} ${came}, so there is nothing to load.`,
    cure: 'Check that the address leads to the sandbox, and run sandbox-kit check first.',
  };
}

function hasUsers(exchanges: readonly Exchange[]): boolean {
  const created = exchanges.filter(({ endpoint }) => endpoint === 'create');
  return created.some(isGood);
}
