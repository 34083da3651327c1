/** What the built-in synthesizer is given to read. */
import t from 'tap';
import { toPlainEnglish } from '../../../src/voice/speech/spoken-text.ts';

void t.test('order numbers and codes are spelled out; amounts and words are not', (t) => {
  for (const [text, spoken] of [
    ['my order A-1001', 'my order, A, 1 0 0 1'],
    ['REF-12', 'R E F, 1 2'],
    ['order-1001', 'order 1 0 0 1'],
    ['12345678', '1 2 3 4 5 6 7 8'],
    ['2500 cups', '2500 cups'],
    ['12345.50 euros', '12345.50 euros'],
    ['It’s €5 at the “Café”', "It's 5 euros at the Cafe"],
    ['a **bold** `word`', 'a bold word'],
  ] as const) {
    t.equal(toPlainEnglish(text), spoken, text);
  }
  t.end();
});
