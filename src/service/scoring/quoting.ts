/** How much of a conversation a reasoning quotes at a time. */
const quoteCharsMax = 80;

/** How many things a reasoning lists before it says how many more there are. */
const listedMax = 10;

/** Text cut to a length; what is cut is marked, and no character is cut in two. */
export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** A value as short JSON, on one line. */
export function quote(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(cut(value, quoteCharsMax))
    : cut(jsonOf(value), quoteCharsMax);
}

/** The surroundings of a place in a text. */
export function excerpt(text: string, at: number): string {
  const start = Math.max(0, Math.min(at - 20, text.length - quoteCharsMax));
  const piece = text.slice(start, start + quoteCharsMax).toWellFormed();
  const head = start > 0 ? '…' : '';
  const tail = start + quoteCharsMax < text.length ? '…' : '';
  return JSON.stringify(`${head}${piece}${tail}`);
}

/** Things as a phrase: `a, b and 3 more`. */
export function listed(things: readonly string[]): string {
  const more = things.length - listedMax;
  const shown = things.slice(0, listedMax).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** A number with its noun: `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** JSON that cannot be written, because it is nested beyond the stack, is only named. */
function jsonOf(value: unknown): string {
  try {
    return value === undefined ? 'nothing' : JSON.stringify(value);
  } catch {
    return 'a value that is nested too deeply to show';
  }
}
