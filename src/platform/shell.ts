/** Returns text as one argument for a POSIX shell, in quotes if necessary. */
export function quoteArgument(text: string): string {
  return /^[\w./:~@+,-]+$/.test(text) ? text : quoteText(text);
}

/** Returns text in single quotes for a POSIX shell. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
