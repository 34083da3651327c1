/** Mono audio, samples from -1 to 1. */
export interface PcmAudio {
  samples: Float32Array;
  /** Samples per second. */
  rate: number;
}

/** The bytes are not a readable WAV file. */
export class WavError extends Error {
  override name = 'WavError';
}

const INTEGER_PCM = 1;
const FLOAT_PCM = 3;
const EXTENSIBLE = 0xfffe;

/**
 * Reads a WAV file with 8 to 64 bits per sample, and mixes its channels down to mono. @throws
 * WavError.
 */
export function readWav(file: Buffer): PcmAudio {
  const magic = file.toString('latin1', 0, 4) + file.toString('latin1', 8, 12);
  if (magic !== 'RIFFWAVE')
    throw new WavError('expected a WAV file, but the RIFF header is missing');
  let format: Buffer | undefined;
  for (let at = 12; at + 8 <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    // A streaming server does not know the length yet, so it writes 0 or the largest number.
    const length = Math.min(file.readUInt32LE(at + 4), file.length - at - 8);
    const content = file.subarray(at + 8, at + 8 + length);
    if (name === 'fmt ') format = content;
    if (name === 'data') {
      const toTheEnd = length === 0 ? file.subarray(at + 8) : content;
      return readSamples(format, toTheEnd);
    }
    at += 8 + length + (length % 2);
  }
  throw new WavError('expected a WAV file with audio, but it has no data');
}

function readSamples(format: Buffer | undefined, data: Buffer): PcmAudio {
  if (!format || format.length < 16) throw new WavError('the WAV file has no format');
  const coding = format.readUInt16LE(0);
  const channels = format.readUInt16LE(2);
  const rate = format.readUInt32LE(4);
  const bits = format.readUInt16LE(14);
  const kind = coding === EXTENSIBLE && format.length >= 26 ? format.readUInt16LE(24) : coding;
  const read =
    kind === FLOAT_PCM ? readFloat(bits) : kind === INTEGER_PCM ? readInteger(bits) : null;
  if (!read)
    throw new WavError(`expected PCM with 8 to 32 bits, got coding ${kind} with ${bits} bits`);
  if (channels < 1 || channels > 8 || rate < 8_000 || rate > 192_000) {
    throw new WavError(`expected 8 to 192 kHz, got ${channels} channels at ${rate} Hz`);
  }
  const bytes = bits / 8;
  const length = Math.floor(data.length / (bytes * channels));
  const samples = new Float32Array(length);
  for (let nth = 0; nth < length; nth += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += read(data, (nth * channels + channel) * bytes);
    }
    samples[nth] = sum / channels;
  }
  return { samples, rate };
}

type ReadSample = (data: Buffer, at: number) => number;

function readInteger(bits: number): ReadSample | undefined {
  if (bits === 8) return (data, at) => ((data[at] ?? 128) - 128) / 128;
  if (bits !== 16 && bits !== 24 && bits !== 32) return undefined;
  return (data, at) => data.readIntLE(at, bits / 8) / 2 ** (bits - 1);
}

function readFloat(bits: number): ReadSample | undefined {
  const finite = (value: number): number => (Number.isFinite(value) ? value : 0);
  if (bits === 32) return (data, at) => finite(data.readFloatLE(at));
  if (bits === 64) return (data, at) => finite(data.readDoubleLE(at));
  return undefined;
}
