import { Application, createEncoder, Signal, type OpusEncoderHandle } from 'libopus-wasm';
import { measurePackets, SPEECH_LEVEL_DB } from '../activity/index.ts';
import { normalizeLine } from './normalize-line.ts';
import { resample } from './resample.ts';
import { speakWithFlite } from './flite.ts';
import { SpeechError, type LineResult, type LineSource, type SpokenLine } from './spoken-line.ts';
import { readWav, WavError, type PcmAudio } from './wav.ts';
import { isError } from '../../platform/error-origin.ts';
import { FRAME_MS, TICKS_PER_MS } from '../opus/frame.ts';

const OPUS_RATES = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
type OpusRate = (typeof OPUS_RATES)[number];

/** Maximum duration of a line; the longest text takes about two minutes. */
const SECONDS_MAX = 300;

const BITS_PER_SECOND = 24_000;

/**
 * Same as in the recorded clips: the codec adapts during the first frame, and a voice activity
 * detector detects the end of speech during the last ones.
 */
const SILENT_FRAMES_BEFORE = 1;
const SILENT_FRAMES_AFTER = 3;

/** Makes a line. Never rejects; an unexpected error is reported without the text of the line. */
export async function makeLine(source: LineSource): Promise<LineResult> {
  try {
    const file =
      source.kind === 'text'
        ? await speakWithFlite(source.text, source.speaker, source.style)
        : Buffer.from(source.file);
    return { ok: true, line: await encodeLine(readWav(file)) };
  } catch (error) {
    return { ok: false, why: explainFailure(error) };
  }
}

function explainFailure(error: unknown): string {
  if (error instanceof SpeechError) return error.message;
  if (error instanceof WavError) return `the synthesized audio is unusable: ${error.message}`;
  return `the line could not be synthesized: ${isError(error) ? error.name : 'an error'}`;
}

/**
 * Encodes audio as Opus packets of 20 ms; returns undefined if it is silent. @throws SpeechError if
 * it is too long.
 */
async function encodeLine(audio: PcmAudio): Promise<SpokenLine | undefined> {
  const seconds = Math.ceil(audio.samples.length / audio.rate);
  if (seconds > SECONDS_MAX) {
    throw new SpeechError(`a line must not exceed ${SECONDS_MAX} s, this one takes ${seconds} s`);
  }
  const line = normalizeLine(toOpusRate(audio));
  if (line.samples.length === 0) return undefined;
  const rate = line.rate as OpusRate;
  const frameSize = (rate * FRAME_MS) / 1_000;
  using encoder = await createEncoder({
    sampleRate: rate,
    channels: 1,
    frameSize,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: BITS_PER_SECOND,
  });
  const packets = encode(encoder, line.samples, frameSize);
  const speech = await findSpeech(packets);
  return speech && { packets, ...speech };
}

function toOpusRate(audio: PcmAudio): PcmAudio {
  const isSupported = OPUS_RATES.some((rate) => rate === audio.rate);
  return isSupported ? audio : resample(audio, audio.rate < 24_000 ? 24_000 : 48_000);
}

function encode(encoder: OpusEncoderHandle, line: Float32Array, frameSize: number): Uint8Array[] {
  const speechFrames = Math.ceil(line.length / frameSize);
  const frames = SILENT_FRAMES_BEFORE + speechFrames + SILENT_FRAMES_AFTER;
  const samples = new Float32Array(frames * frameSize);
  samples.set(line, SILENT_FRAMES_BEFORE * frameSize);
  return Array.from({ length: frames }, (_, nth) =>
    // A copy, because the encoder may reuse its buffer for the next packet.
    Uint8Array.from(encoder.encodeFloat(samples.subarray(nth * frameSize, (nth + 1) * frameSize))),
  );
}

/** Measures where speech starts and ends in the decoded packets, because the codec shifts audio. */
async function findSpeech(
  packets: readonly Uint8Array[],
): Promise<Omit<SpokenLine, 'packets'> | undefined> {
  const windows = await measurePackets(
    packets.map((payload, nth) => ({ payload, arrivedAtMs: nth * FRAME_MS })),
  );
  const speech = windows.filter(({ levelDb }) => levelDb > SPEECH_LEVEL_DB);
  const [first, last] = [speech[0], speech.at(-1)];
  if (!first || !last) return undefined;
  return {
    speechStartTicks: first.atMs * TICKS_PER_MS,
    speechEndTicks: (last.atMs + last.ms) * TICKS_PER_MS,
  };
}
