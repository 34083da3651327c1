import { onsetsOf, type SoundWindow } from '../../src/voice/latency/index.ts';
import { levelDb, type Decoder } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';

const windowTicks = 480;
const windowMs = 10;
const ticksPerMs = 48;

/** Louder than this may be speech; the exact onset follows from all that was heard in a turn. */
const loudDb = -50;

/** A packet so small holds no sound: the codec says with it that there is none. */
const silentBytesMax = 3;

/** Between turns, one packet in so many tells whether the sandbox still speaks. */
const lookEvery = 5;

/** 20 s of a turn: no answer is waited for as long. */
const windowsMax = 2_000;

/**
 * Hears when a sandbox becomes audible in a turn, and whether it still is. Decoding costs more than
 * all else in a call, so between turns most packets are only counted.
 */
export class TurnEar {
  readonly #decoder: Decoder;
  #payloadType = -1;
  #windows: SoundWindow[] | undefined;
  #onsetMs: number | undefined;
  #loudAtMs = -Infinity;
  #nth = 0;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Packets of another type are not decoded. */
  set payloadType(type: number) {
    this.#payloadType = type;
  }

  /** A turn of ours begins: from here on each packet is heard until the sandbox is audible. */
  listen(): void {
    this.#windows = [];
    this.#onsetMs = undefined;
  }

  /** When the sandbox became audible in this turn, on the clock of the packets. */
  get onsetMs(): number | undefined {
    return this.#onsetMs;
  }

  /** When it could last be heard; -Infinity: never. */
  get loudAtMs(): number {
    return this.#loudAtMs;
  }

  hear({ payload, payloadType, arrivedAtMs }: AudioPacket): void {
    if (payloadType !== this.#payloadType) return;
    this.#nth += 1;
    const windows = this.#windows;
    if (!windows && this.#nth % lookEvery !== 0) return;
    const samples = payload.length > silentBytesMax ? this.#decoder.decode(payload) : undefined;
    let isLoud = false;
    const ticks = samples?.length ?? 2 * windowTicks;
    for (let at = 0; at < ticks; at += windowTicks) {
      const level = samples ? levelDb(samples, at, Math.min(ticks, at + windowTicks)) : -Infinity;
      isLoud ||= level > loudDb;
      windows?.push({ atMs: arrivedAtMs + at / ticksPerMs, levelDb: level, ms: windowMs });
    }
    if (isLoud) this.#loudAtMs = arrivedAtMs;
    if (!windows || !(isLoud || windows.length > windowsMax)) return;
    [this.#onsetMs] = onsetsOf(windows);
    if (this.#onsetMs !== undefined || windows.length > windowsMax) this.#windows = undefined;
  }

  close(): void {
    this.#decoder.free();
  }
}
