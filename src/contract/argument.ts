/** Messages about values that code passes as arguments or options. */
import { formatPath } from '../platform/format-path.ts';
import { didYouMean } from '../platform/suggest.ts';
import { findAllowedWords, findViolations, resolvePointer, type MessageName } from './validate.ts';
import { unescapePointerKey } from '../platform/json-pointer.ts';

/**
 * Describes the first place where an argument is not the message that it must be, as its caller writes
 * it: `faults[0].kind must be one of …`. Undefined if it is valid.
 */
export function describeArgument(
  argument: string,
  name: MessageName,
  value: unknown,
): string | undefined {
  const violations = findViolations(name, value);
  // A misspelled field is also reported as missing.
  const violation = violations.find(({ fields }) => fields !== undefined) ?? violations[0];
  if (!violation) return undefined;
  const { pointer, expected, received, fields } = violation;
  const place = formatPlace(argument, pointer);
  if (fields) {
    const key = pointer.slice(pointer.lastIndexOf('/') + 1);
    return `Unknown key ${place}. ${didYouMean(key, fields, `Known keys: ${fields.join(', ')}.`)}`;
  }
  const given = resolvePointer(value, pointer);
  const words = typeof given === 'string' ? findAllowedWords(name, pointer) : [];
  const hint = didYouMean(String(given), words, '');
  return `${place} must be ${expected}, got ${received}.${hint === '' ? '' : ` ${hint}`}`;
}

/** Formats a JSON pointer (RFC 6901) into an argument as in code, such as `seed.evals[0].kind`. */
export function formatPlace(argument: string, pointer: string): string {
  const keys = pointer.split('/').slice(1);
  const names = keys.map(unescapePointerKey);
  return formatPath([argument, ...names.map((name) => (/^\d+$/.test(name) ? Number(name) : name))]);
}
