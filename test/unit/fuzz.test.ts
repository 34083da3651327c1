/** The engine of the fuzzer finds planted defects, makes their inputs small, and repeats them. */
import fc from 'fast-check';
import t from 'tap';
import { createHeapMeter } from '../fuzz/engine/heap.ts';
import { formatFind } from '../fuzz/engine/find.ts';
import { fuzz, type FuzzOptions, type FuzzResult } from '../fuzz/engine/fuzz.ts';
import { defineTarget, Violation, type Session } from '../fuzz/engine/target.ts';

const numbers = fc.array(fc.nat(1_000), { maxLength: 20 });

/** Fuzzes something that receives lists of numbers. */
function fuzzNumbers(
  send: (numbers: readonly number[]) => Promise<void> | void,
  options: Partial<FuzzOptions> = {},
): Promise<FuzzResult> {
  const session: Session<number[]> = { send, reset: () => undefined, close: () => undefined };
  const target = defineTarget({
    ...{ about: 'numbers', inputs: numbers, inputsPerRound: 300 },
    open: () => Promise.resolve(session),
  });
  return fuzz(target, { name: 'planted', seconds: 0, seed: 1, ...options });
}

const rejectLarge = (sent: readonly number[]): void => {
  if (sent.some((number) => number > 500)) throw new Violation('A number is too large.');
};

void t.test(
  'an input that violates a rule is made small, and its path sends it again',
  async (t) => {
    const { find } = await fuzzNumbers(rejectLarge);
    t.match(find, { message: 'A number is too large.', input: '[501]', isAlone: true, seed: 1 });
    t.ok((find?.shrinks ?? 0) > 0);
    const again = await fuzzNumbers(rejectLarge, { seed: find?.seed ?? 0, path: find?.path });
    t.match(again.find, { message: 'A number is too large.', input: '[501]' });
    t.match(
      formatFind('planted', again.find ?? t.fail('no find')),
      `--seed 1 --path ${String(find?.path)}`,
    );
  },
);

void t.test('a rejection that nothing handles is found, also after the response', async (t) => {
  const { find } = await fuzzNumbers(
    (sent) => {
      if (sent.includes(7)) void Promise.resolve().then(() => Promise.reject(new Error('lost')));
    },
    { seconds: 5 },
  );
  t.match(find, { message: /^Unhandled rejection: Error: lost/, input: '[7]' });
});

void t.test('an exception outside of any promise is found', async (t) => {
  const { find } = await fuzzNumbers((sent) => {
    if (sent.length > 3) process.nextTick(() => JSON.parse('{'));
  });
  t.match(find, { message: /^Uncaught exception: SyntaxError/, isAlone: true });
});

void t.test('an input without an end is found', async (t) => {
  const { find } = await fuzzNumbers(
    (sent) => (sent.length > 3 ? new Promise<void>(() => undefined) : undefined),
    { inputMsMax: 20, shrinkMsMax: 200 },
  );
  t.match(find, { message: 'No end within 0.02 s.' });
});

void t.test('what violates a rule only after other inputs is found, with its round', async (t) => {
  let count = 0;
  const { find } = await fuzzNumbers(() => {
    count += 1;
    if (count === 100) throw new Violation('The 100th input.');
  });
  t.match(find, { message: 'The 100th input.', isAlone: false, seed: 1, path: '99' });
  t.match(formatFind('planted', find ?? t.fail('no find')), /run\.ts planted --seed 1$/m);
});

void t.test('without a find, the inputs are counted, and the rounds get other seeds', async (t) => {
  const sent = new Set<string>();
  const result = await fuzzNumbers((numbers) => void sent.add(JSON.stringify(numbers)), {
    seconds: 0.3,
  });
  t.equal(result.find, undefined);
  t.ok(result.sent >= 300 && result.rounds >= 1);
  t.ok(sent.size > 200, `${sent.size} different inputs`);
});

void t.test('memory that grows with the inputs is measured', (t) => {
  const meter = createHeapMeter();
  const kept: number[][] = [];
  for (let nth = 1; nth <= 12; nth += 1) {
    kept.push(Array.from({ length: 50_000 }, () => nth));
    meter.measure(nth * 1_000);
  }
  const { growthBytes, bytesPerInput } = meter.use();
  t.ok(growthBytes > 1_000_000, `${growthBytes} bytes for ${kept.length} arrays`);
  t.ok(bytesPerInput > 200 && bytesPerInput < 1_000, `${bytesPerInput} bytes per input`);
  t.end();
});
