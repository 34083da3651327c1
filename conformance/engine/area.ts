import type { Area, Endpoint, ObservedBehaviors } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Check, Repair } from './checks/check.ts';
import type { BlockingCause, Preflight } from './preflight/blocking-cause.ts';
import type { Mutant, Variant } from './mutants/mutant.ts';
import type { Probe, ProbeEntry } from './probe.ts';
import {
  areaOf,
  toRequirement,
  type Requirement,
  type RequirementEntries,
  type RequirementEntry,
  type RequirementId,
  type Subject,
} from './requirement.ts';
import type { Tried } from './sweep/tried.ts';
import type { Exchange, Transcript } from './transcript/transcript.ts';

/** One area of the interface: its requirements, what the engine needs to judge them, and their proof. */
export interface AreaDefinition<Id extends RequirementId = RequirementId> {
  name: Area;
  /** The endpoints whose exchanges belong to the area. */
  endpoints: readonly Endpoint[];
  requirements: Readonly<Record<Id, Requirement>>;
  checks: Readonly<Record<Id, Check>>;
  /** The probes, in the order of their start within a phase. */
  probes: readonly Probe[];
  /** Returns what the peer does where the specification is silent, by name of the behavior. */
  observe(transcript: Transcript): ObservedBehaviors;
  /** Returns what the generated requests tried. */
  listTried?: (transcript: Transcript) => Tried;
  /** Returns sentences that the report shows next to the verdict. */
  notices?(transcript: Transcript, options: { isBlocked: boolean }): readonly string[];
  /** Reports that the peer lacks the area. Called if the run checks this area alone. */
  findAbsence?(preflight: Preflight): BlockingCause | undefined;
  /** Peers that break its rules. */
  mutants: readonly Mutant[];
  /** Unusual but legal peers. */
  variants: readonly Variant[];
}

/** What the state that the probes of a run share is created from. */
export interface RunSetup {
  clock: Clock;
  seed: string;
  /** ISO 8601 time when the run started. */
  startedAt: string;
  intrusive: boolean;
  /** Ends every pause. */
  signal: AbortSignal | undefined;
}

/** What kind of peer a suite checks, and what the engine has to know about it. */
export interface SuiteOptions {
  /** The noun for the peer in messages. A client is not checked with probes: it was recorded. */
  peer: 'sandbox' | 'service' | 'client';
  /** The areas in the order of their requirements. */
  areas: readonly AreaDefinition[];
  /** The areas, in the order their probes start (default: the order of `areas`). */
  startOrder?: readonly AreaDefinition[];
  /** Creates the state that the probes share, and lists its secrets, which are never recorded. */
  createState(setup: RunSetup): { state: object; secrets: readonly string[] };
  /** Returns the header that carries the key. `headerName` is the name set by --api-key-header. */
  authorize(key: string, headerName: string): Record<string, string>;
  /** Returns the preflight exchange that shows whether the peer accepts the key. */
  findKeyedExchange(preflight: Preflight): Exchange | undefined;
  /**
   * Whether the run waits for a peer that stops responding, and sends a failed request again, alone.
   * The peer needs `GET /health`.
   */
  repeatsFailures: boolean;
  /** Whether a preflight with only 4xx and 5xx responses blocks the run. */
  isBlockedByErrors: boolean;
  /** Recognizes common defects in a recording. "Fix first" prefers their repairs to other ones. */
  diagnose(transcript: Transcript): readonly Repair[];
  /** Returns changes that may clear many failures of a recording. "Fix first" tries each of them. */
  repairs(transcript: Transcript): readonly Repair[];
  /** Returns the cause that prevents the judgment of a recording without a preflight. */
  findRecordingCause?(transcript: Transcript): BlockingCause | undefined;
  /** Returns an exchange without content that a page must not show, such as conversation text. */
  toShown?: ((exchange: Exchange) => Exchange) | undefined;
  /** What to do if the peer requires a key and none is set, refuses the key, or knows no path. */
  cures: { keyMissing: string; keyRefused: string; noInterface: string };
}

/** Everything that is checked of one kind of peer. The engine gets it as a value. */
export interface Suite extends SuiteOptions {
  requirementIds: readonly RequirementId[];
  requirements: Readonly<Record<RequirementId, Requirement>>;
  checks: Readonly<Record<RequirementId, Check>>;
  probes: readonly Probe[];
}

/** Combines the areas of a peer. */
export function createSuite(options: SuiteOptions): Suite {
  const { areas, startOrder = areas } = options;
  const requirements = mergeAll(areas.map((area) => area.requirements));
  return {
    ...options,
    requirements,
    requirementIds: Object.keys(requirements) as RequirementId[],
    checks: mergeAll(areas.map((area) => area.checks)),
    probes: startOrder.flatMap(({ probes }) => probes),
  };
}

function mergeAll<Value>(
  records: readonly Readonly<Record<RequirementId, Value>>[],
): Readonly<Record<RequirementId, Value>> {
  return Object.assign({}, ...records) as Record<RequirementId, Value>;
}

/** What an area is created from. */
export interface AreaParts extends Pick<
  AreaDefinition,
  'name' | 'endpoints' | 'observe' | 'listTried' | 'notices' | 'findAbsence'
> {
  subjects: readonly Subject[];
  /** The probes, in the order of their start within a phase. Requirements name them by id. */
  probes: readonly ProbeEntry[];
  /** The areas whose checks a legal variant must pass (default: the area). */
  legalFor?: readonly Area[];
}

/**
 * Creates an area from its subjects. What follows from the entries is derived: the ledger in the order
 * of the ids, the checks, which requirements a probe exercises, and the proof.
 *
 * @throws {Error} if an id or a name is used twice, or if an entry names something that is missing.
 */
export function createArea({ subjects, probes, legalFor, ...area }: AreaParts): AreaDefinition {
  const { name } = area;
  const entries = joinAll(subjects.map(({ requirements }) => requirements)) as RequirementEntries;
  const ids = (Object.keys(entries) as RequirementId[]).sort();
  const all = ids.map((id) => ({ ...entries[id], id }) as RequirementEntry & { id: RequirementId });
  requireKnown(
    all.flatMap(({ probes: named = [] }) => named),
    probes.map(({ id }) => id),
  );

  const own = all.map(({ id, mutants = {} }) =>
    mapValues(mutants, ({ alsoKills = [], ...mutant }) => ({
      ...mutant,
      kills: [id, ...alsoKills].sort(),
    })),
  );
  const shared = subjects.map(({ mutants = {} }) => mutants);
  const mutants = Object.entries(joinAll([...own, ...shared])).map(([key, mutant]) => ({
    areas: [name],
    ...mutant,
    id: `${name}/${key}`,
  }));
  requireKnown(
    mutants.flatMap(({ kills }) => kills.filter((id) => areaOf(id) === name)),
    ids,
  );
  const legal = joinAll([...all, ...subjects].map((entry) => entry.legal ?? {}));
  return {
    ...area,
    requirements: Object.fromEntries(all.map((entry) => [entry.id, toRequirement(entry)])),
    checks: Object.fromEntries(all.map(({ id, check }) => [id, check])),
    probes: completeProbes(probes, (probe) =>
      all.filter((entry) => entry.probes?.includes(probe)).map(({ id }) => id),
    ),
    mutants,
    variants: Object.entries(legal).map(([key, variant]) => ({
      areas: legalFor ?? [name],
      ...variant,
      id: `legal/${name}-${key}`,
    })),
  };
}

/** Completes probes, and those that they need. Each becomes one probe, because runs compare them. */
function completeProbes(
  entries: readonly ProbeEntry[],
  exercisedBy: (id: string) => RequirementId[],
): Probe[] {
  const completed = new Map<ProbeEntry, Probe>();
  const complete = (entry: ProbeEntry): Probe => {
    const known = completed.get(entry);
    if (known) return known;
    const { needs, ...rest } = entry;
    const exercises = exercisedBy(entry.id);
    const probe = { ...rest, exercises, ...(needs && { needs: needs.map(complete) }) };
    completed.set(entry, probe);
    return probe;
  };
  return entries.map(complete);
}

/** Joins records that have no key in common. */
function joinAll<Value>(
  records: readonly Readonly<Record<string, Value>>[],
): Record<string, Value> {
  const joined: Record<string, Value> = {};
  for (const [key, value] of records.flatMap((record) => Object.entries(record))) {
    if (Object.hasOwn(joined, key)) throw new Error(`${key} is defined twice.`);
    joined[key] = value;
  }
  return joined;
}

function requireKnown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown} is named, but not defined.`);
}

const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** Returns the requirement of an id. */
export function requirementOf(
  { requirements }: Pick<Suite, 'requirements'>,
  id: RequirementId,
): Requirement {
  const requirement = requirements[id];
  if (!requirement) throw new Error(`No requirement has the id ${id}`);
  return requirement;
}
