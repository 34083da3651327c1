import { findPercentile } from '../../src/platform/percentile.ts';
import type { ProcessCost } from './fleet-messages.ts';

/** When there are more samples, every second one is dropped. */
const SAMPLES_MAX = 200_000;

/** How late the audio frames of a process were sent, from samples at equal intervals. */
export class SendLateness {
  #samplesMs: number[] = [];
  #maxMs = 0;
  #interval = 1;
  #frames = 0;

  /** Adds a frame that was sent so many milliseconds late. */
  add(lateMs: number): void {
    this.#maxMs = Math.max(this.#maxMs, lateMs);
    this.#frames += 1;
    if (this.#frames % this.#interval !== 0) return;
    this.#samplesMs.push(lateMs);
    if (this.#samplesMs.length < SAMPLES_MAX) return;
    this.#samplesMs = this.#samplesMs.filter((_, nth) => nth % 2 === 0);
    this.#interval *= 2;
  }

  statistics(): Pick<ProcessCost, 'sendLateP99Ms' | 'sendLateMaxMs'> {
    return {
      sendLateP99Ms: findPercentile(this.#samplesMs, 99) ?? 0,
      sendLateMaxMs: this.#maxMs,
    };
  }
}
