/** Sentences end with one full stop. */
import t from 'tap';
import { endOnce, toSentence } from '../../../src/platform/sandbox-kit-error.ts';

void t.test('a sentence ends once', (t) => {
  const rows = [
    ['It said "It has shipped.".', 'It said "It has shipped."'],
    ['It said “Really?”.', 'It said “Really?”'],
    ['It said "shipped".', 'It said "shipped".'],
    ['It ended..', 'It ended.'],
    ['It said "and so on...', 'It said "and so on...'],
    ['Is it running?.', 'Is it running?'],
  ] as const;
  for (const [text, ended] of rows) t.equal(endOnce(text), ended);
  t.equal(toSentence('No file'), 'No file.');
  t.equal(toSentence('It said "No."'), 'It said "No."');
  t.end();
});
