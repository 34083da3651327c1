import { monitorLocalDelay } from '../../src/voice/latency/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { readClips } from '../../src/voice/opus/index.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { startMeter } from '../self-check/meter.ts';
import type { CallersEvent, CallersCommand, ProcessCost } from './fleet-messages.ts';
import { LoadCall } from './load-call.ts';
import { PerSecondCounter } from './per-second-counter.ts';
import { SendLateness } from './send-lateness.ts';

/** The calls of one process, which wait for commands. */
export class Callers {
  readonly #clock: Clock;
  readonly #send: (message: CallersEvent) => void;
  readonly #seconds: PerSecondCounter;
  readonly #life = new AbortController();
  #calls: LoadCall[] = [];
  readonly #lateness = new SendLateness();
  #stopMeasuring: (() => Pick<ProcessCost, 'cpuPercent' | 'loopLateP99Ms'>) | undefined;

  constructor(clock: Clock, send: (message: CallersEvent) => void) {
    this.#clock = clock;
    this.#send = send;
    this.#seconds = new PerSecondCounter(
      clock,
      () => this.#calls.filter(({ isUp }) => isUp).length,
    );
  }

  /** Executes a command. Never rejects. */
  async handle(message: CallersCommand): Promise<void> {
    if (message.kind === 'place') await this.#place(message);
    if (message.kind === 'window') this.#beginWindow();
    if (message.kind === 'finish') await this.#finish();
  }

  /** Hangs up all calls. */
  async hangUp(): Promise<void> {
    this.#life.abort(new Error('the run is over'));
    await Promise.all(this.#calls.map((call) => call.end()));
  }

  async #place({
    calls,
    target,
    network,
  }: Extract<CallersCommand, { kind: 'place' }>): Promise<void> {
    const clock = this.#clock;
    const clips = (await readClips()).filter(({ speaker }) => speaker === 'user');
    const listener = {
      onSent: (lateMs: number) => this.#onSent(lateMs),
      onReceived: (isGap: boolean) => this.#seconds.countReceived(isGap),
    };
    const pacer = createPacer(clock);
    this.#calls = calls.map((order) => {
      const random = seededRandom(order.session);
      return new LoadCall({ clock, pacer, random, clips, target, network, order, listener });
    });
    void this.#seconds.run(this.#life.signal, (seconds) =>
      this.#send({ kind: 'seconds', seconds }),
    );
    for (const [nth, call] of this.#calls.entries()) {
      void call.place().then(() => {
        const order = calls[nth];
        if (order) this.#send({ kind: 'settled', nth: order.nth, isConnected: call.isUp });
      });
    }
  }

  #beginWindow(): void {
    const [stopMeter, stopMonitor] = [startMeter(this.#clock), monitorLocalDelay()];
    this.#stopMeasuring = () => ({
      cpuPercent: stopMeter().cpuPercent,
      loopLateP99Ms: stopMonitor().loopLateP99Ms,
    });
    for (const call of this.#calls) call.beginWindow();
  }

  #onSent(lateMs: number): void {
    this.#seconds.countSent(lateMs);
    if (this.#stopMeasuring) this.#lateness.add(lateMs);
  }

  async #finish(): Promise<void> {
    // Measured before the calls hang up, because that cost is not part of the window.
    const cost = {
      ...(this.#stopMeasuring?.() ?? { cpuPercent: 0, loopLateP99Ms: 0 }),
      ...this.#lateness.statistics(),
    };
    // All calls stop before the first result is computed, so that none continues in the meantime.
    const computeOutcomes = this.#calls.map((call) => call.close());
    await this.hangUp();
    this.#send({ kind: 'seconds', seconds: this.#seconds.takeRest() });
    this.#send({ kind: 'done', calls: computeOutcomes.map((compute) => compute()), cost });
  }
}
