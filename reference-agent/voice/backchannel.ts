/** A shorter sound of the caller while the agent speaks is not an interruption. */
export const BACKCHANNEL_MS_MAX = 400;

/** What people say while they listen. */
const BACKCHANNEL_WORDS: ReadonlySet<string> = new Set(
  'ah aha alright hm hmm huh mhm mm mmhm oh ok okay right sure uh uhhuh um yeah yep yes'.split(' '),
);

/** Returns whether a caption has only words of a listener, such as "mhm" or "yeah, okay". */
export function isBackchannelText(caption: string): boolean {
  const words =
    caption
      .toLowerCase()
      .replaceAll('-', '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length > 0 && words.every((word) => BACKCHANNEL_WORDS.has(word));
}
