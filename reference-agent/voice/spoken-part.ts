/**
 * Returns the words of a text that had been spoken after a share of its speech, 0 to 1. Each character
 * takes about the same time; a word that was cut off is left out.
 */
export function cutToSpokenPart(text: string, share: number): string {
  if (share >= 1) return text;
  const spoken = text.slice(0, Math.floor(text.length * share));
  return spoken.slice(0, Math.max(0, spoken.search(/\s\S*$/))).trimEnd();
}
