import { Application, createEncoder, Signal, type OpusEncoderHandle } from 'libopus-wasm';
import { measurePackets, SPEECH_LEVEL_DB } from '../activity/index.ts';
import type { ClipFacts } from '../opus/index.ts';
import { lineSound } from './line-sound.ts';
import { resampled } from './resample.ts';
import { SpeechFailed } from './speech-failed.ts';
import type { Sound } from './wav.ts';

/** A spoken line: its packets, and where speech begins and ends in what they decode to. */
export type SpokenLine = Pick<ClipFacts, 'speechStartTicks' | 'speechEndTicks'> & {
  packets: Uint8Array[];
};

const opusRates = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
type OpusRate = (typeof opusRates)[number];

/** The longest line that is sent; the longest text takes some two minutes. */
const secondsMax = 300;

const framesPerSecond = 50;
const bitsPerSecond = 24_000;

/** As the clips have it: the codec settles in the first, and a voice detector in the others. */
const silentFramesBefore = 1;
const silentFramesBehind = 3;

const FRAME_MS = 20;
const TICKS_PER_MS = 48;

/**
 * Sound as packets of Opus of 20 ms; undefined where nothing is to be heard.
 * @throws SpeechFailed where it is too long.
 */
export async function lineClip(sound: Sound): Promise<SpokenLine | undefined> {
  const seconds = Math.ceil(sound.samples.length / sound.rate);
  if (seconds > secondsMax) {
    throw new SpeechFailed(`a line may last ${secondsMax} s, this one takes ${seconds} s`);
  }
  const line = lineSound(atOpusRate(sound));
  if (line.samples.length === 0) return undefined;
  const rate = line.rate as OpusRate;
  const frameSize = rate / framesPerSecond;
  using encoder = await createEncoder({
    sampleRate: rate,
    channels: 1,
    frameSize,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: bitsPerSecond,
  });
  const packets = encode(encoder, line.samples, frameSize);
  const ends = await findSpeech(packets);
  return ends && { packets, ...ends };
}

function atOpusRate(sound: Sound): Sound {
  const isOwn = opusRates.some((rate) => rate === sound.rate);
  return isOwn ? sound : resampled(sound, sound.rate < 24_000 ? 24_000 : 48_000);
}

function encode(encoder: OpusEncoderHandle, line: Float32Array, frameSize: number): Uint8Array[] {
  const speechFrames = Math.ceil(line.length / frameSize);
  const frames = silentFramesBefore + speechFrames + silentFramesBehind;
  const samples = new Float32Array(frames * frameSize);
  samples.set(line, silentFramesBefore * frameSize);
  return Array.from({ length: frames }, (_, nth) =>
    // A copy: the encoder may write the next packet over this one.
    Uint8Array.from(encoder.encodeFloat(samples.subarray(nth * frameSize, (nth + 1) * frameSize))),
  );
}

/** Measured on the decoded packets, as a listener hears them: the codec shifts audio by some ms. */
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
