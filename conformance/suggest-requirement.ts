import { findClosest } from '../src/platform/suggest.ts';

/**
 * Returns a hint for an unknown requirement id. Ids within an area are too similar for a guess, so
 * the hint says how to list them.
 */
export function suggestRequirement(id: string, known: readonly string[]): string {
  const [, area = '', number = ''] = /^([a-z]+)-0*(\d+)$/i.exec(id) ?? [];
  if (!known.some((each) => each.startsWith(`${area.toUpperCase()}-`))) {
    const closest = findClosest(id, known);
    return closest === undefined
      ? 'Run sandbox-kit explain to list all requirements.'
      : `Did you mean ${closest}?`;
  }
  const padded = `${area.toUpperCase()}-${number.padStart(3, '0')}`;
  if (known.includes(padded)) return `Did you mean ${padded}?`;
  return `Run sandbox-kit explain ${area.toLowerCase()} to list the requirements of this area.`;
}
