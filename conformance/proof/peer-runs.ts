import type { Area, RunRecord } from '../../src/contract/index.ts';
import {
  createScaledClock,
  createSkippingClock,
  systemClock,
  type Clock,
} from '../../src/platform/clock.ts';
import { judgeTranscript, type Judgment } from '../engine/judge/judge.ts';
import { isClientRun, isServiceRun, suiteOf } from '../areas/index.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';
import { deadPeers, serviceDeadPeers, type DeadPeer } from './dead-peers.ts';
import { allMutants, allVariants } from '../areas/mutants.ts';
import { judgeDistortedClient, type StartRecordingService } from './client/client-runs.ts';
import { voiceDeadPeers } from './voice-dead-peers.ts';
import type { Probe } from '../engine/probe.ts';
import type { Distortion, Mutant, Variant } from '../engine/mutants/mutant.ts';
import { idsWith, judgePeer, redIdsOf, type Peer } from './judged-peer.ts';
import { startProxy } from './proxy.ts';
import { service } from '../areas/service/index.ts';
import { voice } from '../areas/voice/index.ts';
import { replay } from './replay.ts';

/** Selects peers of a self-test (default: all). */
export interface PeerChoice {
  /** Only peers whose id contains this text. */
  only?: string | undefined;
  /** Only peers that concern one of these areas. */
  areas?: readonly Area[] | undefined;
}

/** The selected peers by kind. */
export interface ChosenPeers {
  mutants: readonly Mutant[];
  variants: readonly Variant[];
  deadPeers: readonly DeadPeer[];
}

/** Selects from all mutants, variants and dead peers. */
export function choosePeers({ only = '', areas }: PeerChoice): ChosenPeers {
  const choose = <Any extends Distortion | DeadPeer>(peers: readonly Any[]): Any[] =>
    peers.filter(
      (peer) =>
        peer.id.includes(only) && (!areas || peer.areas.some((area) => areas.includes(area))),
    );
  return {
    mutants: choose(allMutants),
    variants: choose(allVariants),
    deadPeers: choose([...deadPeers, ...voiceDeadPeers, ...serviceDeadPeers]),
  };
}

/** The conforming peers that the mutants and variants change. One that isn't needed is undefined. */
export interface PeerBases {
  sandbox: Peer | undefined;
  service: Peer | undefined;
  /** Runs of the unchanged peers by `keyOfRecording`, as far as they are needed. */
  recordings: ReadonlyMap<string, Transcript>;
  /** Starts the service that records a client; undefined if no client is run. */
  startRecordingService: StartRecordingService | undefined;
  kitVersion: string;
  seed: string;
  /** Run every probe against every mutant, not only the probes that can see it. */
  everyProbe: boolean;
  /** The probes to run against a variant that changes calls (default: all). */
  voiceVariantProbes: readonly Probe[] | undefined;
}

/** Returns the key of the recording that a mutant or variant changes. */
export const keyOfRecording = ({ areas, intrusive = false }: RecordedRun): string =>
  `${areas.join()}${intrusive ? ' intrusive' : ''}`;

/** What distinguishes the recordings of the unchanged peers. */
export type RecordedRun = Pick<Distortion, 'areas' | 'intrusive'>;

/** One row of the self-test before it has run. */
export interface PeerRun {
  kind: 'mutant' | 'variant' | 'dead peer';
  id: string;
  /** The runs of a lane share its concurrency. */
  lane: 'quick' | 'waits' | 'voice' | 'service' | 'client' | 'alone';
  /** How much faster than real time the clock of the run is. */
  clockFactor: number;
  /** The mutant of the row. */
  mutant?: Mutant;
  /** Returns the result that a recording shows; undefined if it is not the expected one. */
  replay?: () => Promise<PeerOutcome | undefined>;
  run: () => Promise<PeerOutcome>;
}

/** The expected and the actual result of a peer: requirement ids, or a cause and an exit code. */
export interface PeerOutcome {
  expected: string[];
  actual: string[];
  /** The result comes from the changed recording of the unchanged peer. */
  isReplayed?: true;
}

/** Creates a run for each of the peers. */
export function createPeerRuns(peers: ChosenPeers, bases: PeerBases): PeerRun[] {
  const createRun = (
    kind: PeerRun['kind'],
    peer: Distortion | DeadPeer,
    run: () => Promise<PeerOutcome>,
  ): PeerRun => ({
    kind,
    id: peer.id,
    lane: laneOf(peer),
    clockFactor: peer.clockFactor ?? 1,
    run,
  });
  const createDistortedRun = (
    kind: PeerRun['kind'],
    distortion: Mutant | Variant,
    toOutcome: ToOutcome,
  ): PeerRun => ({
    ...createRun(kind, distortion, () => runDistortion(distortion, bases, toOutcome)),
    replay: () => replayDistortion(distortion, bases, toOutcome),
  });
  return [
    ...peers.mutants.map((mutant) => ({
      ...createDistortedRun('mutant', mutant, (judgment) => toMutantOutcome(mutant, judgment)),
      mutant,
    })),
    ...peers.variants.map((variant) => createDistortedRun('variant', variant, toVariantOutcome)),
    ...peers.deadPeers.map((peer) => createRun('dead peer', peer, () => runDeadPeer(peer, bases))),
  ];
}

type ToOutcome = (judgment: Judgment) => PeerOutcome;

function laneOf(peer: Distortion | DeadPeer): PeerRun['lane'] {
  if (isClientRun(peer)) return 'client';
  if ('transform' in peer && isServiceRun(peer)) return peer.intrusive ? 'alone' : 'service';
  if ('transform' in peer && isVoiceRun(peer)) return 'voice';
  return peer.clockFactor === undefined ? 'quick' : 'waits';
}

/** Whether a run places calls. */
export const isVoiceRun = ({ areas }: { areas: readonly Area[] }): boolean =>
  areas.includes('voice');

/** Judges what a distortion makes of the recording of the unchanged peer. */
async function replayDistortion(
  distortion: Mutant | Variant,
  { recordings }: PeerBases,
  toOutcome: ToOutcome,
): Promise<PeerOutcome | undefined> {
  const recording = recordings.get(keyOfRecording(distortion));
  if (!recording) return undefined;
  const { transcript } = await replay(distortion, suiteOf(distortion), recording);
  const outcome = transcript && toOutcome(judgeTranscript(suiteOf(distortion), transcript));
  return outcome && isExpected(outcome) ? { ...outcome, isReplayed: true } : undefined;
}

async function runDistortion(
  distortion: Mutant | Variant,
  bases: PeerBases,
  toOutcome: ToOutcome,
): Promise<PeerOutcome> {
  if (!isClientRun(distortion)) return toOutcome(await judgeDistortion(distortion, bases));
  const { startRecordingService, kitVersion } = bases;
  if (!startRecordingService) throw new Error(`${distortion.id} needs a recording service.`);
  return toOutcome(await judgeDistortedClient(distortion, startRecordingService, kitVersion));
}

/** Whether a peer had the expected result. */
export const isExpected = ({
  expected,
  actual,
}: Pick<PeerOutcome, 'expected' | 'actual'>): boolean => expected.join() === actual.join();

async function judgeDistortion(distortion: Mutant | Variant, bases: PeerBases): Promise<Judgment> {
  const { kitVersion, seed } = bases;
  const base = isServiceRun(distortion) ? bases.service : bases.sandbox;
  if (!base) throw new Error(`${distortion.id} needs a conforming peer.`);
  const clock = createClock(distortion);
  const probes = await selectProbes(distortion, bases);
  const proxy = await startProxy({
    upstream: base.url,
    transform: distortion.transform(),
    voice: distortion.voice?.(),
    clock,
  });
  try {
    return await judgePeer(
      {
        target: proxy.url,
        areas: distortion.areas,
        clock,
        seed: `${seed}/${distortion.id}`,
        run: (run) => selectExercised(distortion.run?.(run) ?? run, distortion, probes),
        intrusive: distortion.intrusive ?? false,
        probes,
      },
      { apiKey: base.apiKey, kitVersion },
    );
  } finally {
    await proxy.stop();
  }
}

/**
 * Limits the run of a variant to the requirements that its probes exercise: without their evidence, the
 * others would be blocked.
 */
function selectExercised(
  run: RunRecord,
  distortion: Mutant | Variant,
  probes: readonly Probe[] | undefined,
): RunRecord {
  if ('kills' in distortion || !probes) return run;
  const selected = suiteOf(distortion)
    .probes.filter((probe) => probe.phase === 'preflight' || probes.includes(probe))
    .flatMap(({ exercises }) => exercises);
  return { ...run, selected: [...new Set(selected)] };
}

function createClock({
  clockFactor,
  sleepMsMax,
}: Pick<Distortion, 'clockFactor' | 'sleepMsMax'>): Clock {
  if (sleepMsMax !== undefined) return createSkippingClock(sleepMsMax);
  return clockFactor === undefined ? systemClock : createScaledClock(clockFactor);
}

/**
 * Selects the probes that can see a mutant, to save time; undefined for all. A variant gets all probes
 * unless the options select some, because no requirement may fail.
 */
async function selectProbes(
  distortion: Mutant | Variant,
  { everyProbe, voiceVariantProbes, recordings }: PeerBases,
): Promise<readonly Probe[] | undefined> {
  if (everyProbe) return undefined;
  if (!('kills' in distortion)) return isVoiceRun(distortion) ? voiceVariantProbes : undefined;
  if (isVoiceRun(distortion)) return voiceProbesFor(distortion);
  const recording = recordings.get(keyOfRecording({ areas: distortion.areas }));
  if (!recording || !isServiceRun(distortion)) return undefined;
  const { probes } = await replay(distortion, suiteOf(distortion), recording);
  return [...probes, ...(distortion.intrusive ? intrusiveProbesFor(distortion) : [])];
}

/** Returns the probes that only an intrusive run has and that show what a mutant breaks, with what they need. */
function intrusiveProbesFor({ kills }: Mutant): Probe[] {
  return service.probes
    .filter(({ intrusive, exercises }) => intrusive && kills.some((id) => exercises.includes(id)))
    .flatMap((probe) => [probe, ...(probe.needs ?? [])]);
}

/** Calls take long, so a voice mutant gets only the probes that exercise the requirements it breaks. */
function voiceProbesFor({ kills }: Mutant): Probe[] {
  return voice.probes
    .filter(({ exercises }) => kills.some((id) => exercises.includes(id)))
    .flatMap((probe) => [probe, ...(probe.needs ?? [])]);
}

function toMutantOutcome({ kills }: Mutant, judgment: Judgment): PeerOutcome {
  const actual = [...redIdsOf(judgment), ...idsWith(judgment, ['error'])];
  return { expected: [...kills].sort(), actual: actual.sort() };
}

function toVariantOutcome(judgment: Judgment): PeerOutcome {
  const unexpected = [...redIdsOf(judgment), ...idsWith(judgment, ['blocked', 'error'])];
  return { expected: ['conforming'], actual: [judgment.verdict, ...unexpected] };
}

async function runDeadPeer(
  deadPeer: DeadPeer,
  { kitVersion, seed }: PeerBases,
): Promise<PeerOutcome> {
  const { areas, cause } = deadPeer;
  const clock = createClock(deadPeer);
  const { url, stop } = await deadPeer.start(clock);
  try {
    const { blockedBy, exitCode } = await judgePeer(
      { target: url, areas, clock, seed: `${seed}/${deadPeer.id}` },
      { apiKey: 'a-key', kitVersion },
    );
    return {
      expected: [cause, 'exit 3'],
      actual: [blockedBy?.id ?? 'no cause', `exit ${exitCode}`],
    };
  } finally {
    await stop();
  }
}
