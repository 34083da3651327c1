/** Names that are spelled in another way, such as `userId` for `user_id`. */

/** A slip in a shorter name may as well be another name. */
const SLIP_LENGTH_MIN = 5;

/**
 * Returns the one key of an object that must be meant as a field that is missing: its name in another
 * case (`userId`, `user-id`, `UserID`), or with one wrong letter. `known` are the names of other fields.
 */
export function findMisspelled(
  name: string,
  keys: readonly string[],
  known: readonly string[],
): string | undefined {
  if (keys.includes(name)) return undefined;
  const unknown = keys.filter((key) => !known.includes(key));
  const [same, ...others] = unknown.filter((key) => isRespelled(key, name));
  if (same !== undefined) return others.length === 0 ? same : undefined;
  if (name.length < SLIP_LENGTH_MIN) return undefined;
  const [slip, ...more] = unknown.filter((key) => isSlip(key.toLowerCase(), name.toLowerCase()));
  return more.length === 0 ? slip : undefined;
}

/** Returns whether two names differ only in case and separators. */
export function isRespelled(key: string, name: string): boolean {
  return key !== name && toLetters(key) === toLetters(name);
}

const toLetters = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();

/** Returns whether one letter is missing, added, or another one, or two neighbors are swapped. */
function isSlip(key: string, name: string): boolean {
  if (Math.abs(key.length - name.length) > 1) return false;
  let start = 0;
  while (start < name.length && key[start] === name[start]) start++;
  const [rest, expected] = [key.slice(start), name.slice(start)];
  return (
    rest.slice(1) === expected.slice(1) ||
    rest.slice(1) === expected ||
    rest === expected.slice(1) ||
    (rest[0] === expected[1] && rest[1] === expected[0] && rest.slice(2) === expected.slice(2))
  );
}
