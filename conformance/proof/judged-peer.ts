import type { Area, RunRecord } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { suiteOf } from '../areas/index.ts';
import { runProbes } from '../engine/drive/run.ts';
import { judgeTranscript, type Judgment } from '../engine/judge/judge.ts';
import type { Probe } from '../engine/probe.ts';
import type { RequirementId } from '../engine/requirement.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';

/** A sandbox or a service, and the key for it. */
export interface Peer {
  url: string;
  apiKey?: string | undefined;
  kitVersion: string;
}

/** The areas of a sandbox that are checked over HTTP alone. */
export const httpAreas: readonly Area[] = ['chat', 'health', 'users'];

// The mutants bring their own tool calls, so the wording of the prompt does not matter.
const PROMPTS = ['Where is my order?'];

/** How to check a peer. */
export interface PeerCheck {
  target: string;
  areas: readonly Area[];
  clock: Clock;
  seed: string;
  /** Changes the run record before the run is judged. */
  run?: (run: RunRecord) => RunRecord;
  intrusive?: boolean;
  /** Run only these probes and the preflight (default: all). */
  probes?: readonly Probe[] | undefined;
}

/** Checks a peer and judges the run. */
export async function judgePeer(peerCheck: PeerCheck, peer: Omit<Peer, 'url'>): Promise<Judgment> {
  const { run = (unchanged: RunRecord): RunRecord => unchanged } = peerCheck;
  const transcript = await runPeerCheck(peerCheck, peer);
  return judgeTranscript(suiteOf(peerCheck), { ...transcript, run: run(transcript.run) });
}

function runPeerCheck(
  { target, areas, clock, seed, intrusive = false, probes }: PeerCheck,
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
    rate: undefined,
    timeoutMs: 30_000,
    allowHttp: false,
    prompts: PROMPTS,
    preflightOnly: false,
    onExchange() {},
  });
}

/** The run of an unchanged peer, or the reason why mutants can't be built on the peer. */
export type Baseline = { transcript: Transcript } | { cause: string };

/** Runs the unchanged sandbox. Mutants need it to conform and to have the /users endpoints. */
export async function runSandboxBaseline(peer: Peer, seed: string): Promise<Baseline> {
  return runBaseline('sandbox', peer, httpAreas, seed, (judgment) =>
    hasPassed(judgment, 'USERS-001') && hasPassed(judgment, 'USERS-030')
      ? undefined
      : 'The sandbox has no /users endpoints, but some mutants change them.',
  );
}

/** Runs the unchanged voice endpoint. Mutants need it to conform and to exchange media. */
export async function runVoiceBaseline(peer: Peer, seed: string): Promise<Baseline> {
  return runBaseline('sandbox', peer, ['voice'], seed, (judgment) =>
    hasPassed(judgment, 'VOICE-070')
      ? undefined
      : 'No media flows in calls with the sandbox, but some mutants change media.',
  );
}

/** Runs the unchanged service. Mutants need it to conform and to have the control API. */
export async function runServiceBaseline(peer: Peer, seed: string): Promise<Baseline> {
  return runBaseline('service', peer, ['service'], seed, (judgment) =>
    hasPassed(judgment, 'SERVICE-051')
      ? undefined
      : 'The service has no control API, which the mutants need.',
  );
}

/** Runs an unchanged peer. */
export function recordUnchanged(
  peer: Peer,
  { areas, intrusive = false }: Pick<PeerCheck, 'areas' | 'intrusive'>,
  seed: string,
): Promise<Transcript> {
  return runPeerCheck(
    { target: peer.url, areas, intrusive, clock: systemClock, seed: `${seed}/untouched` },
    peer,
  );
}

async function runBaseline(
  noun: string,
  peer: Peer,
  areas: readonly Area[],
  seed: string,
  findMissingPart: (judgment: Judgment) => string | undefined,
): Promise<Baseline> {
  const transcript = await recordUnchanged(peer, { areas }, seed);
  const judgment = judgeTranscript(suiteOf({ areas }), transcript);
  const cause = explainNonconformity(noun, judgment) ?? findMissingPart(judgment);
  return cause === undefined ? { transcript } : { cause };
}

const hasPassed = ({ requirements }: Judgment, id: RequirementId): boolean =>
  requirements.get(id)?.verdict === 'pass';

/** Explains why an unchanged peer can't be the base of mutants; undefined if it can. */
export function explainNonconformity(noun: string, judgment: Judgment): string | undefined {
  if (judgment.verdict === 'conforming') return undefined;
  const ids = [...redIdsOf(judgment), ...idsWith(judgment, ['blocked', 'error'])];
  const reason = judgment.blockedBy?.message.replace(/\.$/, '') ?? ids.join(', ');
  return `The unchanged ${noun} is ${judgment.verdict}, so it can't be the base of mutants: ${reason}.`;
}

/** Returns the requirements with the verdict `fail` or `warn`. */
export function redIdsOf(judgment: Judgment): RequirementId[] {
  return idsWith(judgment, ['fail', 'warn']);
}

/** Returns the requirements with one of the verdicts. */
export function idsWith({ requirements }: Judgment, verdicts: readonly string[]): RequirementId[] {
  return [...requirements]
    .filter(([, { verdict }]) => verdicts.includes(verdict))
    .map(([id]) => id);
}
