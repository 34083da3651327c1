/** Judges the same peers with several seeds, and compares the requirements that fail. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { recordUnchanged, httpAreas } from '../../../conformance/proof/judged-peer.ts';
import {
  choosePeers,
  createPeerRuns,
  isVoiceRun,
  keyOfRecording,
  type PeerRun,
} from '../../../conformance/proof/peer-runs.ts';
import { createRowOnTime } from '../../../conformance/proof/selftest.ts';
import type { Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import type { Area } from '../../../src/contract/index.ts';
import { startAgent } from '../../../reference-agent/index.ts';

/** What failed by peer, then by seed. */
export type FailuresBySeed = Map<string, Map<string, string>>;

/** Notes what failed for a peer with a seed. */
export function note(failures: FailuresBySeed, peer: string, seed: string, failed: string): void {
  const bySeed = failures.get(peer) ?? new Map<string, string>();
  failures.set(peer, bySeed.set(seed, failed));
}

/**
 * Describes the peers that fail other requirements with some seeds, one line for each requirement: the
 * seeds with which it does what it does with the fewest of them.
 */
export function findFlickering(failures: FailuresBySeed): string[] {
  return [...failures].flatMap(([peer, bySeed]) => {
    const outcomes = [...bySeed].map(([seed, failed]) => ({ seed, ids: failed.split(' ') }));
    const ids = [...new Set(outcomes.flatMap((outcome) => outcome.ids))].filter(Boolean);
    return ids.flatMap((id) => {
      const failing = outcomes.filter((outcome) => outcome.ids.includes(id));
      if (failing.length === outcomes.length) return [];
      const isRare = failing.length * 2 <= outcomes.length;
      const seeds = (isRare ? failing : outcomes.filter((one) => !failing.includes(one)))
        .map(({ seed }) => seed)
        .join(', ');
      return [`${id}  ${peer}  ${isRare ? 'only with' : 'not with'} ${seeds}`];
    });
  });
}

/** Which mutants and variants to judge, and how thoroughly. */
interface StabilityOptions {
  seeds: readonly string[];
  /** Judge every nth peer. */
  every: number;
  /** With how many of the seeds a peer runs if a recording can't show what it does. */
  seedsLive: number;
}

/** Concurrent live runs; they mostly wait. */
const LANES = 8;

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
        sandbox,
        recordings,
        seed,
        kitVersion: 'test',
        everyProbe: false,
        service: undefined,
        startRecordingService: undefined,
        voiceVariantProbes: undefined,
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
          const { expected, actual } = await createRowOnTime(run);
          note(failures, run.id, seed, actual.join(' '));
          // What a run should show is what it shows with every seed.
          note(failures, run.id, 'any seed', expected.join(' '));
        }
      }),
    );
    await agent.stop();
  }
  return failures;
}

/** The failures as another process sends them. */
type Sent = [peer: string, bySeed: [seed: string, failed: string][]][];

/** Judges the peers in several processes, which share the seeds, to use all cores. */
export async function judgePeersInProcesses(
  options: StabilityOptions,
  processes: number,
): Promise<FailuresBySeed> {
  const failures: FailuresBySeed = new Map();
  await Promise.all(
    Array.from({ length: processes }, async (_, nth) => {
      const seeds = options.seeds.filter((_seed, index) => index % processes === nth);
      const seedsLive = Math.min(seeds.length, options.seedsLive);
      const child = fork(import.meta.filename, [JSON.stringify({ ...options, seeds, seedsLive })]);
      const ended = once(child, 'exit').then(([code]) => {
        throw new Error(`The process ended with ${String(code)}.`);
      });
      const [sent] = (await Promise.race([once(child, 'message'), ended])) as [Sent];
      for (const [peer, bySeed] of sent) {
        for (const [seed, failed] of bySeed) note(failures, peer, seed, failed);
      }
    }),
  );
  return failures;
}

if (import.meta.main) {
  const options = JSON.parse(process.argv[2] ?? '') as StabilityOptions;
  const failures = await judgePeersWithSeeds(options);
  const sent: Sent = [...failures].map(([peer, bySeed]) => [peer, [...bySeed]]);
  process.send?.(sent, () => process.exit());
}
