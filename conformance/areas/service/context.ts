import type { Probe, ProbeContext, Step } from '../../engine/probe.ts';
import type { RequirementId } from '../../engine/requirement.ts';
import type { Random } from '../../../src/platform/random.ts';
import type { Clock } from '../../../src/platform/clock.ts';

/** The owners that a run makes for itself, where a control API lets it; each has a key. */
export const ownerNames = [
  'main',
  'bare',
  'deleted',
  'named',
  'paged',
  'limits',
  'rate',
  'idle',
  'apart',
  'backlog',
] as const;
export type OwnerName = (typeof ownerNames)[number];

/** What the scenarios of the service share. */
export interface ServiceContext {
  /** When the conversations of the run begin, in milliseconds since the Unix epoch. */
  readonly baseMs: number;
  /** Stands in names and texts of this run alone. */
  readonly marker: string;
  /** Unlike that of a scenario it gives other values in each run: spans must not be known yet. */
  readonly random: Random;
  /** Send what is large, many or slow as well. */
  readonly intrusive: boolean;
  /** There is a control API, and the owners of the run are made. */
  hasControlApi: boolean;
  /** By how many milliseconds the run has moved the clock of the service on. */
  clockAdvancedMs: number;
  /** The name of an owner. */
  ownerId(name: OwnerName): string;
  /** The key of an owner, where there is a control API; else the given one goes along. */
  keyFor(name: OwnerName): Pick<Step, 'key'>;
  /** All keys of its own, so that none is recorded. */
  runKeys(): string[];
  pause(ms: number): Promise<void>;
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds from an arbitrary origin. */
  monotonicMs(): number;
}

/** A probe of the service, and what it can do. */
export type ServiceProbe<Id extends RequirementId = RequirementId> = Probe<ServiceState, Id>;
export type ServiceProbeContext = ProbeContext & ServiceState;

/** What the probes of a service run share. */
export interface ServiceState {
  readonly service: ServiceContext;
}

/** What the service's context is made of. */
export interface ServiceContextOptions {
  clock: Clock;
  random: Random;
  intrusive: boolean;
  /** Ends every pause. */
  signal?: AbortSignal | undefined;
}

const MINUTES_AGO = 5;

/** A context in which nothing has been sent. */
export function createServiceContext({
  clock,
  random,
  intrusive,
  signal,
}: ServiceContextOptions): ServiceContext {
  const marker = random.fork('marker').id(8);
  const secretOf = (name: OwnerName): string => `sk_check_${random.fork(`key/${name}`).id(20)}`;
  const context: ServiceContext = {
    // A whole second, so that it is the same in whatever precision a service keeps it.
    baseMs: Math.floor(clock.nowMs() / 1000) * 1000 - MINUTES_AGO * 60_000,
    marker,
    random,
    intrusive,
    hasControlApi: false,
    clockAdvancedMs: 0,
    ownerId: (name) => `check-${marker}-${name}`,
    keyFor: (name) => (context.hasControlApi ? { key: { own: secretOf(name) } } : {}),
    runKeys: () => ownerNames.map(secretOf),
    // Once it is interrupted nothing more is sent, whoever waited.
    pause: (ms) => clock.sleep(ms, signal).catch(() => undefined),
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
  };
  return context;
}
