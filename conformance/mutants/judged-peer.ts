import type { Area, RunRecord } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/shared/clock.ts';
import { drive } from '../drive/run.ts';
import { judge, type Judgement } from '../judge/judge.ts';
import type { RequirementId } from '../requirements/index.ts';

/** Who is judged, and with which key. */
export interface Peer {
  url: string;
  apiKey?: string | undefined;
  kitVersion: string;
}

/** All areas of a sandbox. */
export const EVERYTHING: readonly Area[] = ['chat', 'health', 'users'];

// Mutants bring their own tool calls, so what is asked does not matter.
const PROMPTS = ['Where is my order?'];

/** How a peer is judged. */
export interface Judging {
  target: string;
  areas: readonly Area[];
  clock: Clock;
  seed: string;
  run?: (run: RunRecord) => RunRecord;
  intrusive?: boolean;
}

/** Checks a peer, whatever it is, and judges what it did. */
export async function judged(
  { target, areas, clock, seed, run = (same) => same, intrusive = false }: Judging,
  { apiKey, kitVersion }: Omit<Peer, 'url'>,
): Promise<Judgement> {
  const transcript = await drive({
    target,
    areas,
    apiKey,
    intrusive,
    ca: undefined,
    seed,
    kitVersion,
    clock,
    concurrency: 4,
    ratePerSecond: undefined,
    timeoutMs: 30_000,
    allowHttp: false,
    prompts: PROMPTS,
    preflightOnly: false,
    onExchange() {},
  });
  return judge({ ...transcript, run: run(transcript.run) });
}

/** Why a sandbox can't be what the mutants are made of; undefined when it can. */
export async function unfitSandbox(options: Peer, seed: string): Promise<string | undefined> {
  const judgement = await judged(
    { target: options.url, areas: EVERYTHING, clock: systemClock, seed: `${seed}/untouched` },
    options,
  );
  const wrong = notConforming('sandbox', judgement);
  if (wrong !== undefined) return wrong;
  const lacking = (['USERS-001', 'USERS-030'] as const).some(
    (id) => judgement.requirements.get(id)?.verdict !== 'pass',
  );
  return lacking ? 'The sandbox has no /users, which some mutants are about.' : undefined;
}

/** Why a service can't be what the mutants of area A are made of; undefined when it can. */
export async function unfitService(options: Peer, seed: string): Promise<string | undefined> {
  const target = { target: options.url, areas: ['service'], clock: systemClock } as const;
  const judgement = await judged({ ...target, seed: `${seed}/untouched` }, options);
  const wrong = notConforming('service', judgement);
  if (wrong !== undefined) return wrong;
  const isSetUp = judgement.requirements.get('SERVICE-051')?.verdict === 'pass';
  return isSetUp ? undefined : 'The service has no control API, which mutants are seen by.';
}

function notConforming(what: string, judgement: Judgement): string | undefined {
  if (judgement.verdict === 'conforming') return undefined;
  const red = [...redOf(judgement), ...idsWith(judgement, ['blocked', 'error'])];
  const why = judgement.gate?.says ?? red.join(', ');
  return `The ${what} is ${judgement.verdict} before anything is changed: ${why}`;
}

/** The requirements that turned red. */
export function redOf(judgement: Judgement): RequirementId[] {
  return idsWith(judgement, ['fail', 'warn']);
}

/** The requirements with one of some verdicts. */
export function idsWith({ requirements }: Judgement, verdicts: readonly string[]): RequirementId[] {
  return [...requirements]
    .filter(([, { verdict }]) => verdicts.includes(verdict))
    .map(([id]) => id);
}
