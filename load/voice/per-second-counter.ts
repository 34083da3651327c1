import type { Clock } from '../../src/platform/clock.ts';
import type { CallerSecond } from './fleet-messages.ts';

/** Counts packets and calls per second. */
export class PerSecondCounter {
  readonly #clock: Clock;
  readonly #countConnected: () => number;
  #current: CallerSecond | undefined;
  #completed: CallerSecond[] = [];

  constructor(clock: Clock, countConnected: () => number) {
    this.#clock = clock;
    this.#countConnected = countConnected;
  }

  countSent(lateMs: number): void {
    const now = this.#now();
    now.sent += 1;
    now.sendLateMaxMs = Math.max(now.sendLateMaxMs, lateMs);
  }

  countReceived(isGap: boolean): void {
    const now = this.#now();
    now.received += 1;
    if (isGap) now.gaps += 1;
  }

  /** Reports completed seconds once a second, until the signal aborts. */
  async run(signal: AbortSignal, report: (seconds: CallerSecond[]) => void): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      await this.#clock.sleep(1_000, signal).catch(() => undefined);
      this.#now();
      if (isOver()) return;
      const seconds = this.#completed;
      this.#completed = [];
      if (seconds.length > 0) report(seconds);
    }
  }

  /** Returns the seconds that were not reported yet, including the current one. */
  takeRest(): CallerSecond[] {
    return [...this.#completed, ...(this.#current ? [this.#current] : [])];
  }

  #now(): CallerSecond {
    const epochS = Math.floor(this.#clock.nowMs() / 1_000);
    if (this.#current?.epochS === epochS) return this.#current;
    if (this.#current) this.#completed.push({ ...this.#current, up: this.#countConnected() });
    return (this.#current = {
      epochS,
      up: this.#countConnected(),
      sent: 0,
      received: 0,
      gaps: 0,
      sendLateMaxMs: 0,
    });
  }
}
