import { type Clock, MINUTE_MS } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import type { ProbeContext, ProbeEntry, Step } from '../../engine/probe.ts';

/**
 * The owners that a run creates through the control API. Each has its own API key, so that probes
 * with different settings do not affect each other.
 */
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

/** A session that should appear in the production results. */
export interface ExpectedSession {
  /** The conversation id. */
  id: string;
  /** The number of evaluations that it must have. */
  evaluations: number;
  /** When it starts, in milliseconds since the Unix epoch. */
  startMs: number;
}

/** State that the probes of the service share during a run. */
export interface ServiceContext {
  /** When the first conversation of the run starts, in milliseconds since the Unix epoch. */
  readonly baseMs: number;
  /** A random text that marks the names and messages of this run. */
  readonly marker: string;
  /** Differs between runs with the same seed, because the service must not know the spans yet. */
  readonly random: Random;
  /** Whether large, numerous, or slow requests are allowed. */
  readonly intrusive: boolean;
  /** Whether the service has a control API and accepted the owners of the run. */
  hasControlApi: boolean;
  /** How far the run has advanced the service clock, in milliseconds. */
  clockAdvancedMs: number;
  /** Conversations that probes closed without waiting for their results. */
  readonly awaited: ExpectedSession[];
  /** Returns the owner id that the service knows. */
  ownerId(name: OwnerName): string;
  /** Returns the key of an owner; without a control API, the key that the user provided is used. */
  keyFor(name: OwnerName): Pick<Step, 'key'>;
  /** Returns another key of an owner, which only some owners have. */
  secondKeyFor(name: OwnerName): Pick<Step, 'key'>;
  /** Returns every key that the run creates, so that recordings can redact them. */
  runKeys(): string[];
  pause(ms: number): Promise<void>;
  /** Returns milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Returns milliseconds from an arbitrary origin. */
  monotonicMs(): number;
}

/** The state of a service run that its probes share. */
export interface ServiceState {
  readonly service: ServiceContext;
}

export type ServiceProbe = ProbeEntry<ServiceState>;
export type ServiceProbeContext = ProbeContext & ServiceState;

export interface ServiceContextOptions {
  clock: Clock;
  random: Random;
  intrusive: boolean;
  /** Ends every pause. */
  signal?: AbortSignal | undefined;
}

const STARTED_AGO_MS = 5 * MINUTE_MS;

const secondNameOf = (name: OwnerName): string => `${name}/second`;

/** Creates the context of a run that has not sent anything yet. */
export function createServiceContext({
  clock,
  random,
  intrusive,
  signal,
}: ServiceContextOptions): ServiceContext {
  const marker = random.fork('marker').id(8);
  const secretOf = (name: string): string => `sk_check_${random.fork(`key/${name}`).id(20)}`;
  const createKey = (owner: OwnerName, name: string): Pick<Step, 'key'> =>
    context.hasControlApi ? { key: { own: secretOf(name), owner } } : {};
  const context: ServiceContext = {
    // A whole second survives any precision that the service stores.
    baseMs: Math.floor(clock.nowMs() / 1000) * 1000 - STARTED_AGO_MS,
    marker,
    random,
    intrusive,
    hasControlApi: false,
    clockAdvancedMs: 0,
    awaited: [],
    ownerId: (name) => `check-${marker}-${name}`,
    keyFor: (name) => createKey(name, name),
    secondKeyFor: (name) => createKey(name, secondNameOf(name)),
    runKeys: () => ownerNames.flatMap((name) => [name, secondNameOf(name)]).map(secretOf),
    // An interrupted run sends nothing more, so a pause may end early without an error.
    pause: (ms) => clock.sleep(ms, signal).catch(() => undefined),
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
  };
  return context;
}
