import type { Area } from '../../src/contract/index.ts';
import { scaledClock, skippingClock, systemClock, type Clock } from '../../src/platform/clock.ts';
import type { Judgment } from '../engine/judge/judge.ts';
import { isServiceRun } from '../areas/index.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';
import { deadPeers, serviceDeadPeers, type DeadPeer } from './dead-peers.ts';
import { mutants, serviceMutants, serviceVariants, variants } from '../areas/mutants.ts';
import { voiceDeadPeers } from './voice-dead-peers.ts';
import type { Probe } from '../engine/probe.ts';
import type { Distortion, Mutant, Variant } from '../engine/mutants/mutant.ts';
import { idsWith, judged, redOf, type Peer } from './judged-peer.ts';
import { startProxy } from './proxy.ts';
import { voice } from '../areas/voice/index.ts';
import { findTouchedProbes } from './touched.ts';

/** Which peers a self-test is of; all when nothing is said. */
export interface PeerChoice {
  /** Only those with this text in their id. */
  only?: string | undefined;
  /** Only those that concern one of these areas. */
  areas?: readonly Area[] | undefined;
}

/** All peers that a choice leaves, by kind. */
export interface ChosenPeers {
  mutants: readonly Mutant[];
  variants: readonly Variant[];
  deadPeers: readonly DeadPeer[];
}

/** What the choice leaves of all that the judge is proven by. */
export function chosenPeers({ only = '', areas }: PeerChoice): ChosenPeers {
  const chosen = <One extends Distortion | DeadPeer>(all: readonly One[]): One[] =>
    all.filter(
      (one) => one.id.includes(only) && (!areas || one.areas.some((area) => areas.includes(area))),
    );
  return {
    mutants: chosen([...mutants, ...serviceMutants]),
    variants: chosen([...variants, ...serviceVariants]),
    deadPeers: chosen([...deadPeers, ...voiceDeadPeers, ...serviceDeadPeers]),
  };
}

/** What the distortions are made of, as it is untouched; undefined where none is given. */
export interface Grounds {
  sandbox: Peer | undefined;
  service: (Peer & { untouched: Transcript }) | undefined;
  kitVersion: string;
  seed: string;
  /** Drive every scenario against every distortion of the service, touched or not. */
  everyScenario: boolean;
}

/** A row that is still to be run. */
export interface PeerRun {
  kind: 'mutant' | 'variant' | 'dead peer';
  id: string;
  lane: 'quick' | 'waits' | 'voice' | 'service' | 'alone';
  run: () => Promise<Outcome>;
}

/** What must come of a peer, and what came. */
export interface Outcome {
  expected: string[];
  got: string[];
}

/** The runs that prove the judge by some peers. */
export function peerRuns(peers: ChosenPeers, grounds: Grounds): PeerRun[] {
  const runs = <One extends Distortion | DeadPeer>(
    kind: PeerRun['kind'],
    all: readonly One[],
    run: (peer: One, grounds: Grounds) => Promise<Outcome>,
  ): PeerRun[] =>
    all.map((one) => ({ kind, id: one.id, lane: laneOf(one), run: () => run(one, grounds) }));
  return [
    ...runs('mutant', peers.mutants, runMutant),
    ...runs('variant', peers.variants, runVariant),
    ...runs('dead peer', peers.deadPeers, runDeadPeer),
  ];
}

function laneOf(peer: Distortion | DeadPeer): PeerRun['lane'] {
  if ('transform' in peer && isServiceRun(peer)) return peer.intrusive ? 'alone' : 'service';
  if ('transform' in peer && isOfVoice(peer)) return 'voice';
  return peer.clockFactor === undefined ? 'quick' : 'waits';
}

function clockOf({ clockFactor, sleepMsMax }: Distortion): Clock {
  if (sleepMsMax !== undefined) return skippingClock(sleepMsMax);
  return clockFactor === undefined ? systemClock : scaledClock(clockFactor);
}

async function runDistorted(one: Mutant | Variant, grounds: Grounds): Promise<Judgment> {
  const { sandbox, service, kitVersion, seed, everyScenario } = grounds;
  const clock = clockOf(one);
  const behind = isServiceRun(one) ? service : sandbox;
  if (!behind) throw new Error(`there is nothing to make ${one.id} of`);
  // Of a variant nothing may turn red anywhere, nor stay without its control.
  const isSpared = 'kills' in one && !everyScenario;
  const scenarios = !isSpared
    ? undefined
    : behind === service
      ? await findTouchedProbes(one, service.untouched)
      : isOfVoice(one)
        ? showingScenarios(one)
        : undefined;
  const proxy = await startProxy({
    upstream: behind.url,
    transform: one.transform(),
    voice: one.voice?.(),
    clock,
  });
  try {
    return await judged(
      {
        target: proxy.url,
        areas: one.areas,
        clock,
        seed: `${seed}/${one.id}`,
        ...(one.run && { run: one.run }),
        intrusive: one.intrusive ?? false,
        probes: scenarios,
      },
      { apiKey: behind.apiKey, kitVersion },
    );
  } finally {
    await proxy.stop();
  }
}

/** Whether calls must be placed to see what a distortion does. */
export const isOfVoice = ({ areas }: { areas: readonly Area[] }): boolean =>
  areas.includes('voice');

/** Calls take their time: a mutant of voice is shown those that its requirements are seen in. */
function showingScenarios({ kills }: Mutant): Probe[] {
  return voice.probes
    .filter(({ exercises }) => kills.some((id) => exercises.includes(id)))
    .flatMap((probe) => [probe, ...(probe.needs ?? [])]);
}

async function runMutant(one: Mutant, grounds: Grounds): Promise<Outcome> {
  const judgement = await runDistorted(one, grounds);
  const got = [...redOf(judgement), ...idsWith(judgement, ['error'])];
  return { expected: [...one.kills].sort(), got: got.sort() };
}

async function runVariant(one: Variant, grounds: Grounds): Promise<Outcome> {
  const judgement = await runDistorted(one, grounds);
  return {
    expected: ['conforming'],
    got: [judgement.verdict, ...redOf(judgement), ...idsWith(judgement, ['blocked', 'error'])],
  };
}

async function runDeadPeer(one: DeadPeer, { kitVersion, seed }: Grounds): Promise<Outcome> {
  const clock = one.clockFactor === undefined ? systemClock : scaledClock(one.clockFactor);
  const peer = await one.start(clock);
  try {
    const { blockedBy, exitCode } = await judged(
      { target: peer.url, areas: one.areas, clock, seed: `${seed}/${one.id}` },
      { apiKey: 'a-key', kitVersion },
    );
    return {
      expected: [one.cause, 'exit 3'],
      got: [blockedBy?.id ?? 'no gate', `exit ${exitCode}`],
    };
  } finally {
    await peer.stop();
  }
}
