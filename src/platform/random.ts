import { hash, randomBytes, randomUUID } from 'node:crypto';

/** A source of random values. They depend only on its seed and the order of the calls. */
export interface Random {
  /** Returns a number from 0 (included) to 1 (excluded). */
  fraction(): number;
  /** Returns a whole number between two bounds, both included. */
  integer(min: number, max: number): number;
  /** Returns lowercase letters and digits. */
  id(length: number): string;
  /** Returns a source that depends only on the seed and `name`, not on earlier calls. */
  fork(name: string): Random;
}

/** Returns an unpredictable random seed: 10 lowercase hexadecimal digits. */
export function randomSeed(): string {
  return randomHex(5);
}

/** Returns unpredictable bytes as lowercase hexadecimal digits, two for each byte. */
export function randomHex(byteCount: number): string {
  return randomBytes(byteCount).toString('hex');
}

/** Returns an unpredictable UUID of version 4. */
export function randomUuid(): string {
  return randomUUID();
}

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates a random source. The same seed and the same calls give the same values. */
export function seededRandom(seed: string): Random {
  let drawCount = 0;
  const fraction = (): number => {
    const bytes = hash('sha256', `${seed}\n${drawCount++}`, 'buffer');
    return bytes.readUIntBE(0, 6) / 2 ** 48;
  };
  return {
    fraction,
    integer: (min, max) => min + Math.floor(fraction() * (max - min + 1)),
    id: (length) =>
      Array.from({ length }, () => ID_ALPHABET[Math.floor(fraction() * ID_ALPHABET.length)]).join(
        '',
      ),
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}
