import type { Area, RunRecord } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { runProbes } from '../engine/drive/run.ts';
import type { Probe } from '../engine/probe.ts';
import { suiteOf } from '../areas/index.ts';
import { judgeTranscript, type Judgment } from '../engine/judge/judge.ts';
import type { RequirementId } from '../engine/requirement.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';

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
  /** Of the service: these probes alone. */
  probes?: readonly Probe[] | undefined;
}

/** Checks a peer, whatever it is, and judges what it did. */
export async function judged(judging: Judging, peer: Omit<Peer, 'url'>): Promise<Judgment> {
  const { run = (same: RunRecord): RunRecord => same } = judging;
  const transcript = await driven(judging, peer);
  return judgeTranscript(suiteOf(judging), { ...transcript, run: run(transcript.run) });
}

function driven(
  { target, areas, clock, seed, intrusive = false, probes }: Judging,
  { apiKey, kitVersion }: Omit<Peer, 'url'>,
): Promise<Transcript> {
  return runProbes(suiteOf({ areas }), {
    target,
    areas,
    apiKey,
    intrusive,
    probes,
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
}

/** What is fit to be changed, as it is untouched; or why it is not fit. */
export type Untouched = { transcript: Transcript } | { cause: string };

/** A sandbox that the mutants can be made of. */
export async function untouchedSandbox(peer: Peer, seed: string): Promise<Untouched> {
  return untouched('sandbox', peer, EVERYTHING, seed, (judgement) => {
    const lacking = (['USERS-001', 'USERS-030'] as const).some(
      (id) => judgement.requirements.get(id)?.verdict !== 'pass',
    );
    return lacking ? 'The sandbox has no /users, which some mutants are about.' : undefined;
  });
}

/** A sandbox that the mutants of voice can be made of. */
export async function untouchedVoice(peer: Peer, seed: string): Promise<Untouched> {
  return untouched('sandbox', peer, ['voice'], seed, (judgement) => {
    const flows = judgement.requirements.get('VOICE-070')?.verdict === 'pass';
    return flows ? undefined : 'The sandbox lets no media flow, which some mutants are about.';
  });
}

/** A service that the mutants of area A can be made of. */
export async function untouchedService(peer: Peer, seed: string): Promise<Untouched> {
  return untouched('service', peer, ['service'], seed, (judgement) => {
    const isSetUp = judgement.requirements.get('SERVICE-051')?.verdict === 'pass';
    return isSetUp ? undefined : 'The service has no control API, which mutants are seen by.';
  });
}

async function untouched(
  what: string,
  peer: Peer,
  areas: readonly Area[],
  seed: string,
  lacks: (judgement: Judgment) => string | undefined,
): Promise<Untouched> {
  const transcript = await driven(
    { target: peer.url, areas, clock: systemClock, seed: `${seed}/untouched` },
    peer,
  );
  const judgement = judgeTranscript(suiteOf({ areas }), transcript);
  const cause = notConforming(what, judgement) ?? lacks(judgement);
  return cause === undefined ? { transcript } : { cause };
}

function notConforming(what: string, judgement: Judgment): string | undefined {
  if (judgement.verdict === 'conforming') return undefined;
  const red = [...redOf(judgement), ...idsWith(judgement, ['blocked', 'error'])];
  const why = judgement.blockedBy?.message ?? red.join(', ');
  return `The ${what} is ${judgement.verdict} before anything is changed: ${why}`;
}

/** The requirements that turned red. */
export function redOf(judgement: Judgment): RequirementId[] {
  return idsWith(judgement, ['fail', 'warn']);
}

/** The requirements with one of some verdicts. */
export function idsWith({ requirements }: Judgment, verdicts: readonly string[]): RequirementId[] {
  return [...requirements]
    .filter(([, { verdict }]) => verdicts.includes(verdict))
    .map(([id]) => id);
}
