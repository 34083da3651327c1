/** Text from a sandbox in a Markdown report never becomes markup, and stays readable as raw text. */
import t from 'tap';
import { line, markdownCode, renderMarkdown } from '../../../src/report-kit/markdown.ts';

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
    t.equal(line`${text}`.text, expected, text);
  }
  t.end();
});

void t.test('code and commands contain any text', (t) => {
  t.equal(markdownCode('a`b').text, '``a`b``');
  t.equal(markdownCode('`a').text, '`` `a ``');
  const text = renderMarkdown('Title', [{ list: [{ text: 'item', command: 'x ``` y' }] }]);
  t.equal(text, '## Title\n\n- item\n\n  ````sh\n  x ``` y\n  ````\n');
  t.end();
});

void t.test('blocks are separated by blank lines, and those without content are left out', (t) => {
  const text = renderMarkdown('Title', [
    'first *line*',
    undefined,
    false,
    { list: [] },
    { columns: ['a'], rows: [] },
    { title: 'Empty', blocks: [{ list: [] }, undefined] },
    { title: 'Reasons', blocks: [{ list: ['a*', { text: 'b', details: [line`**c** ${'*'}`] }] }] },
    { summary: '<More>', blocks: [{ quote: 'd' }] },
  ]);
  t.equal(
    text,
    [
      ...['## Title', '', String.raw`first \*line\*`, ''],
      ...['### Reasons', '', String.raw`- a\*`, '- b', String.raw`  - **c** \*`, ''],
      ...['<details><summary>&lt;More&gt;</summary>', '', '> d', '', '</details>', ''],
    ].join('\n'),
  );
  t.end();
});

void t.test('a cell can contain the separator', (t) => {
  const text = renderMarkdown('Title', [{ columns: ['a'], rows: [['x|y `p|q`']] }]);
  t.equal(text.split('\n')[4], String.raw`| x\|y ` + '`p' + String.raw`\|q` + '` |');
  t.end();
});
