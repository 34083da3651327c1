import { SPEECH_LEVEL_DB } from '../../src/voice/activity/index.ts';

/** The level is averaged over this many windows of 10 ms, because that of noise changes quickly. */
const BLOCK_WINDOWS = 10;

/** The quietest block of the last 10 s is the noise: speech has pauses. */
const BLOCKS_MAX = 100;

/** Speech is at least this much louder than the noise of the line. */
const ABOVE_NOISE_DB = 10;

/** Usual speech exceeds this level on the noisiest line. */
const THRESHOLD_DB_MAX = -26;

/** On a noisy line, a single window says little: this many are averaged. */
const SMOOTHED_WINDOWS = 8;

/** On a noisy line, soft sounds drown: speech goes on for this many windows after the last loud one. */
const HELD_WINDOWS = 8;

/** A line with a floor above this is noisy; that of a quiet line is far below. */
const NOISY_DB_MIN = -55;

/** Follows the noise of a line, and tells sound that may be speech from it. */
export class NoiseFloor {
  readonly #blocksDb: number[] = [];
  readonly #recent: number[] = [];
  #energy = 0;
  #windows = 0;
  #thresholdDb = SPEECH_LEVEL_DB;
  #isNoisy = false;
  #heldWindows = 0;

  /** Whether there is noise that can be heard in the pauses of speech. */
  get isNoisy(): boolean {
    return this.#isNoisy;
  }

  /** Adds the level of the next 10 ms. Returns whether it is loud enough for speech. */
  add(levelDb: number): boolean {
    const energy = 10 ** (levelDb / 10);
    this.#recent.push(energy);
    if (this.#recent.length > SMOOTHED_WINDOWS) this.#recent.shift();
    this.#followNoise(energy);
    if (!this.#isNoisy) return levelDb > this.#thresholdDb;
    if (meanDb(this.#recent) > this.#thresholdDb) this.#heldWindows = HELD_WINDOWS;
    else this.#heldWindows -= 1;
    return this.#heldWindows > 0;
  }

  #followNoise(energy: number): void {
    this.#energy += energy;
    this.#windows += 1;
    if (this.#windows < BLOCK_WINDOWS) return;
    this.#blocksDb.push(10 * Math.log10(this.#energy / BLOCK_WINDOWS));
    if (this.#blocksDb.length > BLOCKS_MAX) this.#blocksDb.shift();
    [this.#energy, this.#windows] = [0, 0];
    const floorDb = Math.min(...this.#blocksDb);
    this.#isNoisy = floorDb > NOISY_DB_MIN;
    this.#thresholdDb = Math.min(
      THRESHOLD_DB_MAX,
      Math.max(SPEECH_LEVEL_DB, floorDb + ABOVE_NOISE_DB),
    );
  }
}

const meanDb = (energies: readonly number[]): number =>
  10 * Math.log10(energies.reduce((sum, energy) => sum + energy, 0) / energies.length);
