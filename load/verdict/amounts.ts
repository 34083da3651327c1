/** A time for people: "51 ms", "2.3 s". */
export function seconds(ms: number): string {
  if (ms < 10) return `${trimmed(ms, 1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${trimmed(ms / 1000, ms < 10_000 ? 2 : 1)} s`;
}

/** A count with its noun: "1 answer", "6 000 answers". */
export function count(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** An ISO time for people: "2026-11-20 09:30:00 UTC". */
export function instant(iso: string): string {
  return iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
}

/** Thousands apart, so that long numbers can be read. */
export function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** A number with at most so many decimals, without zeros at its end. */
export function trimmed(number: number, decimals: number): string {
  return String(Number(number.toFixed(decimals)));
}

/** A share as a percentage that does not round up to a whole. */
export function percent(share: number, decimals = 3): string {
  const factor = 10 ** decimals;
  return String(Math.floor(share * 100 * factor + 1e-9) / factor);
}
