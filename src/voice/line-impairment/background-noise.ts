import type { CallNoise } from '../../contract/index.ts';
import { seededRandom, type Random } from '../../platform/random.ts';
import { TICKS_PER_MS } from '../opus/frame.ts';
import { createWhiteNoise, type SampleSource } from './white-noise.ts';

/** The kinds of noise that can be heard. */
export type NoiseKind = Exclude<CallNoise['kind'], 'quiet'>;

const SAMPLES_PER_SECOND = TICKS_PER_MS * 1_000;
const TURN = 2 * Math.PI;

/** How each kind of noise is synthesized, at 48 kHz and at any level. */
const SYNTHESIZERS: Record<NoiseKind, (random: Random) => SampleSource> = {
  street: createStreet,
  cafe: createCafe,
  line_hum: createLineHum,
};

/** How much noise is measured to know its level. */
const MEASURED_SECONDS = 10;
const levels = new Map<NoiseKind, number>();

/** Creates noise of a kind at 48 kHz, with a mean square of 1 over a few seconds. */
export function createNoise(kind: NoiseKind, random: Random): SampleSource {
  const gain = 1 / Math.sqrt(measureMeanSquare(kind));
  const nextSample = SYNTHESIZERS[kind](random);
  return () => gain * nextSample();
}

/** Returns the mean square of what a synthesizer produces; measured once for each kind. */
function measureMeanSquare(kind: NoiseKind): number {
  const known = levels.get(kind);
  if (known !== undefined) return known;
  const nextSample = SYNTHESIZERS[kind](seededRandom('level'));
  const samples = MEASURED_SECONDS * SAMPLES_PER_SECOND;
  let sum = 0;
  for (let nth = 0; nth < samples; nth += 1) sum += nextSample() ** 2;
  levels.set(kind, sum / samples);
  return sum / samples;
}

/** The rumble of engines, which swells and fades as cars pass, and the hiss of tires. */
function createStreet(random: Random): SampleSource {
  const rumble = bandPass(createWhiteNoise(random.fork('rumble')), 70, 300);
  const hiss = bandPass(createWhiteNoise(random.fork('hiss')), 600, 2_500);
  const swell = createSwell(random.fork('cars'), [0.21, 0.47], 0.3);
  return () => swell() * (rumble() + 0.25 * hiss());
}

const TALKERS = 6;

/** Several people who talk at the same time; no word can be understood. */
function createCafe(random: Random): SampleSource {
  const talkers = Array.from({ length: TALKERS }, (_, nth) =>
    createTalker(random.fork(`talker ${nth}`)),
  );
  const room = bandPass(createWhiteNoise(random.fork('room')), 200, 1_200);
  return () => talkers.reduce((sum, nextSample) => sum + nextSample(), 2 * room());
}

const SYLLABLE_MS = { min: 90, max: 260 };
/** The resonances of a vowel, in Hz. */
const FORMANTS = [
  { min: 300, max: 800 },
  { min: 900, max: 2_300 },
] as const;
const RESONANCE = 0.985;
/** How fast loudness follows the syllable: about 15 ms. */
const LOUDNESS_FOLLOWS = 1 - Math.exp(-1 / (15 * TICKS_PER_MS));

/** Syllables of random length, loudness, and vowel. */
function createTalker(random: Random): SampleSource {
  const breath = createWhiteNoise(random.fork('breath'));
  let [left, loudness, target] = [0, 0, 0];
  let resonators: Resonator[] = [];
  return () => {
    if (left === 0) {
      left = random.integer(SYLLABLE_MS.min, SYLLABLE_MS.max) * TICKS_PER_MS;
      target = Math.max(0, random.fraction() * 1.3 - 0.3);
      resonators = FORMANTS.map(({ min, max }) => createResonator(random.integer(min, max)));
    }
    left -= 1;
    loudness += LOUDNESS_FOLLOWS * (target - loudness);
    const source = breath() * loudness;
    return resonators.reduce((sum, resonate) => sum + resonate(source), 0);
  };
}

const MAINS_HZ = 50;
/** The hum of a transformer is loudest at twice the mains frequency. */
const HARMONICS = [0.3, 1, 0.35, 0.6, 0.25, 0.4, 0.15, 0.2];
const HISS_SHARE = 0.1;

/** The hum of a bad cable or power supply, with a little hiss. */
function createLineHum(random: Random): SampleSource {
  const hiss = createWhiteNoise(random.fork('hiss'));
  const tones = HARMONICS.map((amplitude, nth) => ({
    amplitude,
    step: (TURN * MAINS_HZ * (nth + 1)) / SAMPLES_PER_SECOND,
    phase: random.fraction() * TURN,
  }));
  let nth = 0;
  return () => {
    let sum = HISS_SHARE * hiss();
    for (const { amplitude, step, phase } of tones) sum += amplitude * Math.sin(step * nth + phase);
    nth += 1;
    return sum;
  };
}

/** Returns a slow change of loudness around 1: the sum of two waves. */
function createSwell(random: Random, hertz: readonly number[], depth: number): SampleSource {
  const waves = hertz.map((frequency) => ({
    step: (TURN * frequency) / SAMPLES_PER_SECOND,
    phase: random.fraction() * TURN,
  }));
  let nth = 0;
  return () => {
    let sum = 1;
    for (const { step, phase } of waves) sum += (depth / 2) * Math.sin(step * nth + phase);
    nth += 1;
    return sum;
  };
}

/** Keeps what is between two frequencies in Hz, with gentle slopes. */
function bandPass(source: SampleSource, lowHz: number, highHz: number): SampleSource {
  const [lowShare, highShare] = [lowHz, highHz].map(
    (hertz) => 1 - Math.exp((-TURN * hertz) / SAMPLES_PER_SECOND),
  ) as [number, number];
  let [first, second, slow] = [0, 0, 0];
  return () => {
    first += highShare * (source() - first);
    second += highShare * (first - second);
    slow += lowShare * (second - slow);
    return second - slow;
  };
}

type Resonator = (input: number) => number;

function createResonator(hertz: number): Resonator {
  const turn = 2 * RESONANCE * Math.cos((TURN * hertz) / SAMPLES_PER_SECOND);
  let [before, last] = [0, 0];
  return (input) => {
    const output = (1 - RESONANCE) * input + turn * last - RESONANCE ** 2 * before;
    [before, last] = [last, output];
    return output;
  };
}
