import type { CallPacket } from '../../../../src/contract/index.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { measureLevels, SPEECH_LEVEL_DB } from '../../../../src/voice/activity/index.ts';
import { countPacketTicks, type Decoder } from '../../../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../../../src/voice/peer/index.ts';

/** A stretch in which the sandbox could be heard; times since the run began. */
export interface Sound {
  atMs: number;
  untilMs: number;
}

/** What received audio is recorded with. */
export interface ReceivedAudioOptions {
  clock: Clock;
  decoder: Decoder;
  /** Milliseconds since the run began, of a time of the clock. */
  sinceRunMs: (atMs: number) => number;
  /** Payload type of Opus; what comes under another is not decoded. */
  payloadType: number;
}

const PACKETS_MAX = 20_000;
const SILENCE_DB = -127;

/**
 * Sound after less silence than this continues the same sound. The probes only need to know whether
 * the sandbox still speaks, so this is longer than the pause that separates two onsets: the checks
 * find the exact onsets in the recorded levels.
 */
const PAUSE_MS = 300;

/** Records every packet of a call with its levels, and knows whether the sandbox can be heard now. */
export class ReceivedAudio {
  readonly packets: CallPacket[] = [];
  readonly sounds: Sound[] = [];
  readonly #parts: ReceivedAudioOptions;

  constructor(parts: ReceivedAudioOptions) {
    this.#parts = parts;
  }

  hear({ sequence, timestamp, payloadType, ssrc, payload, arrivedAtMs }: AudioPacket): void {
    if (this.packets.length >= PACKETS_MAX) return;
    const atMs = rounded(this.#parts.sinceRunMs(arrivedAtMs));
    const samples =
      payloadType === this.#parts.payloadType ? this.#parts.decoder.decode(payload) : undefined;
    const levelsDb = samples && levelsOf(samples);
    const isAgreed = payloadType === this.#parts.payloadType;
    const ticks = isAgreed ? (countPacketTicks(payload) ?? 0) : 0;
    const header = { atMs, sequence, timestamp, payloadType, ssrc, bytes: payload.length, ticks };
    this.packets.push({ ...header, ...(levelsDb && { levelsDb }) });
    for (const [nth, level] of (levelsDb ?? []).entries()) {
      if (level > SPEECH_LEVEL_DB) this.#sound(atMs + nth * 10);
    }
  }

  /** Whether the sandbox can be heard, or could a moment ago. */
  get isLoud(): boolean {
    const { clock, sinceRunMs } = this.#parts;
    const untilMs = this.sounds.at(-1)?.untilMs ?? -Infinity;
    return sinceRunMs(clock.monotonicMs()) - untilMs < PAUSE_MS;
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

/** Rounded to whole dB to keep recordings small. */
const levelsOf = (samples: Float32Array): number[] =>
  measureLevels(samples).map((level) => Math.max(SILENCE_DB, Math.round(level)));

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
