/** The layout of text for a terminal: words that are wider than a line. */
import t from 'tap';
import { formatShare } from '../../../src/report-kit/format.ts';
import { wrapBreakingWords } from '../../../src/report-kit/terminal.ts';

void t.test('a long word breaks between characters, never inside one', (t) => {
  for (const word of ['😀'.repeat(30), '👨‍👩‍👧‍👦'.repeat(7), 'e\u0301'.repeat(50), 'x'.repeat(45)]) {
    const lines = wrapBreakingWords(word, 11);
    t.ok(lines.length > 1, 'the word breaks');
    t.equal(lines.join(''), word, 'no character is lost');
    for (const line of lines) t.ok(line.isWellFormed(), JSON.stringify(line));
  }
  t.same(wrapBreakingWords('a bcdefg', 3), ['a', 'bcd', 'efg']);
  t.same(wrapBreakingWords('', 3), ['']);
  t.end();
});

void t.test('percentages are rounded; only everything is 100%, and only nothing is 0%', (t) => {
  for (const [share, decimals, expected] of [
    [23 / 30, 1, '76.7%'],
    [29 / 30, 1, '96.7%'],
    [0.285, 1, '28.5%'],
    [0.125, 0, '13%'],
    [0.9996, 1, '99.9%'],
    [0.999999, 0, '99%'],
    [1e-9, 1, '0.1%'],
    [1, 1, '100%'],
    [0, 1, '0%'],
  ] as const) {
    t.equal(formatShare(share, decimals), expected);
  }
  t.end();
});
