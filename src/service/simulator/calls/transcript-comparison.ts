/** Checks whether the agent understood the user's lines, from its transcripts of the user. */
export class TranscriptComparison {
  #compared = 0;
  #missed = 0;

  /** Compares a spoken line with the transcript of the agent; an empty transcript is not counted. */
  compare(spoken: string, transcript: string): void {
    const [spokenWords, transcriptWords] = [listWords(spoken), new Set(listWords(transcript))];
    if (spokenWords.length === 0 || transcriptWords.size === 0) return;
    this.#compared += 1;
    const missedWords = spokenWords.filter((word) => !transcriptWords.has(word)).length;
    if (missedWords * 2 > spokenWords.length) this.#missed += 1;
  }

  /** Notes for the session, without text of the conversation. */
  get notes(): string[] {
    if (this.#missed === 0) return [];
    const turns = `In ${this.#missed} of ${this.#compared} turns`;
    return [
      `${turns} the agent misunderstood the user: its transcript of the user differs from what was spoken.`,
    ];
  }
}

/** Ignores case and punctuation; in scripts without spaces, each character is a word. */
const listWords = (text: string): string[] =>
  text
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu) ?? [];
