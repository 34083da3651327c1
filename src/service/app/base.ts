import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import type { ReportedProblems } from '../background/reported-problems.ts';
import type { Store } from '../store/store.ts';
import type { Replica } from './replicas.ts';

/** What nearly every part of a service needs. */
export interface Base {
  store: Store;
  /** The service clock, which tests move. */
  clock: AdjustableClock;
  /** Shows real time, which clients send and wait by, unless a test injects a clock. */
  machineClock: Clock;
  log: Log;
  /** This process as one of the replicas; undefined if it works alone. */
  replica: Replica | undefined;
  counters: ServiceCounters;
  /** Remembers which problems were reported to users. */
  reportedProblems: ReportedProblems;
}
