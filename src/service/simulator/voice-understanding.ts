/** Whether the agent understood what was spoken, by what its updates tell of the user's words. */
export class VoiceUnderstanding {
  #compared = 0;
  #missed = 0;

  /** Told of each line: what was spoken, and what the agent heard; empty where it does not tell. */
  compare(spoken: string, heard: string): void {
    const [wanted, there] = [wordsOf(spoken), new Set(wordsOf(heard))];
    if (wanted.length === 0 || there.size === 0) return;
    this.#compared += 1;
    const lost = wanted.filter((word) => !there.has(word)).length;
    if (lost * 2 > wanted.length) this.#missed += 1;
  }

  /** For the session; without text of the conversation. */
  get notes(): string[] {
    if (this.#missed === 0) return [];
    const turns = `In ${this.#missed} of ${this.#compared} turns`;
    const told = "the agent's update tells other words of the user than were spoken";
    return [`${turns} ${told}: it did not understand them.`];
  }
}

/** Loosely: without case and marks, and sign by sign where words have no spaces between them. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu) ?? [];
