/**
 * Returns a text in a form in which texts are equal regardless of case, Unicode normalization form,
 * `ß`/`ẞ`/`ss`, and the form of the Greek sigma.
 */
export function foldCase(text: string): string {
  // Upper-casing turns `ß` into `SS` but leaves `ẞ` alone, so lower-case first.
  const upper = text.normalize('NFC').toLowerCase().toUpperCase();
  return upper.toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
