import type { Clock } from '../../src/platform/clock.ts';
import type { Came, Transport } from '../engines/transport.ts';
import type { Examined } from '../profiles/examine.ts';
import type { Next, Shot } from '../profiles/shot.ts';
import type { Recorder } from '../record/recorder.ts';
import type { Ended } from '../record/stream-log.ts';
import { chores, type Chores } from './chores.ts';

/** Sends the shots of a run, and sees each of them to its end. */
export interface Driver {
  /** Sends a shot that was due at `dueMs` since the window began. */
  fire(shot: Shot, dueMs: number): void;
  /** Lets nothing more begin but what cleans up. */
  stopSending(): void;
  /** Resolves when nothing is under way, and all answers were examined. */
  drained(): Promise<void>;
  /** Forgets what is under way: its end will not be recorded. */
  abandon(): void;
  /** Requests that were due and not sent, since too many were in flight. */
  readonly missed: number;
}

/** What a driver works with. */
export interface DriverParts {
  clock: Clock;
  transport: Transport;
  recorder: Recorder;
  examine: (shot: Shot, came: Came) => Examined;
  /** The monotonic time at which the judged window begins. */
  windowStartMs: number;
  /** Told of every answer that was examined. */
  onExamined: (examined: Examined) => void;
}

/** More sockets than a machine gives to one process. What is over it is missed, and said. */
const IN_FLIGHT_MAX = 20_000;
const LOOK_EVERY_MS = 5;

/** Makes the driver of a run. */
export function driver(parts: DriverParts): Driver {
  return new RunDriver(parts);
}

class RunDriver implements Driver {
  readonly #parts: DriverParts;
  readonly #later: Chores;
  #underWay = 0;
  #missed = 0;
  #stopped = false;
  #abandoned = false;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#later = chores(parts.clock);
  }

  get missed(): number {
    return this.#missed;
  }

  fire(shot: Shot, dueMs: number): void {
    const { clock, transport, recorder, windowStartMs } = this.#parts;
    const { stream } = shot;
    const recorded = shot.unjudged !== true;
    if (recorded) recorder.offered(stream, dueMs);
    if (this.#underWay >= IN_FLIGHT_MAX) {
      this.#missed++;
      return;
    }
    this.#underWay++;
    if (recorded) recorder.sent(stream, dueMs, clock.monotonicMs() - windowStartMs);
    transport.send(shot.outgoing, windowStartMs + dueMs + shot.deadlineMs, (came) => {
      if (this.#abandoned) return;
      if (recorded) recorder.arrived(stream, came.endedMs - windowStartMs);
      this.#later.add(() => this.#finish(shot, dueMs, came));
    });
  }

  stopSending(): void {
    this.#stopped = true;
  }

  abandon(): void {
    this.#abandoned = true;
    this.#stopped = true;
  }

  async drained(): Promise<void> {
    // Each request ends at its deadline, so this does, too.
    while (this.#underWay > 0 && !this.#abandoned) await this.#parts.clock.sleep(LOOK_EVERY_MS);
    await this.#later.done();
  }

  #finish(shot: Shot, dueMs: number, came: Came): void {
    const examined = this.#parts.examine(shot, came);
    if (shot.unjudged !== true) {
      const { detail } = examined;
      const words = { detail, ...(shot.session === undefined ? {} : { session: shot.session }) };
      this.#parts.recorder.ended(shot.stream, this.#toEnded(shot, dueMs, came, examined), words);
      this.#parts.onExamined(examined);
    }
    const next = shot.next?.(examined.fault === undefined ? examined.json : undefined);
    if (next) void this.#follow(next, came.endedMs);
    this.#underWay--;
  }

  #toEnded({ deadlineMs }: Shot, dueMs: number, came: Came, examined: Examined): Ended {
    const { windowStartMs } = this.#parts;
    const { fault, answered, findings, echoed, retryAfterS } = examined;
    const { firstByteMs } = came;
    return {
      dueMs,
      sentMs: came.sentMs - windowStartMs,
      ...(firstByteMs === undefined ? {} : { firstByteMs: firstByteMs - windowStartMs }),
      endedMs: came.endedMs - windowStartMs,
      deadlineMs,
      answered,
      findings,
      echoed,
      ...(fault && { fault }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    };
  }

  async #follow({ shot, afterMs, cleansUp }: Next, endedMs: number): Promise<void> {
    const { clock, windowStartMs } = this.#parts;
    const mayGo = (): boolean => !this.#stopped || cleansUp === true;
    if (!mayGo()) return;
    // What is examined a moment late is not sent late for it.
    const dueMs = Math.max(endedMs + afterMs, clock.monotonicMs());
    if (afterMs > 0) await clock.sleep(dueMs - clock.monotonicMs());
    if (mayGo()) this.fire(shot, dueMs - windowStartMs);
  }
}
