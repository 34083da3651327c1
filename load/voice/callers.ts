import { findPercentile, monitorLocalDelay } from '../../src/voice/latency/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { readClips } from '../../src/voice/opus/index.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { startMeter } from '../self-check/meter.ts';
import type { CallersCost, CallersEvent, CallersCommand } from './fleet-messages.ts';
import { LoadCall } from './load-call.ts';
import { PerSecondCounter } from './per-second-counter.ts';

/** The calls of one process. */
export interface Callers {
  /** Executes a command. Never rejects. */
  handle(message: CallersCommand): Promise<void>;
  /** Hangs up all calls. */
  hangUp(): Promise<void>;
}

/** When there are more samples, every second one is dropped. */
const LATENESS_SAMPLES_MAX = 200_000;

/** Creates the callers of a process; they wait for commands. */
export function createCallers(clock: Clock, tell: (message: CallersEvent) => void): Callers {
  return new ProcessCallers(clock, tell);
}

class ProcessCallers implements Callers {
  readonly #clock: Clock;
  readonly #tell: (message: CallersEvent) => void;
  readonly #seconds: PerSecondCounter;
  readonly #life = new AbortController();
  #calls: LoadCall[] = [];
  #latesMs: number[] = [];
  #lateMaxMs = 0;
  #everyNth = 1;
  #frames = 0;
  #ofWindow: (() => Omit<CallersCost, 'sendLateP99Ms' | 'sendLateMaxMs'>) | undefined;

  constructor(clock: Clock, tell: (message: CallersEvent) => void) {
    this.#clock = clock;
    this.#tell = tell;
    this.#seconds = new PerSecondCounter(
      clock,
      () => this.#calls.filter(({ isUp }) => isUp).length,
    );
  }

  async handle(message: CallersCommand): Promise<void> {
    if (message.kind === 'place') await this.#place(message);
    if (message.kind === 'window') this.#beginWindow();
    if (message.kind === 'finish') await this.#finish();
  }

  async hangUp(): Promise<void> {
    this.#life.abort(new Error('the run is over'));
    await Promise.all(this.#calls.map((call) => call.end()));
  }

  async #place({ calls, target }: Extract<CallersCommand, { kind: 'place' }>): Promise<void> {
    const clock = this.#clock;
    const clips = (await readClips()).filter(({ speaker }) => speaker === 'user');
    const counts = {
      sent: (lateMs: number) => this.#sent(lateMs),
      received: (isGap: boolean) => this.#seconds.received(isGap),
    };
    const beats = createPacer(clock);
    this.#calls = calls.map((order) => {
      const chance = seededRandom(order.session);
      return new LoadCall({ clock, pacer: beats, chance, clips, target, order, counts });
    });
    void this.#seconds.run(this.#life.signal, (seconds) =>
      this.#tell({ kind: 'seconds', seconds }),
    );
    for (const [nth, call] of this.#calls.entries()) {
      void call.place().then(() => {
        const order = calls[nth];
        if (order) this.#tell({ kind: 'settled', nth: order.nth, isConnected: call.isUp });
      });
    }
  }

  #beginWindow(): void {
    const [cost, share] = [startMeter(this.#clock), monitorLocalDelay()];
    this.#ofWindow = () => ({
      cpuPercent: cost().cpuPercent,
      loopLateP99Ms: share().loopLateP99Ms,
    });
    for (const call of this.#calls) call.beginWindow();
  }

  #sent(lateMs: number): void {
    this.#seconds.sent(lateMs);
    if (!this.#ofWindow) return;
    this.#lateMaxMs = Math.max(this.#lateMaxMs, lateMs);
    this.#frames += 1;
    if (this.#frames % this.#everyNth !== 0) return;
    this.#latesMs.push(lateMs);
    if (this.#latesMs.length < LATENESS_SAMPLES_MAX) return;
    this.#latesMs = this.#latesMs.filter((_, nth) => nth % 2 === 0);
    this.#everyNth *= 2;
  }

  async #finish(): Promise<void> {
    // Measured before the calls hang up, because that cost is not part of the window.
    const cost = {
      ...(this.#ofWindow?.() ?? { cpuPercent: 0, loopLateP99Ms: 0 }),
      sendLateP99Ms: findPercentile(this.#latesMs, 99) ?? 0,
      sendLateMaxMs: this.#lateMaxMs,
    };
    // Stop all calls before any result is computed, so that no call continues meanwhile.
    const came = this.#calls.map((call) => call.close());
    await this.hangUp();
    this.#tell({ kind: 'seconds', seconds: this.#seconds.takeRest() });
    this.#tell({ kind: 'done', calls: came.map((outcome) => outcome()), cost });
  }
}
