import type { CallPacket } from '../../../../src/contract/index.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { measureLevels, SPEECH_LEVEL_DB } from '../../../../src/voice/activity/index.ts';
import { countPacketTicks, type Decoder } from '../../../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../../../src/voice/peer/index.ts';
import { roundTo } from '../../../../src/platform/round.ts';

/** A period when the sandbox was audible, in milliseconds since the start of the run. */
export interface Sound {
  atMs: number;
  untilMs: number;
}

/** Options of received audio. */
export interface ReceivedAudioOptions {
  clock: Clock;
  decoder: Decoder;
  /** Converts a time of the clock to milliseconds since the start of the run. */
  sinceRunMs: (atMs: number) => number;
  /** The negotiated payload type of Opus. Other packets are not decoded. */
  payloadType: number;
}

const PACKETS_MAX = 20_000;
const SILENCE_DB = -127;
/** Each level covers this many milliseconds. */
const LEVEL_MS = 10;

/**
 * Sound after less silence than this continues the same sound. The probes only need to know whether
 * the sandbox still speaks, so this is longer than the pause that separates two onsets: the checks
 * find the exact onsets in the recorded levels.
 */
const PAUSE_MS = 300;

/** Records the received packets of a call with their levels, and detects whether the sandbox is audible. */
export class ReceivedAudio {
  readonly packets: CallPacket[] = [];
  readonly sounds: Sound[] = [];
  readonly #options: ReceivedAudioOptions;

  constructor(options: ReceivedAudioOptions) {
    this.#options = options;
  }

  add({ sequence, timestamp, payloadType, ssrc, payload, arrivedAtMs }: AudioPacket): void {
    if (this.packets.length >= PACKETS_MAX) return;
    const atMs = roundTo(this.#options.sinceRunMs(arrivedAtMs), 2);
    const isOpus = payloadType === this.#options.payloadType;
    const samples = isOpus ? this.#options.decoder.decode(payload) : undefined;
    const levelsDb = samples && measureRoundedLevels(samples);
    const ticks = isOpus ? (countPacketTicks(payload) ?? 0) : 0;
    const header = { atMs, sequence, timestamp, payloadType, ssrc, bytes: payload.length, ticks };
    this.packets.push({ ...header, ...(levelsDb && { levelsDb }) });
    for (const [nth, level] of (levelsDb ?? []).entries()) {
      if (level > SPEECH_LEVEL_DB) this.#extendSounds(atMs + nth * LEVEL_MS);
    }
  }

  /** Whether the sandbox is audible, or was a moment ago. */
  get isLoud(): boolean {
    const { clock, sinceRunMs } = this.#options;
    const untilMs = this.sounds.at(-1)?.untilMs ?? -Infinity;
    return sinceRunMs(clock.monotonicMs()) - untilMs < PAUSE_MS;
  }

  close(): void {
    this.#options.decoder.free();
  }

  #extendSounds(atMs: number): void {
    const last = this.sounds.at(-1);
    if (last && atMs - last.untilMs < PAUSE_MS)
      last.untilMs = Math.max(last.untilMs, atMs + LEVEL_MS);
    else this.sounds.push({ atMs, untilMs: atMs + LEVEL_MS });
  }
}

/** Returns levels in whole dB, to keep recordings small. */
const measureRoundedLevels = (samples: Float32Array): number[] =>
  measureLevels(samples).map((level) => Math.max(SILENCE_DB, Math.round(level)));
