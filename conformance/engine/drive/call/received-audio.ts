import type { CallPacket } from '../../../../src/contract/index.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { levelDb, ticksOfPacket, type Decoder } from '../../../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../../../src/voice/peer/index.ts';

/** A stretch in which the sandbox could be heard; times since the run began. */
export interface Sound {
  atMs: number;
  untilMs: number;
}

/** What an ear hears with. */
export interface EarParts {
  clock: Clock;
  decoder: Decoder;
  /** Milliseconds since the run began, of a time of the clock. */
  sinceRunMs: (atMs: number) => number;
  /** Payload type of Opus; what comes under another is not decoded. */
  payloadType: number;
}

const PACKETS_MAX = 20_000;
const WINDOW_TICKS = 480;
const SILENCE_DB = -127;

/** Louder than this is sound; the exact onset is for the checks, from the levels. */
const LOUD_DB = -50;

/** What follows within this is still the same sound: pauses inside speech are shorter. */
const PAUSE_MS = 300;

/** Hears a call: notes every packet, and knows at once whether there is sound. */
export class Ear {
  readonly packets: CallPacket[] = [];
  readonly sounds: Sound[] = [];
  readonly #parts: EarParts;
  readonly #waiting = new Set<() => void>();

  constructor(parts: EarParts) {
    this.#parts = parts;
  }

  hear({ sequence, timestamp, payloadType, ssrc, payload, arrivedAtMs }: AudioPacket): void {
    if (this.packets.length >= PACKETS_MAX) return;
    const atMs = rounded(this.#parts.sinceRunMs(arrivedAtMs));
    const samples =
      payloadType === this.#parts.payloadType ? this.#parts.decoder.decode(payload) : undefined;
    const levelsDb = samples && levelsOf(samples);
    const isAgreed = payloadType === this.#parts.payloadType;
    const ticks = isAgreed ? (ticksOfPacket(payload) ?? 0) : 0;
    const header = { atMs, sequence, timestamp, payloadType, ssrc, bytes: payload.length, ticks };
    this.packets.push({ ...header, ...(levelsDb && { levelsDb }) });
    for (const [nth, level] of (levelsDb ?? []).entries()) {
      if (level > LOUD_DB) this.#sound(atMs + nth * 10);
    }
    for (const wake of this.#waiting) wake();
  }

  /** Whether the sandbox can be heard, or could a moment ago. */
  get isLoud(): boolean {
    const { clock, sinceRunMs } = this.#parts;
    const untilMs = this.sounds.at(-1)?.untilMs ?? -Infinity;
    return sinceRunMs(clock.monotonicMs()) - untilMs < PAUSE_MS;
  }

  /** Calls `wake` after every packet, until what it gives is called. */
  onPacket(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => void this.#waiting.delete(wake);
  }

  close(): void {
    this.#parts.decoder.free();
  }

  #sound(atMs: number): void {
    const last = this.sounds.at(-1);
    if (last && atMs - last.untilMs < PAUSE_MS) last.untilMs = Math.max(last.untilMs, atMs + 10);
    else this.sounds.push({ atMs, untilMs: atMs + 10 });
  }
}

function levelsOf(samples: Float32Array): number[] {
  const levels: number[] = [];
  for (let at = 0; at < samples.length; at += WINDOW_TICKS) {
    const level = levelDb(samples, at, Math.min(samples.length, at + WINDOW_TICKS));
    levels.push(Math.max(SILENCE_DB, Math.round(level)));
  }
  return levels;
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
