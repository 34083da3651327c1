/**
 * A name as it is searched: two that differ in case, in the way their accents are written, in `ß`
 * and `ss` or in the two small sigmas fold to the same. SQLite's own `lower` and `like` know ASCII
 * alone, and `like` takes `%` and `_` for more than characters.
 */
export function fold(name: string): string {
  const lower = name.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return lower.normalize('NFC');
}
