import { hash, randomBytes } from 'node:crypto';

/** Where chance comes from: everything it gives follows from its seed and the order of the calls. */
export interface Random {
  /** A fraction, 0 up to but not 1. */
  fraction(): number;
  /** A whole number between the two bounds, both included. */
  integer(min: number, max: number): number;
  /** Lower-case letters and digits. */
  id(length: number): string;
  /** A source of its own that depends on the seed and `name` alone, not on what was drawn here. */
  fork(name: string): Random;
}

/** A seed that nobody can foresee: 10 lower-case hexadecimal digits. */
export function randomSeed(): string {
  return randomBytes(5).toString('hex');
}

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Chance that follows from a seed. The same seed and the same calls give the same values. */
export function seededRandom(seed: string): Random {
  let drawn = 0;
  const fraction = (): number => {
    const bytes = hash('sha256', `${seed}\n${drawn++}`, 'buffer');
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
