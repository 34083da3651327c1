import type { Area } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { explainLocalDelay, monitorLocalDelay } from '../../src/voice/latency/index.ts';
import { randomSeed } from '../../src/platform/random.ts';
import {
  allRequirementIds,
  isClientRun,
  isServiceRun,
  requirement,
  requirementIds,
} from '../areas/index.ts';
import { chooseCover } from './cover.ts';
import { passThrough } from '../engine/mutants/combinators.ts';
import { judgeDistortedClient, type StartRecordingService } from './client/client-runs.ts';
import type { Probe } from '../engine/probe.ts';
import { areaOf, type RequirementId } from '../engine/requirement.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';
import {
  explainNonconformity,
  recordUnchanged,
  runSandboxBaseline,
  runServiceBaseline,
  runVoiceBaseline,
  type Peer,
} from './judged-peer.ts';
import {
  choosePeers,
  createPeerRuns,
  isExpected,
  isVoiceRun,
  keyOfRecording,
  type ChosenPeers,
  type PeerBases,
  type PeerChoice,
  type PeerOutcome,
  type PeerRun,
} from './peer-runs.ts';

/** Selects the peers to run, and names the conforming sandbox and service that the mutants change. */
export interface SelftestOptions extends PeerChoice {
  /** URL of a conforming sandbox with `/users`; required for mutants and variants of a sandbox. */
  url?: string | undefined;
  apiKey?: string | undefined;
  /** URL of a conforming service with a control API; required for mutants of the service. */
  serviceUrl?: string | undefined;
  /** The key of that service. */
  serviceApiKey?: string | undefined;
  /** Starts a service that records its callers; required for mutants of a client. */
  startRecordingService?: StartRecordingService | undefined;
  kitVersion: string;
  /** All ids derive from it (default: random). */
  seed?: string;
  /** Run every probe against every mutant, not only the probes that can see it. */
  everyProbe?: boolean;
  /**
   * Save most of the time: apply each mutant and variant to a recording of the unchanged peer, and run
   * it only if that does not show the expected result. Of the mutants that have to run, run only as many
   * as it takes to kill every requirement.
   */
  isQuick?: boolean;
  /** The probes to run against a legal variant that changes calls (default: all). */
  voiceVariantProbes?: readonly Probe[];
  /** Called after every row. */
  onResult?: (row: SelftestRow) => void;
}

/** The result for one mutant, variant or dead peer. */
export interface SelftestRow {
  kind: PeerRun['kind'];
  id: string;
  /** Ids of the requirements that must fail; for a dead peer, the cause and the exit code. */
  expected: readonly string[];
  actual: readonly string[];
  ok: boolean;
  ms: number;
  /** The result comes from the changed recording of the unchanged peer. */
  isReplayed?: true;
}

/** The result of a self-test. */
export interface SelftestResult {
  ok: boolean;
  /** Why no peer was run: the sandbox or the service can't be the base of mutants. */
  cause?: string;
  seed: string;
  /** Duration in milliseconds. Rows run concurrently, so it is shorter than their sum. */
  ms: number;
  rows: SelftestRow[];
  /** The mutants that a quick self-test did not run. */
  skipped: string[];
  /** The mutants that made each requirement fail. */
  matrix: Record<string, readonly string[]>;
  /** Requirements that no mutant made fail. Empty after a complete, successful self-test. */
  unkilled: RequirementId[];
}

/** Concurrent runs against one service. Most of their time is spent waiting for results. */
const SERVICE_LANES = 4;

/** Concurrent runs of clients. Most of their time is spent waiting to send a request again. */
const CLIENT_LANES = 12;

/** Concurrent runs with calls. Most of their time is spent waiting for speech. */
const VOICE_LANES = 8;

/**
 * Proves the engine: every mutant fails exactly its requirements, every legal variant fails none, and
 * every dead peer gets its one cause. Users may remain in the sandbox if a
 * mutant keeps the engine from deleting them.
 */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { seed = randomSeed(), onResult = () => {} } = options;
  const startedMs = systemClock.monotonicMs();
  const peers = choosePeers(options);
  const bases = await prepareBases(options, peers, seed);
  if ('cause' in bases) {
    return { ok: false, ...bases, seed, ms: 0, rows: [], skipped: [], matrix: {}, unkilled: [] };
  }
  const runs = createPeerRuns(peers, bases);
  const rows: SelftestRow[] = [];
  const addRow = (row: SelftestRow): void => {
    rows.push(row);
    onResult(row);
  };
  const open = options.isQuick ? await replayAll(runs, addRow) : runs;
  const due = options.isQuick ? omitCovered(open, rows) : open;
  await runLanes(due, addRow);
  const matrix = createMatrix(rows);
  const unkilled = findUnkilled(Object.keys(matrix), options);
  const isProven = rows.length > 0 && rows.every(({ ok }) => ok);
  const isComplete = options.only === undefined || options.only === '';
  return {
    ok: isProven && (!isComplete || unkilled.length === 0),
    seed,
    ms: Math.round(systemClock.monotonicMs() - startedMs),
    rows: sortLike(runs, rows),
    skipped: open.filter((run) => !due.includes(run)).map(({ id }) => id),
    matrix,
    unkilled,
  };
}

/** Judges what a recording shows, and returns the runs that are still needed. */
async function replayAll(
  runs: readonly PeerRun[],
  onRow: (row: SelftestRow) => void,
): Promise<PeerRun[]> {
  const open: PeerRun[] = [];
  for (const run of runs) {
    const startedMs = systemClock.monotonicMs();
    const outcome = await run.replay?.();
    if (outcome) onRow(toRow(run, outcome, startedMs));
    else open.push(run);
  }
  return open;
}

/** Omits mutants that kill only what others kill. */
function omitCovered(runs: readonly PeerRun[], rows: readonly SelftestRow[]): PeerRun[] {
  const killed = new Set(Object.keys(createMatrix(rows)) as RequirementId[]);
  const cover = chooseCover(
    runs.flatMap(({ mutant }) => mutant ?? []),
    killed,
  );
  return runs.filter(({ mutant }) => !mutant || cover.has(mutant));
}

/** How often a peer is run if this machine is too busy. */
const ATTEMPTS_MAX = 4;

/** A process that was starved for longer can lose a connection or exceed a time limit. */
const LATE_MS_MAX = 50;

/**
 * Runs the lanes concurrently. Mutants that advance the clock of the service run one by one, before
 * anything else runs against the service. A wrong result proves nothing if this process was starved of
 * CPU time. Such a peer runs again after all others, alone, until its result is right or the process
 * was on time; the last attempt counts in any case.
 */
async function runLanes(
  runs: readonly PeerRun[],
  onRow: (row: SelftestRow) => void,
): Promise<void> {
  const spoiled: PeerRun[] = [];
  const runLane = async (name: PeerRun['lane'], concurrency = 1): Promise<void> => {
    const queue = runs.filter(({ lane }) => lane === name);
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { row, isSpoiled } = await createTimedRow(next);
        if (isSpoiled) spoiled.push(next);
        else onRow(row);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  };
  await Promise.all([
    runLane('waits'),
    runLane('quick'),
    runLane('alone').then(() => runLane('service', SERVICE_LANES)),
    runLane('voice', VOICE_LANES),
    runLane('client', CLIENT_LANES),
  ]);
  for (const run of spoiled) onRow(await createRowOnTime(run));
}

/** Runs a peer again until its result is right or this process was on time; the last attempt counts. */
export async function createRowOnTime(run: PeerRun): Promise<SelftestRow> {
  let { row, isSpoiled } = await createTimedRow(run);
  for (let attempts = 2; isSpoiled && attempts < ATTEMPTS_MAX; attempts += 1) {
    ({ row, isSpoiled } = await createTimedRow(run));
  }
  return row;
}

/**
 * Runs a peer; a wrong result is spoiled if this process was late during the run. On a fast clock the
 * same delay spoils more.
 */
async function createTimedRow(run: PeerRun): Promise<{ row: SelftestRow; isSpoiled: boolean }> {
  const stopMonitor = monitorLocalDelay();
  const row = await createRow(run);
  const delay = stopMonitor();
  const wasLate =
    explainLocalDelay(delay) !== undefined || delay.loopLateMaxMs * run.clockFactor > LATE_MS_MAX;
  return { row, isSpoiled: !row.ok && wasLate };
}

async function createRow(run: PeerRun): Promise<SelftestRow> {
  const startedMs = systemClock.monotonicMs();
  return toRow(run, await run.run(), startedMs);
}

function toRow({ kind, id }: PeerRun, outcome: PeerOutcome, startedMs: number): SelftestRow {
  const ms = Math.round(systemClock.monotonicMs() - startedMs);
  return { kind, id, ...outcome, ok: isExpected(outcome), ms };
}

/** Runs the unchanged peers that the mutants and variants need, or returns why they can't be used. */
async function prepareBases(
  options: SelftestOptions,
  peers: ChosenPeers,
  seed: string,
): Promise<PeerBases | { cause: string }> {
  const { kitVersion, apiKey, serviceApiKey, startRecordingService } = options;
  const { everyProbe = false, isQuick = false } = options;
  const distortions = [...peers.mutants, ...peers.variants];
  const sandbox = createPeer(options.url, apiKey, kitVersion);
  const service = createPeer(options.serviceUrl, serviceApiKey, kitVersion);
  const recordings = new Map<string, Transcript>();
  if (distortions.some(isSandboxRun)) {
    if (!sandbox) return { cause: 'The selected mutants and variants need a conforming sandbox.' };
    const baseline = await runSandboxBaseline(sandbox, seed);
    if ('cause' in baseline) return baseline;
    if (distortions.some(isVoiceRun)) {
      const voiceBaseline = await runVoiceBaseline(sandbox, seed);
      if ('cause' in voiceBaseline) return voiceBaseline;
    }
  }
  if (distortions.some(isClientRun)) {
    const cause = await findClientCause(startRecordingService, kitVersion);
    if (cause !== undefined) return { cause };
  }
  if (distortions.some(isServiceRun)) {
    if (!service) return { cause: 'The selected mutants and variants need a conforming service.' };
    const baseline = await runServiceBaseline(service, seed);
    if ('cause' in baseline) return baseline;
    recordings.set(keyOfRecording({ areas: ['service'] }), baseline.transcript);
  }
  for (const run of isQuick ? distortions.filter(isReplayable) : []) {
    const peer = isServiceRun(run) ? service : sandbox;
    if (!peer || recordings.has(keyOfRecording(run))) continue;
    recordings.set(keyOfRecording(run), await recordUnchanged(peer, run, seed));
  }
  return {
    sandbox,
    service,
    recordings,
    startRecordingService,
    kitVersion,
    seed,
    everyProbe,
    voiceVariantProbes: options.voiceVariantProbes,
  };
}

/** Whether a run can be shown by a recording: calls depend on time, and clients are not sent requests. */
const isReplayable = (run: { areas: readonly Area[] }): boolean =>
  !isVoiceRun(run) && !isClientRun(run);

/** Whether a run checks a sandbox. */
const isSandboxRun = (run: { areas: readonly Area[] }): boolean =>
  !isServiceRun(run) && !isClientRun(run);

/** Runs the unchanged reference client, and returns why it can't be the base of mutants. */
async function findClientCause(
  start: StartRecordingService | undefined,
  kitVersion: string,
): Promise<string | undefined> {
  if (!start) return 'The selected mutants and variants need a service that records its callers.';
  const judgment = await judgeDistortedClient({ transform: passThrough }, start, kitVersion);
  return explainNonconformity('client', judgment);
}

function createPeer(
  url: string | undefined,
  apiKey: string | undefined,
  kitVersion: string,
): Peer | undefined {
  return url === undefined ? undefined : { url, apiKey, kitVersion };
}

function sortLike(runs: readonly PeerRun[], rows: readonly SelftestRow[]): SelftestRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return runs.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Returns how many rows a self-test has. */
export function selftestSize(choice: PeerChoice): number {
  const { mutants, variants, deadPeers } = choosePeers(choice);
  return mutants.length + variants.length + deadPeers.length;
}

/** Returns how many requirements a proven self-test names because it runs no mutant of them. */
export function countUnkilled(choice: PeerChoice): number {
  const killed = choosePeers(choice).mutants.flatMap(({ kills }) => kills);
  return findUnkilled(killed, choice).length;
}

function findUnkilled(killed: readonly string[], { areas }: PeerChoice): RequirementId[] {
  return killable(allRequirementIds).filter(
    (id) => !killed.includes(id) && (areas?.includes(areaOf(id)) ?? true),
  );
}

/** Returns the requirements that can fail or warn (default: those of a sandbox). */
export function killable(ids: readonly RequirementId[] = requirementIds): RequirementId[] {
  return ids.filter((id) => ['must', 'should', 'target'].includes(requirement(id).level));
}

function createMatrix(rows: readonly SelftestRow[]): SelftestResult['matrix'] {
  return Object.fromEntries(
    killable(allRequirementIds).flatMap((id) => {
      const killers = rows.filter(({ kind, actual }) => kind === 'mutant' && actual.includes(id));
      return killers.length === 0 ? [] : [[id, killers.map((row) => row.id)]];
    }),
  );
}
