/** The words of a text that differ from another text. */
import t from 'tap';
import { findChangedWords } from '../../../../src/service/web/compare/changed-words.ts';

const mark = (text: string, other: string): string =>
  findChangedWords(text, other).reduceRight(
    (marked, { start, end }) =>
      `${marked.slice(0, start)}[${marked.slice(start, end)}]${marked.slice(end)}`,
    text,
  );

void t.test('changed words are marked, with the spaces between them', (t) => {
  const before = 'Your parcel was shipped on Monday.';
  const after = 'Your small parcel was not yet shipped.';
  t.equal(mark(before, after), 'Your parcel was [shipped on Monday.]');
  t.equal(mark(after, before), 'Your [small] parcel was [not yet shipped.]');
  t.equal(mark('same', 'same'), 'same');
  t.equal(mark('a b a b', 'b a'), '[a] b a [b]');
  t.equal(mark('a b a b', ''), '[a b a b]');
  t.equal(mark('', 'a'), '');
  t.equal(mark('a  b', 'a b'), 'a  b', 'spaces do not matter');
  t.end();
});

void t.test('what is not marked is the same in both texts', (t) => {
  const texts = ['x y z', 'z y x', 'x x y', 'y z z x', 'w', 'x w z y'];
  for (const one of texts) {
    for (const other of texts) {
      const rest = (text: string, from: string): string =>
        mark(text, from)
          .replaceAll(/\[[^\]]*\]/g, '')
          .split(' ')
          .filter(Boolean)
          .join(' ');
      t.equal(rest(one, other).split(' ').length, rest(other, one).split(' ').length);
    }
  }
  t.end();
});
