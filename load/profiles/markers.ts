/** Markers that identify requests: unique in a run and across runs. */
export interface Markers {
  /** Returns the session id of a conversation. */
  session(index: number): string;
  /** Returns the reference to put into the messages of a conversation. */
  reference(index: number): string;
  /** Finds a marker of this run in a text that is not among `own`. */
  findForeign(text: string, own: readonly string[]): string | undefined;
}

/** Creates the markers of a run; `tag` is four lowercase letters or digits. */
export function createMarkers(tag: string): Markers {
  const numbered = (index: number, length: number): string =>
    index.toString(36).padStart(length, '0');
  const capital = tag.toUpperCase();
  const any = new RegExp(`\\b(?:sk_${tag}[a-z0-9]{8}|SK${capital}[A-Z0-9]{6})\\b`, 'g');
  return {
    session: (index) => `sk_${tag}${numbered(index, 8)}`,
    reference: (index) => `SK${capital}${numbered(index, 6).toUpperCase()}`,
    findForeign(text, own) {
      if (!text.includes(tag) && !text.includes(capital)) return undefined;
      return text.match(any)?.find((marker) => !own.includes(marker));
    },
  };
}
