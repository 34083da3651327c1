import { isUtf8 } from 'node:buffer';
import { formatNumber } from '../../../report-kit/format.ts';
import { RequestError } from '../../requests/errors.ts';

/** The largest file that is read, in bytes. A form may be a little larger. */
export const FILE_BYTES_MAX = 32_000_000;

const LINE_FEED = 0x0a;

const UTF_16 = 'The file is UTF-16. Save it as UTF-8 (in Excel: "CSV UTF-8").';

/** What the first bytes of a file that is not text say about it. */
const SIGNATURES: readonly [bytes: string, problem: string][] = [
  [
    'PK\u0003\u0004',
    'The file is a ZIP archive or an Excel workbook. Save the table as "CSV UTF-8", and upload that file.',
  ],
  ['\u001f\u008b', 'The file is compressed with gzip. Decompress it, and upload the result.'],
  ['\u00ff\u00fe', UTF_16],
  ['\u00fe\u00ff', UTF_16],
];

/** Returns the text of a file without its byte order mark. @throws RequestError if it is not UTF-8 text. */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.length > FILE_BYTES_MAX) {
    const [got, limit] = [bytes.length, FILE_BYTES_MAX].map((count) => formatNumber(count));
    const message = `The file has ${got} bytes; at most ${limit} are accepted. Split it.`;
    throw new RequestError('too_large', message);
  }
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  const [, problem] = SIGNATURES.find(([signature]) => start.startsWith(signature)) ?? [];
  if (problem !== undefined) throw new RequestError('bad_request', problem);
  const zeroAt = bytes.indexOf(0);
  if (zeroAt >= 0) {
    const message =
      `Line ${countLines(bytes.subarray(0, zeroAt))} contains a NUL byte, so the file is binary or ` +
      'UTF-16. Save it as UTF-8 text.';
    throw new RequestError('bad_request', message);
  }
  if (!isUtf8(bytes)) {
    const message = `Line ${findInvalidLine(bytes)} is not valid UTF-8. Save the file as UTF-8 (in Excel: "CSV UTF-8").`;
    throw new RequestError('bad_request', message);
  }
  return new TextDecoder().decode(bytes);
}

/** Returns the number of the line where some bytes end. */
function countLines(bytes: Uint8Array): number {
  let lines = 1;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1))
    lines += 1;
  return lines;
}

/** Returns the number of the first line that is not UTF-8. A line feed is never part of a character. */
function findInvalidLine(bytes: Uint8Array): number {
  let [line, from] = [1, 0];
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    [line, from] = [line + 1, end + 1];
  }
}
