import type { Clock } from '../../src/platform/clock.ts';
import type { CallerSecond } from './fleet-messages.ts';

/** Counts packets and calls per second. */
export class PerSecondCounter {
  readonly #clock: Clock;
  readonly #up: () => number;
  #current: CallerSecond | undefined;
  #over: CallerSecond[] = [];

  constructor(clock: Clock, up: () => number) {
    this.#clock = clock;
    this.#up = up;
  }

  sent(lateMs: number): void {
    const now = this.#now();
    now.sent += 1;
    now.sendLateMaxMs = Math.max(now.sendLateMaxMs, lateMs);
  }

  received(isGap: boolean): void {
    const now = this.#now();
    now.received += 1;
    if (isGap) now.gaps += 1;
  }

  /** Reports completed seconds once a second, until the signal aborts. */
  async run(over: AbortSignal, tell: (seconds: CallerSecond[]) => void): Promise<void> {
    const isOver = (): boolean => over.aborted;
    while (!isOver()) {
      await this.#clock.sleep(1_000, over).catch(() => undefined);
      this.#now();
      if (isOver()) return;
      const seconds = this.#over;
      this.#over = [];
      if (seconds.length > 0) tell(seconds);
    }
  }

  /** Returns the seconds that were not reported yet, including the current one. */
  takeRest(): CallerSecond[] {
    return [...this.#over, ...(this.#current ? [this.#current] : [])];
  }

  #now(): CallerSecond {
    const epochS = Math.floor(this.#clock.nowMs() / 1_000);
    if (this.#current?.epochS === epochS) return this.#current;
    if (this.#current) this.#over.push({ ...this.#current, up: this.#up() });
    return (this.#current = {
      epochS,
      up: this.#up(),
      sent: 0,
      received: 0,
      gaps: 0,
      sendLateMaxMs: 0,
    });
  }
}
