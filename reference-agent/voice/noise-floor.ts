import { SPEECH_LEVEL_DB } from '../../src/voice/activity/index.ts';

/** The level is averaged over this many windows of 10 ms, because that of noise changes quickly. */
const BLOCK_WINDOWS = 10;

/** The quietest block of the last 10 s is the noise: speech has pauses. */
const BLOCKS_MAX = 100;

/** Speech is at least this much louder than the noise of the line. */
const ABOVE_NOISE_DB = 10;

/** Usual speech exceeds this level on the noisiest line. */
const THRESHOLD_DB_MAX = -28;

/** A line with a floor above this is noisy; that of a quiet line is far below. */
const NOISY_DB_MIN = -55;

/** Follows the noise of a line. */
export class NoiseFloor {
  readonly #blocksDb: number[] = [];
  #energy = 0;
  #windows = 0;
  #thresholdDb = SPEECH_LEVEL_DB;
  #isNoisy = false;

  /** Sound above this level may be speech. */
  get thresholdDb(): number {
    return this.#thresholdDb;
  }

  /** Whether there is noise that can be heard in the pauses of speech. */
  get isNoisy(): boolean {
    return this.#isNoisy;
  }

  /** Adds the level of the next 10 ms. */
  add(levelDb: number): void {
    this.#energy += 10 ** (levelDb / 10);
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
