/** Judges the same peers with several seeds, and compares the requirements that fail. */
import { recordUnchanged, httpAreas } from '../../conformance/proof/judged-peer.ts';
import {
  choosePeers,
  createPeerRuns,
  isExpected,
  isVoiceRun,
  keyOfRecording,
  type PeerRun,
} from '../../conformance/proof/peer-runs.ts';
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import type { Area } from '../../src/contract/index.ts';
import { startAgent } from '../../reference-agent/index.ts';

/** What failed by peer, then by seed. */
export type FailuresBySeed = Map<string, Map<string, string>>;

/** Notes what failed for a peer with a seed. */
export function note(failures: FailuresBySeed, peer: string, seed: string, failed: string): void {
  const bySeed = failures.get(peer) ?? new Map<string, string>();
  failures.set(peer, bySeed.set(seed, failed));
}

/** Describes the peers that fail other requirements with other seeds, one line each. */
export function findFlickering(failures: FailuresBySeed): string[] {
  return [...failures].flatMap(([peer, bySeed]) => {
    const groups = Map.groupBy(bySeed, ([, failed]) => failed);
    if (groups.size < 2) return [];
    const outcomes = [...groups].map(
      ([failed, seeds]) => `${failed || 'nothing'} with ${seeds.map(([seed]) => seed).join(', ')}`,
    );
    return [`${peer}: ${outcomes.join('; ')}`];
  });
}

/** Which mutants and variants to judge, and how thoroughly. */
export interface StabilityOptions {
  seeds: readonly string[];
  /** Judge every nth peer. */
  every: number;
  /** With how many of the seeds a peer runs if a recording can't show what it does. */
  seedsLive: number;
}

const LANES = 4;

/** Judges mutants and legal variants of chat, health, and users with each seed. */
export async function judgePeersWithSeeds(options: StabilityOptions): Promise<FailuresBySeed> {
  const { seeds, every, seedsLive } = options;
  const failures: FailuresBySeed = new Map();
  const chosen = choosePeers({ areas: httpAreas });
  const isChosen = (peer: { areas: readonly Area[] }, index: number): boolean =>
    index % every === 0 && !isVoiceRun(peer);
  const mutants = chosen.mutants.filter(isChosen);
  const variants = chosen.variants.filter(isChosen);
  const apiKey = 'a-key-of-the-sandbox';
  for (const [nth, seed] of seeds.entries()) {
    const agent = await startAgent({ apiKey });
    const sandbox = { url: agent.url, apiKey, kitVersion: 'test' };
    const recordings = new Map<string, Transcript>();
    for (const peer of [...mutants, ...variants]) {
      const key = keyOfRecording(peer);
      if (!recordings.has(key)) recordings.set(key, await recordUnchanged(sandbox, peer, seed));
    }
    const runs = createPeerRuns(
      { mutants, variants, deadPeers: [] },
      {
        ...{ sandbox, recordings, seed, kitVersion: 'test', everyProbe: false },
        ...{ service: undefined, startRecordingService: undefined, voiceVariantProbes: undefined },
      },
    );
    const live: PeerRun[] = [];
    for (const [index, run] of runs.entries()) {
      const replayed = await run.replay?.();
      if (replayed) note(failures, run.id, seed, replayed.actual.join(' '));
      // Other peers take their turns with other seeds.
      else if ((index + nth) % seeds.length < seedsLive) live.push(run);
    }
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let run = live.shift(); run; run = live.shift()) {
          let outcome = await run.run();
          // A busy machine can spoil one run.
          if (!isExpected(outcome)) outcome = await run.run();
          note(failures, run.id, seed, outcome.actual.join(' '));
          // What a run should show is what it shows with every seed.
          note(failures, run.id, 'any seed', outcome.expected.join(' '));
        }
      }),
    );
    await agent.stop();
  }
  return failures;
}
