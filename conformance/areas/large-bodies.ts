/** Bodies of a given size. The interface states no limit for them (spec 8). */
import { repeatText } from './texts.ts';

/**
 * Returns a body of exactly this many bytes as JSON, from a function that adds a text to it. Undefined
 * if it is as large without one.
 */
export function extendBody<Body>(
  bytes: number,
  withText: (text: string) => Body,
): Body | undefined {
  const missing = bytes - Buffer.byteLength(JSON.stringify(withText('')));
  return missing <= 0 ? undefined : withText(repeatText('It is a long story.', missing));
}
