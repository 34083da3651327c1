/** The reason why a body is not JSON, and the place. */
import t from 'tap';
import { toRecordedBody } from '../../../conformance/engine/transcript/body-encoding.ts';
import { findBodyFault } from '../../../conformance/engine/transcript/json-fault.ts';

const body = { id: 'ü', list: [1, { text: 'a "b" \\ {' }] };
const json = JSON.stringify(body);
const bytes = Buffer.byteLength(json);

const faults: readonly [title: string, text: string, reason: string, value?: unknown][] = [
  ['a byte order mark', `\uFEFF${json}`, 'a byte order mark (BOM) at byte offset 0'],
  ['NaN', '{"ü":"NaN","n":NaN}', 'NaN at byte offset 16', { ü: 'NaN', n: 0 }],
  ['-Infinity', '{"n":-Infinity}', '-Infinity at byte offset 5', { n: 0 }],
  ['undefined', '{"n":undefined}', 'undefined at byte offset 5', { n: null }],
  ['a Python literal', '{"n": True}', 'True at byte offset 6', { n: true }],
  [
    'the text of a Python dict',
    "{'id': 'it\\'s', 'n': None}",
    'a string in single quotes at byte offset 1',
    { id: "it's", n: null },
  ],
  ['a last comma', '{"n":[1,],}', 'a comma after the last value at byte offset 7', { n: [1] }],
  [
    'a line break in a string',
    '{"n":"a\nb"}',
    'an unescaped control character, such as a line break, in a string at byte offset 5',
    { n: 'a b' },
  ],
  [
    'JSON encoded twice',
    JSON.stringify(json),
    'a JSON string at byte offset 0 that contains the JSON: it was encoded twice',
  ],
  [
    'text after the object',
    `${json}\n<!-- 12 ms -->`,
    `text after the JSON object at byte offset ${bytes + 1}: "<!-- 12 ms -->"`,
  ],
  [
    'two objects',
    `${json}${json}`,
    `text after the JSON object at byte offset ${bytes}: ${JSON.stringify(json.slice(0, 20))}`,
  ],
  [
    'text before the object',
    `data: ${json}\n\n`,
    'text before the JSON object at byte offset 0: "data:"',
  ],
];

void t.test('a usual mistake in JSON has its reason and byte offset', (t) => {
  for (const [title, text, reason, value = body] of faults) {
    const fault = findBodyFault({ body: text });
    t.equal(fault?.reason, reason, title);
    t.same(fault?.value, value, `${title}: the object that was meant`);
    t.match(fault?.cure, /^[A-Z].*[^.]$/, `${title}: a cure`);
  }
  t.end();
});

void t.test('a body that ends too early is named, with the byte offset of its end', (t) => {
  const fault = findBodyFault({ body: json.slice(0, -3) });
  t.equal(
    fault?.reason,
    `the body ends at byte offset ${bytes - 3}, before the JSON object is complete`,
  );
  t.equal(fault?.value, undefined);
  t.end();
});

void t.test('a body in UTF-16 is recognized and read', (t) => {
  const little = Buffer.from(json, 'utf16le');
  const big = Buffer.from(little).swap16();
  const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), little]);
  for (const sent of [little, big, marked, Buffer.from('{"id":"a"}', 'utf16le')]) {
    const fault = findBodyFault(toRecordedBody(sent));
    t.equal(fault?.reason, 'the body is UTF-16, not UTF-8');
    t.match(fault?.value, { id: /^[üa]$/ });
  }
  t.end();
});

void t.test('a cut character and half of a surrogate pair are named', (t) => {
  const faultOf = (...bytes: number[]): ReturnType<typeof findBodyFault> =>
    findBodyFault(
      toRecordedBody(
        Buffer.concat([Buffer.from('{"id":"é'), Buffer.from(bytes), Buffer.from('"}')]),
      ),
    );
  t.match(faultOf(0xf0, 0x9f), {
    reason: '0xF0 at byte offset 9 starts a character that is cut off',
    cure: /^Cut texts between characters/,
  });
  t.match(faultOf(0xc3), { reason: '0xC3 at byte offset 9 starts a character that is cut off' });
  t.match(faultOf(0xed, 0xa0, 0xbd, 0xed, 0xb1, 0x8b), {
    reason: /^0xED at byte offset 9 starts half of a surrogate pair/,
    cure: /as one character$/,
  });
  t.match(faultOf(0xfc), { reason: '0xFC at byte offset 9 is not UTF-8' });
  t.end();
});

void t.test('no reason for objects, other JSON, and text that is something else', (t) => {
  for (const text of [json, '', ' ', 'null', '[]', '"a"', '7', 'OK', '<html>', '}{', '{]', "'"]) {
    t.equal(findBodyFault({ body: text }), undefined, text);
  }
  t.end();
});

void t.test('hostile texts take little time', (t) => {
  const size = 200_000;
  for (const text of ['"', "'", '{', '[', '{"', '\\"', ',', '{}', '{"a":NaN'].map((part) =>
    part.repeat(size / part.length),
  )) {
    const startedMs = performance.now();
    findBodyFault({ body: text });
    t.ok(performance.now() - startedMs < 5000, JSON.stringify(text.slice(0, 8)));
  }
  t.end();
});
