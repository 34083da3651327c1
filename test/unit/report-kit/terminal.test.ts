/** The layout of text for a terminal: words that are wider than a line. */
import t from 'tap';
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
