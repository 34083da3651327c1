import { randomSeed } from '../../src/platform/random.ts';
import { systemClock } from '../../src/platform/clock.ts';
import {
  areaOf,
  isServiceRun,
  requirement,
  requirementIds,
  serviceRequirementIds,
  type RequirementId,
} from '../areas/index.ts';
import { untouchedSandbox, untouchedService, untouchedVoice, type Peer } from './judged-peer.ts';
import {
  chosenPeers,
  isOfVoice,
  peerRuns,
  type ChosenPeers,
  type Grounds,
  type PeerChoice,
  type PeerRun,
} from './peer-runs.ts';

/** What conforms, and what to do with it. */
export interface SelftestOptions extends PeerChoice {
  /** Base address of a sandbox that conforms and has `/users`; needed for what is of a sandbox. */
  url?: string | undefined;
  apiKey?: string | undefined;
  /** Base address of a service that conforms and has a control API; needed for area A. */
  serviceUrl?: string | undefined;
  /** The key of that service. */
  serviceApiKey?: string | undefined;
  kitVersion: string;
  /** Every id follows from it; random when left out. */
  seed?: string;
  /** Drive every scenario against every distortion of the service, touched or not. */
  everyScenario?: boolean;
  /** Told after every row. */
  onResult?: (row: SelftestRow) => void;
}

/** One mutant, variant or dead peer, and whether the judge said of it what it must. */
export interface SelftestRow {
  kind: PeerRun['kind'];
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
  /** Why nothing was run: what was given is not fit for it. */
  cause?: string;
  seed: string;
  /** Milliseconds that all of it took; less than the rows together, since some wait side by side. */
  ms: number;
  rows: SelftestRow[];
  /** The mutants that turn a requirement red, for every requirement of a level that can. */
  matrix: Record<string, readonly string[]>;
  /** Requirements that no mutant turned red; none when every row was run and is right. */
  unkilled: RequirementId[];
}

/** Runs against one service side by side; while one waits for results, others go on. */
const SERVICE_LANES = 4;

/** Likewise, while people speak. */
const VOICE_LANES = 8;

/**
 * Proves the judge: against every mutant exactly its requirements turn red, against every legal
 * variant none, and every dead peer gives its one cause. Leaves the sandbox's users behind where a
 * mutant keeps the judge from deleting them.
 */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { seed = randomSeed(), onResult = () => {} } = options;
  const rows: SelftestRow[] = [];
  const startedMs = systemClock.monotonicMs();
  const peers = chosenPeers(options);
  const grounds = await groundsOf(options, peers, seed);
  if ('cause' in grounds) return { ok: false, ...grounds, seed, ms: 0, rows, ...NOTHING_KILLED };

  const runs = peerRuns(peers, grounds);
  const runAll = async (lane: PeerRun[]): Promise<void> => {
    for (let next = lane.shift(); next; next = lane.shift()) {
      const row = await rowOf(next);
      rows.push(row);
      onResult(row);
    }
  };
  const laned = (name: PeerRun['lane']): PeerRun[] => runs.filter(({ lane }) => lane === name);
  // What waits for a clock, waits beside what does not. What moves the clock of the service comes
  // before what else is run against it.
  const ofService = async (): Promise<void> => {
    await runAll(laned('alone'));
    const rest = laned('service');
    await Promise.all(Array.from({ length: SERVICE_LANES }, () => runAll(rest)));
  };
  const ofVoice = laned('voice');
  const voiceLanes = Array.from({ length: VOICE_LANES }, () => runAll(ofVoice));
  await Promise.all([runAll(laned('waits')), runAll(laned('quick')), ofService(), ...voiceLanes]);
  const matrix = matrixOf(rows);
  const unkilled = killableBy(options).filter((id) => !matrix[id]);
  // A choice of ids that chose nothing has proven nothing.
  const isProven = rows.length > 0 && rows.every(({ ok }) => ok);
  const isWhole = options.only === undefined || options.only === '';
  const ok = isProven && (!isWhole || unkilled.length === 0);
  const ms = Math.round(systemClock.monotonicMs() - startedMs);
  return { ok, seed, ms, rows: inOrder(rows, runs), matrix, unkilled };
}

const NOTHING_KILLED = { matrix: {}, unkilled: [] };

async function rowOf({ kind, id, run }: PeerRun): Promise<SelftestRow> {
  const startedMs = systemClock.monotonicMs();
  const { expected, got } = await run();
  const ms = Math.round(systemClock.monotonicMs() - startedMs);
  return { kind, id, expected, got, ok: expected.join() === got.join(), ms };
}

/** What the chosen peers are made of; or why it is not fit for that. */
async function groundsOf(
  options: SelftestOptions,
  peers: ChosenPeers,
  seed: string,
): Promise<Grounds | { cause: string }> {
  const { kitVersion, apiKey, serviceApiKey, everyScenario = false } = options;
  const distorted = [...peers.mutants, ...peers.variants];
  const sandbox = peerAt(options.url, apiKey, kitVersion);
  const service = peerAt(options.serviceUrl, serviceApiKey, kitVersion);
  const grounds: Grounds = { sandbox, service: undefined, kitVersion, seed, everyScenario };
  if (distorted.some((one) => !isServiceRun(one))) {
    if (!sandbox) return { cause: 'No sandbox is given that mutants could be made of.' };
    const found = await untouchedSandbox(sandbox, seed);
    if ('cause' in found) return found;
    const called = distorted.some(isOfVoice) ? await untouchedVoice(sandbox, seed) : found;
    if ('cause' in called) return called;
  }
  if (distorted.some(isServiceRun)) {
    if (!service) return { cause: 'No service is given that mutants could be made of.' };
    const found = await untouchedService(service, seed);
    if ('cause' in found) return found;
    grounds.service = { ...service, untouched: found.transcript };
  }
  return grounds;
}

function peerAt(
  url: string | undefined,
  apiKey: string | undefined,
  kitVersion: string,
): Peer | undefined {
  return url === undefined ? undefined : { url, apiKey, kitVersion };
}

function inOrder(rows: readonly SelftestRow[], runs: readonly PeerRun[]): SelftestRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return runs.flatMap(({ id }) => byId.get(id) ?? []);
}

/** How many rows a self-test of some peers has. */
export function selftestSize(choice: PeerChoice = {}): number {
  const { mutants, variants, deadPeers } = chosenPeers(choice);
  return mutants.length + variants.length + deadPeers.length;
}

/** Ids of the requirements whose breach turns red; of a sandbox unless others are given. */
export function killable(ids: readonly RequirementId[] = requirementIds): RequirementId[] {
  return ids.filter((id) => ['must', 'should', 'target'].includes(requirement(id).level));
}

const ALL_IDS = [...requirementIds, ...serviceRequirementIds];

function killableBy({ areas }: PeerChoice): RequirementId[] {
  return killable(ALL_IDS).filter((id) => !areas || areas.includes(areaOf(id)));
}

function matrixOf(rows: readonly SelftestRow[]): SelftestResult['matrix'] {
  return Object.fromEntries(
    killable(ALL_IDS).flatMap((id) => {
      const killers = rows.filter(({ kind, got }) => kind === 'mutant' && got.includes(id));
      return killers.length === 0 ? [] : [[id, killers.map((row) => row.id)]];
    }),
  );
}
