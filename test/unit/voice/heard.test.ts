/** Comparing a transcription with the agent's own text. */
import t from 'tap';
import { compareHeard } from '../../../src/voice/transcription/index.ts';

/** Two ways to write the same speech. */
const SAME: [string, string][] = [
  ['We are open: Mondays, 9 to 5.', 'we are open mondays nine to five'],
  ['Your order A-1001 has shipped.', 'Your order a 1 0 0 1 has shipped'],
  ['Your order A-1001 has shipped.', 'your order a one zero zero one has shipped'],
  ['It costs $42.50.', 'It costs forty-two dollars and fifty cents.'],
  ['It costs $1,299.', 'it costs one thousand two hundred ninety-nine dollars'],
  ['It costs €5 or 5,50 €.', 'It costs five euros, or five euros and fifty cents.'],
  ['You save 20%.', 'you save twenty percent'],
  ['On 2026-11-26.', 'On November twenty-sixth, twenty twenty-six.'],
  ['On November 26, 2026.', 'on november twenty six two thousand twenty six'],
  ['At 2:30 p.m.', 'at two thirty PM'],
  ['At 5:00.', "At five o'clock."],
  ['From 09:00 to 18:30.', 'from nine to eighteen thirty'],
  ['Call 555-0123.', 'call five five five zero one two three'],
  ['Call 5 0 6.', 'call five oh six'],
  ['It is 3.5 miles.', 'It is three point five miles.'],
  ['A hundred and five boxes', '105 boxes'],
  ['2 million', 'two million'],
  ["Don't worry, it's fine.", 'do not worry it is fine'],
  [
    "We’re here, I'm sure, and you'll see that we can't.",
    'we are here I am sure and you will see that we cannot',
  ],
  ["Laura's parcel", 'lauras parcel'],
  ['Ça va à Zürich', 'ça va à zürich'],
  ['注文は三つです', '注文は三つです。'],
];

void t.test('case, punctuation, and the form of numbers do not count', (t) => {
  for (const [told, heard] of SAME) {
    t.match(compareHeard(told, heard), { errors: 0, missed: [] }, `${told} = ${heard}`);
    t.match(compareHeard(heard, told), { errors: 0 }, `${heard} = ${told}`);
  }
  t.end();
});

void t.test('each word that is replaced, missing, or added is an error', (t) => {
  const told = 'please keep the receipt until friday';
  const errors = (heard: string): number => compareHeard(told, heard).errors;
  t.match(compareHeard(told, told), { words: 6, errors: 0 });
  t.equal(errors('please keep the receipt until sunday'), 1);
  t.equal(errors('keep the receipt until friday'), 1);
  t.equal(errors('please do keep the receipt until friday'), 1);
  t.equal(errors('friday until receipt the keep please'), 6);
  t.equal(errors(''), 6);
  t.match(compareHeard('', 'um'), { words: 0, errors: 1, missed: [] });
  t.end();
});

void t.test('misheard codes, names, amounts, dates, and numbers are listed', (t) => {
  const missed = (told: string, heard: string): string[] =>
    compareHeard(told, heard).missed.map(({ kind, text }) => `${kind} ${text}`);
  t.same(
    missed(
      'Hi! Your order A-1001 for Laura Stone costs $42.50. It arrives on November 26 with 3 boxes, ' +
        'within thirty days.',
      '',
    ),
    [
      'code A-1001',
      'name Laura Stone',
      'amount $42.50',
      'date November 26',
      'number 3',
      'number thirty',
    ],
  );
  t.same(missed('Your order A-1001 is late.', 'Your order a one zero zero seven is late.'), [
    'code A-1001',
  ]);
  t.same(missed('You get $42.50 back.', 'You get forty-two fifty back'), []);
  t.same(missed('You get 42.00 euros.', 'you get forty two point zero zero euros'), []);
  t.same(missed('You get $42.50 back.', 'You get $42.15 back'), ['amount $42.50']);
  t.same(missed('It arrives on November 26, 2026.', 'it arrives on the 26th of november 2026'), []);
  t.same(missed('It arrives on 26 Nov.', 'it arrives on november 26'), []);
  t.same(missed('It arrives on November 26.', 'it arrives on november 25'), ['date November 26']);
  t.same(missed('Ask Laura.', 'ask lora'), ['name Laura']);
  t.same(missed('I said that I am Tim. Then He left.', 'i said that i am tim then he left'), []);
  t.same(missed('Room 15 is free.', 'room five is free'), ['number 15'], 'part of a number');
  t.same(missed('Order 1001, 3 boxes', 'order 1001 3 boxes'), []);
  t.same(missed('The end. Every sentence begins so.', ''), [], 'a capital begins a sentence');
  t.end();
});

void t.test('a long text is compared in bounded time', (t) => {
  const told = 'word '.repeat(100_000);
  t.match(compareHeard(told, told), { words: 2_000, errors: 0 });
  for (const part of ['1', '1.', 'A-', 'a-', 'one hundred ', '$1,', 'Ab ', '1-1-']) {
    const long = part.repeat(10_000);
    t.match(compareHeard(long, long), { errors: 0 }, part);
  }
  t.match(compareHeard(`${'1 '.repeat(50_000)}.`, '$'.repeat(50_000)), { words: 1 });
  t.end();
});
