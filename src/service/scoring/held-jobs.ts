import type { Job, JobStore } from '../store/store.ts';

/** A job that a runner holds. */
export interface Held {
  /** As it was last taken. */
  job: Job;
  scoring: boolean;
  /** Calls the scoring off. */
  control: AbortController;
  /** When another runner may take it, unless the lease is renewed before. */
  leaseEndsMs: number;
}

/** Whose jobs they are, and for how long they are held at a time. */
export interface Holding {
  jobs: JobStore;
  worker: string;
  leaseMs: number;
}

/**
 * The jobs that a runner holds. As long as its process lives it renews their leases, wherever the
 * clock is set, so that none is taken while it is being scored; a dead process renews nothing.
 */
export class HeldJobs {
  readonly #holding: Holding;
  readonly #byId = new Map<number, Held>();

  constructor(holding: Holding) {
    this.#holding = holding;
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): Held[] {
    return [...this.#byId.values()];
  }

  /** Takes what is due, up to a number; first renews, or some of it would be our own. */
  async take(nowMs: number, limit: number): Promise<void> {
    const { jobs, worker, leaseMs } = this.#holding;
    await this.#renew(nowMs);
    if (limit <= 0) return;
    for (const job of await jobs.take(worker, nowMs, leaseMs, limit)) this.#add(job, nowMs);
  }

  /** Forgets one; not another that has come under its id since. */
  drop(held: Held): void {
    if (this.#byId.get(held.job.id) === held) this.#byId.delete(held.job.id);
  }

  /** When the first lease is to be renewed; undefined when none is held. */
  renewAtMs(): number | undefined {
    const ends = this.all().map(({ leaseEndsMs }) => leaseEndsMs);
    return ends.length === 0 ? undefined : Math.min(...ends) - this.#holding.leaseMs / 2;
  }

  async #renew(nowMs: number): Promise<void> {
    const { jobs, worker, leaseMs } = this.#holding;
    const dueMs = nowMs + leaseMs / 2;
    const due = this.all().filter(({ leaseEndsMs }) => leaseEndsMs <= dueMs);
    if (due.length === 0) return;
    const untilMs = nowMs + leaseMs;
    await jobs.renew(
      worker,
      due.map(({ job }) => job),
      untilMs,
    );
    for (const held of due) held.leaseEndsMs = untilMs;
  }

  #add(job: Job, nowMs: number): void {
    const leaseEndsMs = nowMs + this.#holding.leaseMs;
    const known = this.#byId.get(job.id);
    // It was overtaken, and has come back: the scoring under way is good for the new taking.
    if (known) Object.assign(known, { job, leaseEndsMs });
    else {
      const control = new AbortController();
      this.#byId.set(job.id, { job, scoring: false, control, leaseEndsMs });
    }
  }
}
