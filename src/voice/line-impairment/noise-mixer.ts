import {
  Application,
  createDecoder,
  createEncoder,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
} from 'libopus-wasm';
import type { CallNoise } from '../../contract/index.ts';
import type { Random } from '../../platform/random.ts';
import { FRAME_TICKS, TICKS_PER_MS } from '../opus/frame.ts';
import { SPEECH_DB } from '../speech/normalize-line.ts';
import { createNoise, type NoiseKind } from './background-noise.ts';
import type { SampleSource } from './white-noise.ts';

/** Enough that the codec does not change the noise. */
const BITS_PER_SECOND = 40_000;

const SAMPLE_MAX = 1;

/** Noise that disturbs, but leaves every word clear. */
const SNR_DB = 20;

/** Noise that can be heard. */
export interface AudibleNoise extends CallNoise {
  kind: NoiseKind;
}

/** A decoder and an encoder. Their output depends on all earlier packets, and they can't be reset. */
interface Codec {
  decoder: OpusDecoderHandle;
  encoder: OpusEncoderHandle;
}

/** New codecs are made ahead, because the library makes them asynchronously. */
const SPARE_CODECS = 3;

/** Mixes noise into the packets of a voice, speech and silence alike. */
export class NoiseMixer {
  readonly #noise: AudibleNoise;
  readonly #gain: number;
  #codec: Codec;
  readonly #spares: Codec[];
  #isClosed = false;
  #nextSample: SampleSource = () => 0;

  constructor(noise: AudibleNoise, codec: Codec, spares: Codec[]) {
    this.#noise = noise;
    this.#codec = codec;
    this.#spares = spares;
    // All lines are spoken at the same level.
    this.#gain = 10 ** ((SPEECH_DB - (noise.snr_db ?? SNR_DB)) / 20);
  }

  /** How much later a sound leaves the mixer, in milliseconds. */
  get delayMs(): number {
    return this.#codec.encoder.getLookahead() / TICKS_PER_MS;
  }

  /**
   * Starts again: the next packets depend only on them and on `random`. Not more than three times in
   * one turn of the event loop.
   */
  restart(random: Random): void {
    const spare = this.#spares.shift();
    if (spare) {
      freeCodec(this.#codec);
      this.#codec = spare;
      void this.#addSpare();
    }
    this.#nextSample = createNoise(this.#noise.kind, random);
  }

  /** Returns a packet of 20 ms with noise. A packet that can't be decoded becomes noise alone. */
  mix(packet: Uint8Array): Buffer {
    const samples = new Float32Array(FRAME_TICKS);
    samples.set(this.#decode(packet).subarray(0, FRAME_TICKS));
    for (let nth = 0; nth < FRAME_TICKS; nth += 1) {
      const sum = (samples[nth] ?? 0) + this.#gain * this.#nextSample();
      samples[nth] = Math.min(SAMPLE_MAX, Math.max(-SAMPLE_MAX, sum));
    }
    // A copy, because the encoder may reuse its buffer for the next packet.
    return Buffer.from(Uint8Array.from(this.#codec.encoder.encodeFloat(samples)));
  }

  close(): void {
    this.#isClosed = true;
    for (const codec of [this.#codec, ...this.#spares.splice(0)]) freeCodec(codec);
  }

  async #addSpare(): Promise<void> {
    const spare = await createCodec();
    if (this.#isClosed) freeCodec(spare);
    else this.#spares.push(spare);
  }

  #decode(packet: Uint8Array): Float32Array {
    try {
      return this.#codec.decoder.decodeFloat(packet);
    } catch {
      return new Float32Array(0);
    }
  }
}

/** Creates a mixer. Call `restart` before the first packet. */
export async function createNoiseMixer(noise: AudibleNoise): Promise<NoiseMixer> {
  const spares = await Promise.all(Array.from({ length: SPARE_CODECS }, createCodec));
  return new NoiseMixer(noise, await createCodec(), spares);
}

async function createCodec(): Promise<Codec> {
  const decoder = await createDecoder({ channels: 1, sampleRate: 48_000 });
  const encoder = await createEncoder({
    channels: 1,
    sampleRate: 48_000,
    frameSize: FRAME_TICKS,
    // Keeps the level of noise, which the modes for speech would reduce.
    application: Application.RestrictedLowDelay,
    bitrate: BITS_PER_SECOND,
  });
  return { decoder, encoder };
}

function freeCodec({ decoder, encoder }: Codec): void {
  decoder.free();
  encoder.free();
}
