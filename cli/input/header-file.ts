import { readTextFile } from '../../library/input/files.ts';
import { HEADER_NAME, isHeaderValue, isReservedHeader } from '../../src/platform/connection.ts';
import { UsageError } from '../errors.ts';

/** Which header carries the key of the run, in lowercase; undefined without a key. */
export type KeyHeader = string | undefined;

/**
 * Reads the additional headers of a run: lines in the form `Name: value`. Empty lines and lines that
 * start with # are skipped. Messages name the line and the header, and never the value.
 *
 * @throws {UsageError} if a line has another form, or the header can't be set.
 */
export function readHeaderFile(path: string, keyHeader: KeyHeader): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [index, text] of readTextFile(path, '--header-file').split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(text)) continue;
    const errorAt = (message: string): UsageError =>
      new UsageError(`${path}:${index + 1} (--header-file): ${message}`);
    const [, name = '', value = ''] = /^([^:]*):\s*(.*?)\s*$/.exec(text) ?? [];
    const key = name.toLowerCase();
    if (!HEADER_NAME.test(name)) throw errorAt('A line must be in the form Name: value.');
    if (isReservedHeader(key)) {
      throw errorAt(`The header ${name} can't be in this file, because sandbox-kit sets it.`);
    }
    if (key === keyHeader) {
      throw errorAt(
        `The header ${name} carries the API key. Remove it from the file, or set no API key.`,
      );
    }
    if (headers.has(key)) throw errorAt(`The header ${name} occurs twice. Remove one line.`);
    if (!isHeaderValue(value)) {
      throw errorAt(`The value of ${name} must be printable ASCII and not empty.`);
    }
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}
