import { onsetsOf, soundThresholdDb, type SoundWindow } from '../../voice/latency/index.ts';
import { levelDb, type Decoder } from '../../voice/opus/index.ts';
import type { AudioPacket } from '../../voice/peer/index.ts';

const windowTicks = 480;
const windowMs = 10;
const ticksPerMs = 48;

/** A packet so small holds no sound: the codec says with it that there is none. */
const silentBytesMax = 3;

/** How much of the line tells how loud it is at rest: 5 s. */
const recentMax = 500;

/** The rest of the line is looked at again after so many packets. */
const lookEvery = 10;

/** What is kept of a turn: 60 s. */
const turnMax = 6_000;

/** Hears when the agent can be heard, however loud its line is at rest. */
export class VoiceEar {
  readonly #decoder: Decoder;
  #payloadType = -1;
  #recent: SoundWindow[] = [];
  #turn: SoundWindow[] = [];
  #thresholdDb = soundThresholdDb([]);
  #packets = 0;
  #loudAtMs = -Infinity;
  #lastAtMs = -Infinity;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Packets of another type are not heard. */
  set payloadType(type: number) {
    this.#payloadType = type;
  }

  /** When the agent could last be heard; -Infinity: never. */
  get loudAtMs(): number {
    return this.#loudAtMs;
  }

  /** When anything last came, sound or silence; -Infinity: never. */
  get lastAtMs(): number {
    return this.#lastAtMs;
  }

  /** A turn of ours begins. */
  listen(): void {
    this.#turn = [];
  }

  /** When the agent became audible in this turn, each time after some silence. */
  onsetsMs(): number[] {
    return onsetsOf(this.#turn);
  }

  hear({ payload, payloadType, arrivedAtMs }: AudioPacket): void {
    if (payloadType !== this.#payloadType) return;
    this.#lastAtMs = arrivedAtMs;
    const samples = payload.length > silentBytesMax ? this.#decoder.decode(payload) : undefined;
    const ticks = samples?.length ?? 2 * windowTicks;
    const windows: SoundWindow[] = [];
    for (let at = 0; at < ticks; at += windowTicks) {
      const level = samples ? levelDb(samples, at, Math.min(ticks, at + windowTicks)) : -Infinity;
      windows.push({ atMs: arrivedAtMs + at / ticksPerMs, levelDb: level, ms: windowMs });
    }
    this.#keep(windows);
    if (windows.some(({ levelDb: db }) => db > this.#thresholdDb)) this.#loudAtMs = arrivedAtMs;
  }

  close(): void {
    this.#decoder.free();
  }

  #keep(windows: readonly SoundWindow[]): void {
    if (this.#turn.length < turnMax) this.#turn.push(...windows);
    this.#recent.push(...windows);
    this.#packets += 1;
    if (this.#packets % lookEvery !== 0) return;
    this.#recent = this.#recent.slice(-recentMax);
    this.#thresholdDb = soundThresholdDb(this.#recent);
  }
}
