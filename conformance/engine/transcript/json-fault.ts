import { findInvalidByte, type InvalidByte, type RecordedBody } from './body-encoding.ts';
import { findJsonExcess, isObject, parseJson, parseObject } from '../../../src/platform/json.ts';

/** Why a text is not JSON, or not a JSON object. */
export interface JsonFault {
  /** What is wrong, and where: "NaN at byte offset 57". */
  reason: string;
  /** The fix: a sentence without the full stop. */
  cure: string;
  /** The object that the text was meant to be; undefined if that can't be told. */
  value: Record<string, unknown> | undefined;
}

/** A longer text is not examined. */
const LENGTH_MAX = 256 * 1024;

/** Returns why a body is not a JSON object; undefined if it is one, or if no usual mistake explains it. */
export function findBodyFault(recorded: RecordedBody): JsonFault | undefined {
  return findEncodingFault(recorded) ?? findJsonFault(recorded.body);
}

/**
 * Returns why a body is not a JSON object, without any of its text; undefined if it is one, or if no usual
 * mistake explains it.
 */
export function findFaultWithoutText(recorded: RecordedBody): JsonFault | undefined {
  const { body } = recorded;
  const encoding = findEncodingFault(recorded);
  if (encoding || body.length > LENGTH_MAX || parseJson(body) !== undefined) return encoding;
  return findByteOrderMark(body) ?? findTokenFault(body) ?? findEnd(body);
}

const UTF8_CURE = 'Encode the body as UTF-8, even if Content-Type names another charset';

/** JSON is UTF-8; a charset in Content-Type has no effect (RFC 8259, 8.1). */
function findEncodingFault(recorded: RecordedBody): JsonFault | undefined {
  const wide = findUtf16(recorded);
  if (wide) return wide;
  const invalid = findInvalidByte(recorded);
  if (!invalid) return undefined;
  const [fault, cure] = explainInvalidByte(invalid);
  return {
    reason: `${invalid.byte} at byte offset ${invalid.offset} ${fault}`,
    cure,
    value: parseObject(new TextDecoder('windows-1252').decode(invalid.bytes)),
  };
}

const isContinuation = (byte: number): boolean => byte >= 0x80 && byte < 0xc0;

/** Returns what is wrong with a byte, and what to do. */
function explainInvalidByte({ bytes, offset }: InvalidByte): [fault: string, cure: string] {
  const [first = 0, ...others] = bytes.subarray(offset, offset + 4);
  if (first === 0xed && (others[0] ?? 0) >= 0xa0) {
    return [
      'starts half of a surrogate pair, which UTF-8 does not have',
      String.raw`Decode an escaped pair, such as \ud83d\udc4b, as one character`,
    ];
  }
  const isStart = first >= 0xc2 && first <= 0xf4;
  const hasUtf8Before = bytes.subarray(0, offset).some((byte) => byte >= 0x80);
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (hasUtf8Before && isStart && offset + length > bytes.length) {
    return ['starts a character that is not complete when the body ends', END_CURE];
  }
  const isCut = others.slice(0, length - 1).some((byte) => !isContinuation(byte));
  return isStart && hasUtf8Before && isCut
    ? ['starts a character that is cut off', 'Cut texts between characters, not between bytes']
    : ['is not UTF-8', UTF8_CURE];
}

/** Every second byte of ASCII characters in UTF-16 is 0, which JSON never contains. */
function findUtf16({ body, bodyBase64 }: RecordedBody): JsonFault | undefined {
  if (!body.includes('\0')) return undefined;
  const bytes =
    bodyBase64 === undefined ? Buffer.from(body, 'utf8') : Buffer.from(bodyBase64, 'base64');
  for (const encoding of ['utf-16le', 'utf-16be']) {
    // The decoder removes a byte order mark.
    const value = parseObject(new TextDecoder(encoding).decode(bytes));
    if (value) {
      return {
        reason: 'the body is UTF-16, not UTF-8',
        cure: UTF8_CURE,
        value,
      };
    }
  }
  return undefined;
}

function findJsonFault(text: string): JsonFault | undefined {
  const excess = findJsonExcess(text);
  if (excess !== undefined) {
    const cure = 'Send only the fields of the interface, without a structure that contains itself';
    return { reason: `JSON that ${excess}`, cure, value: undefined };
  }
  if (text.length > LENGTH_MAX || text.trim() === '') return undefined;
  const parsed = parseJson(text);
  if (isObject(parsed)) return undefined;
  if (typeof parsed === 'string') return findSecondEncoding(parsed);
  if (parsed !== undefined) return undefined;
  return findByteOrderMark(text) ?? findTokenFault(text) ?? findTextAround(text) ?? findEnd(text);
}

const at = (text: string, index: number): string =>
  `at byte offset ${Buffer.byteLength(text.slice(0, index))}`;

function findSecondEncoding(inner: string): JsonFault | undefined {
  const value = parseObject(inner);
  return (
    value && {
      reason: 'a JSON string at byte offset 0 that contains the JSON: it was encoded twice',
      cure: 'Encode the body once: pass the object, not its JSON text, to the function that sends JSON',
      value,
    }
  );
}

const BYTE_ORDER_MARK = '\uFEFF';

function findByteOrderMark(text: string): JsonFault | undefined {
  if (!text.startsWith(BYTE_ORDER_MARK)) return undefined;
  return {
    reason: 'a byte order mark (BOM) at byte offset 0',
    cure: 'Send UTF-8 without a byte order mark',
    value: parseObject(text.slice(1)),
  };
}

/** A token that JSON lacks, what it was meant to be, and what to do. */
interface ForeignToken {
  pattern: RegExp;
  name: (token: string) => string;
  replace: (token: string) => string;
  cure: string;
}

const PYTHON_CURE = 'Encode the body with json.dumps, not with str';

const foreignTokens: readonly ForeignToken[] = [
  {
    pattern: /^-?(NaN|Infinity)$/,
    name: (token) => token,
    replace: () => '0',
    cure: 'JSON has only finite numbers: omit the field, or send a number',
  },
  {
    pattern: /^undefined$/,
    name: (token) => token,
    replace: () => 'null',
    cure: 'Omit a field that has no value',
  },
  {
    pattern: /^(None|True|False)$/,
    name: (token) => token,
    replace: (token) => (token === 'None' ? 'null' : token.toLowerCase()),
    cure: PYTHON_CURE,
  },
  {
    pattern: /^'/,
    name: () => 'a string in single quotes',
    replace: (token) => JSON.stringify(token.slice(1, -1).replaceAll("\\'", "'")),
    cure: PYTHON_CURE,
  },
  {
    pattern: /^,/,
    name: () => 'a comma after the last value',
    replace: (token) => token.slice(1),
    cure: 'Remove the comma, or let a JSON encoder write the body',
  },
  {
    // eslint-disable-next-line no-control-regex
    pattern: /^"[^]*[\u0000-\u001F]/,
    name: () => 'an unescaped control character, such as a line break, in a string',
    // eslint-disable-next-line no-control-regex
    replace: (token) => token.replaceAll(/[\u0000-\u001F]/g, ' '),
    cure: 'Let a JSON encoder write the strings of the body',
  },
];

/**
 * Strings, and everything outside of strings that JSON lacks. A string without an end extends to the
 * end of the text, so that the time stays linear.
 */
const TOKENS =
  /"(?:[^"\\]|\\[^])*(?:"|\\?$)|'(?:[^'\\]|\\[^])*(?:'|\\?$)|-?\b(?:NaN|Infinity|undefined|None|True|False)\b|,(?=\s*[}\]])/g;

function findTokenFault(text: string): JsonFault | undefined {
  let first: Omit<JsonFault, 'value'> | undefined;
  const replaced = text.replaceAll(TOKENS, (token, index: number) => {
    const foreign = foreignTokens.find(({ pattern }) => pattern.test(token));
    if (!foreign) return token;
    first ??= { reason: `${foreign.name(token)} ${at(text, index)}`, cure: foreign.cure };
    return foreign.replace(token);
  });
  const value = parseObject(replaced);
  return first && value && { ...first, value };
}

const BRACKETS = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[[\]{}]/g;

/** Returns the end of the value that starts with the bracket at `start`; undefined if it has none. */
function findValueEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(BRACKETS)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth === 0) return start + index + token.length;
  }
  return undefined;
}

/** Returns the message of PHP that a text is, in one line; undefined if it is another text. */
function readPhpMessage(text: string): string | undefined {
  const line = text
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const isMessage =
    /^(?:PHP )?(?:Fatal error|Parse error|Warning|Notice|Deprecated|Strict Standards): .* in .* on line \d+/;
  return isMessage.test(line) ? line.slice(0, MESSAGE_LENGTH_MAX) : undefined;
}

const MESSAGE_LENGTH_MAX = 160;

function findTextAround(text: string): JsonFault | undefined {
  const start = text.indexOf('{');
  const end = start < 0 ? undefined : findValueEnd(text, start);
  const value = end === undefined ? undefined : parseObject(text.slice(start, end));
  if (end === undefined || !value) return undefined;
  const before = text.slice(0, start).trim();
  const message = readPhpMessage(before);
  if (message) {
    return {
      reason: `PHP printed ${JSON.stringify(message)} before the JSON object`,
      cure: 'Fix what PHP reports, and set display_errors to Off, so that messages go to the log',
      value,
    };
  }
  // Braces in the style or a script of a page.
  if (/^<(?:!doctype|html|head|body)/i.test(before)) return undefined;
  const after = text.slice(end).trim();
  const [word, found, index] =
    before === '' ? ['after', after, text.indexOf(after, end)] : ['before', before, 0];
  return {
    reason: `text ${word} the JSON object ${at(text, index)}: ${JSON.stringify(found.slice(0, 20))}`,
    cure: /^(data|event|id|retry):/.test(before)
      ? 'Respond with one JSON object: the request asks for no stream'
      : 'Send exactly one JSON object and nothing else',
    value,
  };
}

const END_CURE = 'Send the whole body, and a Content-Length that counts bytes, not characters';

function findEnd(text: string): JsonFault | undefined {
  if (!text.trimStart().startsWith('{') || findValueEnd(text, text.indexOf('{')) !== undefined) {
    return undefined;
  }
  return {
    reason: `the body ends ${at(text, text.length)}, before the JSON object is complete`,
    cure: END_CURE,
    value: undefined,
  };
}
