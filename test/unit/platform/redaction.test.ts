/** Secrets are redacted in every form in which a peer may echo them. */
import t from 'tap';
import { createRedactor } from '../../../src/platform/redaction.ts';

const KEY = 'sk_live_4f/Zq+9é"x';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
/** Escapes characters as JSON may escape any of them. */
const escapeInJson = (text: string, characters: RegExp): string =>
  text.replaceAll(characters, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const forms: Record<string, string> = {
  plain: KEY,
  'in JSON': JSON.stringify(KEY).slice(1, -1),
  'in a URL': encodeURIComponent(KEY),
  'in a URL, each byte encoded': percent(KEY),
  'in a URL, some bytes encoded': KEY.replace('s', '%73')
    .replace('4', '%34')
    .replace('é', '%C3%A9'),
  'in a URL that another URL contains': encodeURIComponent(encodeURIComponent(KEY)),
  'in JSON, each character escaped': escapeInJson(KEY, /[\s\S]/g),
  'in JSON, some characters escaped': `${escapeInJson(KEY, /[k/+é]/g).slice(0, -2)}\\"x`,
  'in base64': base64(KEY),
  'in base64 of the whole header': base64(`Bearer ${KEY}`),
  'in base64 of the header line': base64(`Authorization: Bearer ${KEY}\r\nAccept: */*`),
  'in base64 after one byte': base64(`:${KEY}`),
  'in base64url of the header': Buffer.from(`Bearer ${KEY}`).toString('base64url'),
  'in hexadecimal': hex(KEY),
  'in hexadecimal of the header, upper case': hex(`Bearer ${KEY}`).toUpperCase(),
};

for (const [form, text] of Object.entries(forms)) {
  void t.test(`a key ${form} is redacted`, (t) => {
    const redacted = createRedactor([KEY])(`before ${text} after`);
    t.match(redacted, '<redacted>');
    for (const part of [KEY, hex(KEY), percent(KEY), base64(KEY)]) t.notMatch(redacted, part);
    // What is left of base64 must not decode to most of the key.
    const left = redacted
      .replace('<redacted>', ' ')
      .split(/\s+/)
      .map((word) => Buffer.from(word, 'base64').toString('latin1'));
    t.notMatch(redacted, /%2534|u0034/);
    for (const word of left) t.notOk(word.includes('live_4f'), word);
    t.match(redacted, /^before /);
    t.match(redacted, / after$/);
    t.end();
  });
}

void t.test('text without the key is unchanged', (t) => {
  const text = `The key header is missing. ${base64('Bearer something else')} %73%6b`;
  t.equal(createRedactor([KEY])(text), text);
  t.equal(createRedactor(['short'])('short'), 'short');
  t.end();
});
