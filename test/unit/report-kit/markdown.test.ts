/** Text from a sandbox in a Markdown report never becomes markup, and stays readable as raw text. */
import t from 'tap';
import {
  escapeMarkdown,
  markdownBlock,
  markdownCode,
  markdownTable,
} from '../../../src/report-kit/markdown.ts';

void t.test('prose is escaped with backslashes, and code stays code', (t) => {
  for (const [text, expected] of [
    ['plain text: 5 of 7 (ok), "quoted".', 'plain text: 5 of 7 (ok), "quoted".'],
    ['`choices[].role` is `assistant`.', '`choices[].role` is `assistant`.'],
    ['[a](http://x.example)', String.raw`\[a\](http\://x.example)`],
    [
      '<img src=x> & **bold** _it_ ~~no~~',
      String.raw`\<img src=x\> \& \*\*bold\*\* \_it\_ \~\~no\~\~`,
    ],
    ['bad_request of user_id_', String.raw`bad_request of user_id\_`],
    ['see www.x.example and @team', String.raw`see www\.x.example and &#64;team`],
    ['a lone ` and a \\ stay', String.raw`a lone \` and a \\ stay`],
    ['``two`` and `[link](x)`', '\\`\\`two\\`\\` and `[link](x)`'],
  ] as const) {
    t.equal(escapeMarkdown(text), expected, text);
  }
  t.end();
});

void t.test('code and blocks contain any text', (t) => {
  t.equal(markdownCode('a`b'), '``a`b``');
  t.equal(markdownCode('`a'), '`` `a ``');
  t.same(markdownBlock('x ``` y', 'sh', 2), ['  ````sh', '  x ``` y', '  ````']);
  t.end();
});

void t.test('a cell can contain the separator', (t) => {
  const [, , row] = markdownTable(['a'], [['x|y `p|q`']]);
  t.equal(row, String.raw`| x\|y ` + '`p' + String.raw`\|q` + '` |');
  t.end();
});
