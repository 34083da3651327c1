/** Returns the length of the common start of two texts. */
export function countCommonStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}
