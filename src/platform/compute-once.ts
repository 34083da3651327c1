/**
 * Returns a function that computes its result once for each object, and forgets it with the object.
 * Later changes to the object have no effect.
 */
export function computeOnce<Key extends object, Result>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const results = new WeakMap<Key, { result: Result }>();
  return (key) => {
    const known = results.get(key);
    if (known) return known.result;
    const result = compute(key);
    results.set(key, { result });
    return result;
  };
}
