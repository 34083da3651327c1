import { UsageError } from './usage-error.ts';

/**
 * `--json -` as `--json=-`, and `--duration -5s` alike: the parser takes a dash that stands alone for
 * an argument of its own, and what begins with one for options of one letter.
 */
export function joinDashes(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const joined: string[] = [];
  for (const [index, arg] of args.entries()) {
    const last = joined.at(-1) ?? '';
    const beforeEnd = end === -1 || index < end;
    if (beforeEnd && /^-(\d.*)?$/s.test(arg) && /^--[a-z][a-z-]*$/.test(last)) {
      joined[joined.length - 1] = `${last}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}

/**
 * Refuses what the parser would pass over: an option that lacks its value would get its default,
 * and a switch with a value of its own, such as `--strict=yes`, would be off.
 *
 * @throws {UsageError} about the first such option.
 */
export function checkValues(args: readonly string[], parsed: Record<string, unknown>): void {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return;
    const [, name = '', value] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === '' || name.startsWith('no-')) continue;
    const isSwitch = typeof parsed[name] === 'boolean';
    if (isSwitch && value !== undefined && !['true', 'false'].includes(value)) {
      throw new UsageError(`--${name}: expected no value, got ${JSON.stringify(value)}.`);
    }
    const next = args[index + 1];
    const lacks = value === '' || (value === undefined && (next === undefined || isOption(next)));
    if (!isSwitch && lacks) throw new UsageError(`--${name}: expected a value.`);
  }
}

/** A negative number is a value. */
const isOption = (arg: string): boolean => /^--?[a-z]/i.test(arg);
