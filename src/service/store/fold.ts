/**
 * A name as it is searched: two that differ in case, in the way their accents are written, in `ß`,
 * `ẞ` and `ss` or in the two small sigmas fold to the same. SQLite's own `lower` and `like` know ASCII
 * alone, and `like` takes `%` and `_` for more than characters.
 */
export function normalizeForSearch(name: string): string {
  // `ß` has `SS` above it, but the capital `ẞ` has itself: so down first.
  const upper = name.normalize('NFC').toLowerCase().toUpperCase();
  return upper.toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
