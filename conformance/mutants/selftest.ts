import { randomSeed } from '../../src/shared/chance.ts';
import { scaledClock, systemClock } from '../../src/shared/clock.ts';
import type { Judgement } from '../judge/judge.ts';
import {
  isServiceRun,
  requirement,
  requirementIds,
  serviceRequirementIds,
  type RequirementId,
} from '../requirements/index.ts';
import type { DeadPeer } from './dead-peers.ts';
import { deadPeers, mutants, serviceMutants, serviceVariants, variants } from './index.ts';
import type { Distortion, Mutant, Variant } from './mutant.ts';
import { EVERYTHING, idsWith, judged, redOf, unfitSandbox, unfitService } from './judged-peer.ts';
import { startProxy } from './proxy.ts';

/** A sandbox that conforms, and what to do with it. */
export interface SelftestOptions {
  /** Base address of a sandbox that conforms and has `/users`. */
  url: string;
  apiKey?: string | undefined;
  /** Base address of a service that conforms and has a control API, to prove that part as well. */
  serviceUrl?: string | undefined;
  /** The key of that service. */
  serviceApiKey?: string | undefined;
  kitVersion: string;
  /** Every id follows from it; random when left out. */
  seed?: string;
  /** Told after every row. */
  onResult?: (row: SelftestRow) => void;
  /** Run only what has this text in its id. */
  only?: string;
}

/** One mutant, variant or dead peer, and whether the judge said of it what it must. */
export interface SelftestRow {
  kind: 'mutant' | 'variant' | 'dead peer';
  id: string;
  /** Ids of requirements that must turn red; for a dead peer the gate and the exit code. */
  expected: readonly string[];
  got: readonly string[];
  ok: boolean;
  ms: number;
}

/** What the self-test of the judge came to. */
export interface SelftestResult {
  ok: boolean;
  /** Why nothing was run: the sandbox itself is not fit for it. */
  cause?: string;
  seed: string;
  /** Milliseconds that all of it took; less than the rows together, since some wait side by side. */
  ms: number;
  rows: SelftestRow[];
  /** The mutants that turn a requirement red, for every requirement of a level that can. */
  matrix: Partial<Record<RequirementId, string[]>>;
  /** Requirements that no mutant turned red; none when every row was run and is right. */
  unkilled: RequirementId[];
}

/**
 * Proves the judge: against every mutant exactly its requirements turn red, against every legal
 * variant none, and every dead peer gives its one cause. Leaves the sandbox's users behind where a
 * mutant keeps the judge from deleting them.
 */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { seed = randomSeed(), only = '', onResult = () => {} } = options;
  const rows: SelftestRow[] = [];
  const startedMs = systemClock.monotonicMs();
  const cause = (await unfitSandbox(options, seed)) ?? (await unfitServiceOf(options, seed));
  if (cause !== undefined) return { ok: false, cause, seed, ms: 0, rows, matrix: {}, unkilled: [] };

  const runs = runsOf(options, seed).filter(({ id }) => id.includes(only));
  const runAll = async (lane: readonly Run[]): Promise<void> => {
    for (const { kind, id, run } of lane) {
      const rowStartedMs = systemClock.monotonicMs();
      const { expected, got } = await run();
      const row: SelftestRow = {
        kind,
        id,
        expected,
        got,
        ok: expected.join() === got.join(),
        ms: Math.round(systemClock.monotonicMs() - rowStartedMs),
      };
      rows.push(row);
      onResult(row);
    }
  };
  const laned = (name: Run['lane']): Run[] => runs.filter(({ lane }) => lane === name);
  // What waits for a clock, waits beside what does not. What moves the clock of the service comes
  // before what else is run against it.
  const ofService = async (): Promise<void> => {
    await runAll(laned('alone'));
    const rest = laned('service');
    await Promise.all([0, 1].map((half) => runAll(rest.filter((_run, at) => at % 2 === half))));
  };
  await Promise.all([runAll(laned('waits')), runAll(laned('quick')), ofService()]);
  const matrix = matrixOf(rows);
  const unkilled = [
    ...killable(),
    ...(options.serviceUrl === undefined ? [] : killable(serviceRequirementIds)),
  ].filter((id) => !matrix[id]);
  // A choice of ids that chose nothing has proven nothing.
  const isProven = rows.length > 0 && rows.every(({ ok }) => ok);
  const ok = isProven && (only !== '' || unkilled.length === 0);
  const ms = Math.round(systemClock.monotonicMs() - startedMs);
  return { ok, seed, ms, rows: inOrder(rows, runs), matrix, unkilled };
}

async function unfitServiceOf(
  { serviceUrl: url, serviceApiKey: apiKey, kitVersion }: SelftestOptions,
  seed: string,
): Promise<string | undefined> {
  return url === undefined ? undefined : unfitService({ url, apiKey, kitVersion }, seed);
}

function inOrder(rows: readonly SelftestRow[], runs: readonly Run[]): SelftestRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return runs.flatMap(({ id }) => byId.get(id) ?? []);
}

/** A row that is still to be run. */
interface Run {
  kind: SelftestRow['kind'];
  id: string;
  lane: 'quick' | 'waits' | 'service' | 'alone';
  run: () => Promise<Outcome>;
}

function runsOf(options: SelftestOptions, seed: string): Run[] {
  const runs = <Peer extends Distortion | DeadPeer>(
    kind: Run['kind'],
    peers: readonly Peer[],
    run: (peer: Peer, options: SelftestOptions, seed: string) => Promise<Outcome>,
  ): Run[] =>
    peers.map((peer) => ({
      kind,
      id: peer.id,
      lane: laneOf(peer),
      run: () => run(peer, options, seed),
    }));
  return [
    ...runs('mutant', mutants, runMutant),
    ...runs('variant', variants, runVariant),
    ...runs('dead peer', deadPeers, runDeadPeer),
    ...(options.serviceUrl === undefined
      ? []
      : [
          ...runs('mutant', serviceMutants, runMutant),
          ...runs('variant', serviceVariants, runVariant),
        ]),
  ];
}

function laneOf(peer: Distortion | DeadPeer): Run['lane'] {
  if (isOfService(peer)) return 'intrusive' in peer && peer.intrusive ? 'alone' : 'service';
  return peer.clockFactor === undefined ? 'quick' : 'waits';
}

const isOfService = (peer: Distortion | DeadPeer): boolean => 'areas' in peer && isServiceRun(peer);

/** How many rows a self-test has whose ids contain a text; those of the service where it is there. */
export function selftestSize(only = '', withService = false): number {
  const ofService = withService ? [...serviceMutants, ...serviceVariants] : [];
  const all = [...mutants, ...variants, ...deadPeers, ...ofService];
  return all.filter(({ id }) => id.includes(only)).length;
}

/** Ids of the requirements whose breach turns red; of a sandbox unless others are given. */
export function killable(ids: readonly RequirementId[] = requirementIds): RequirementId[] {
  return ids.filter((id) => ['must', 'should', 'target'].includes(requirement(id).level));
}

function matrixOf(rows: readonly SelftestRow[]): SelftestResult['matrix'] {
  return Object.fromEntries(
    [...killable(), ...killable(serviceRequirementIds)].flatMap((id) => {
      const killers = rows.filter(({ kind, got }) => kind === 'mutant' && got.includes(id));
      return killers.length === 0 ? [] : [[id, killers.map((row) => row.id)]];
    }),
  );
}

interface Outcome {
  expected: string[];
  got: string[];
}

async function runDistorted(
  one: Distortion,
  options: SelftestOptions,
  seed: string,
): Promise<Judgement> {
  const clock = one.clockFactor === undefined ? systemClock : scaledClock(one.clockFactor);
  const { serviceUrl, serviceApiKey } = options;
  const ofService = isOfService(one) && serviceUrl !== undefined;
  const upstream = ofService ? serviceUrl : options.url;
  const apiKey = ofService ? serviceApiKey : options.apiKey;
  const proxy = await startProxy({ upstream, transform: one.transform(), clock });
  try {
    return await judged(
      {
        target: proxy.url,
        areas: one.areas,
        clock,
        seed: `${seed}/${one.id}`,
        ...(one.run && { run: one.run }),
        intrusive: one.intrusive ?? false,
      },
      { apiKey, kitVersion: options.kitVersion },
    );
  } finally {
    await proxy.stop();
  }
}

async function runMutant(one: Mutant, options: SelftestOptions, seed: string): Promise<Outcome> {
  const judgement = await runDistorted(one, options, seed);
  const got = [...redOf(judgement), ...idsWith(judgement, ['error'])];
  return { expected: [...one.kills].sort(), got: got.sort() };
}

async function runVariant(one: Variant, options: SelftestOptions, seed: string): Promise<Outcome> {
  const judgement = await runDistorted(one, options, seed);
  return {
    expected: ['conforming'],
    got: [judgement.verdict, ...redOf(judgement), ...idsWith(judgement, ['blocked', 'error'])],
  };
}

async function runDeadPeer(
  { id, gate, clockFactor, start }: DeadPeer,
  { kitVersion }: SelftestOptions,
  seed: string,
): Promise<Outcome> {
  const clock = clockFactor === undefined ? systemClock : scaledClock(clockFactor);
  const peer = await start(clock);
  try {
    const { gate: found, exitCode } = await judged(
      { target: peer.url, areas: EVERYTHING, clock, seed: `${seed}/${id}` },
      { apiKey: 'a-key', kitVersion },
    );
    return { expected: [gate, 'exit 3'], got: [found?.id ?? 'no gate', `exit ${exitCode}`] };
  } finally {
    await peer.stop();
  }
}
