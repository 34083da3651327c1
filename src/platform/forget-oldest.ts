/** Deletes the oldest entry of a map or set that has more entries than it may have. */
export function forgetOldest(entries: Map<string, unknown> | Set<string>, sizeMax: number): void {
  const [oldest] = entries.keys();
  if (entries.size > sizeMax && oldest !== undefined) entries.delete(oldest);
}
