/** The engine of the fuzzer finds planted defects, makes their inputs small, and repeats them. */
import fc from 'fast-check';
import t from 'tap';
import { formatFind, type Find } from '../fuzz/engine/find.ts';
import { fuzz, type FuzzOptions, type FuzzResult } from '../fuzz/engine/fuzz.ts';
import { createHeapMeter } from '../fuzz/engine/heap.ts';
import { defineTarget, Violation } from '../fuzz/engine/target.ts';

type Send = (numbers: readonly number[]) => Promise<void> | void;

/** Fuzzes something that receives lists of numbers. */
function fuzzNumbers(send: Send, options: Partial<FuzzOptions> = {}): Promise<FuzzResult> {
  const target = defineTarget({
    about: 'numbers',
    inputsPerRound: 300,
    inputs: fc.array(fc.nat(1_000), { maxLength: 20 }),
    open: () => Promise.resolve({ send, reset: () => undefined, close: () => undefined }),
  });
  return fuzz(target, { name: 'planted', seconds: 60, seed: 1, ...options });
}

/** Fuzzes until something is found. */
async function findDefect(send: Send, options?: Partial<FuzzOptions>): Promise<Find> {
  const { find } = await fuzzNumbers(send, options);
  if (!find) throw new Error('Nothing was found.');
  return find;
}

const rejectLarge: Send = (sent) => {
  if (sent.some((number) => number > 500)) throw new Violation('A number is too large.');
};

void t.test('a bad input is made small, and its path sends it again', async (t) => {
  const find = await findDefect(rejectLarge);
  const { seed, path } = find;
  t.match(find, { message: 'A number is too large.', input: '[501]', isAlone: true, seed: 1 });
  t.ok(find.shrinks > 0, `${find.shrinks} times smaller`);
  const again = await findDefect(rejectLarge, { seed, path });
  t.match(again, { message: 'A number is too large.', input: '[501]' });
  t.match(formatFind('planted', again), `run.ts planted --seed 1 --path ${path}`);
});

void t.test('a rejection that nothing handles is found', async (t) => {
  const find = await findDefect((sent) => {
    if (sent.includes(7)) void Promise.resolve().then(() => Promise.reject(new Error('lost')));
  });
  t.match(find, { message: /^Unhandled rejection: Error: lost/, input: '[7]' });
});

void t.test('an exception outside of any promise is found', async (t) => {
  const find = await findDefect((sent) => {
    if (sent.length > 3) process.nextTick(() => void JSON.parse('{'));
  });
  t.match(find, { message: /^Uncaught exception: SyntaxError/, isAlone: true });
});

void t.test('an input without an end is found', async (t) => {
  const find = await findDefect(
    ({ length }) => (length > 3 ? new Promise<void>(() => undefined) : undefined),
    { inputMsMax: 20, shrinkMsMax: 200 },
  );
  t.match(find, { message: 'No end within 0.02 s.' });
});

void t.test('a defect that needs the inputs before it is found, with its round', async (t) => {
  let count = 0;
  const find = await findDefect(() => {
    count += 1;
    if (count === 100) throw new Violation('The 100th input.');
  });
  t.match(find, { message: 'The 100th input.', isAlone: false, seed: 1, path: '99' });
  t.match(formatFind('planted', find), /run\.ts planted --seed 1$/m);
});

void t.test('a state that cannot be restored is found', async (t) => {
  const target = defineTarget({
    about: 'nothing',
    inputs: fc.nat(),
    inputsPerRound: 10,
    open: () =>
      Promise.resolve({
        send: () => undefined,
        reset: () => Promise.reject(new Violation('It no longer works.')),
        close: () => undefined,
      }),
  });
  const { find, sent } = await fuzz(target, { name: 'planted', seconds: 60, seed: 1 });
  t.match(find, { message: 'After the round: It no longer works.', isAlone: false });
  t.equal(sent, 10);
});

void t.test('without a defect, the inputs are counted', async (t) => {
  const received = new Set<string>();
  const result = await fuzzNumbers((sent) => void received.add(JSON.stringify(sent)), {
    seconds: 0.5,
  });
  t.equal(result.find, undefined);
  t.ok(result.sent >= received.size && received.size > 0, `${received.size} different inputs`);
  t.ok(result.rounds > 0);
});

void t.test('memory that grows with the inputs is measured', (t) => {
  const meter = createHeapMeter();
  const kept: number[][] = [];
  for (let nth = 1; nth <= 9; nth += 1) {
    kept.push(Array.from({ length: 50_000 }, () => nth));
    meter.measure(nth * 1_000);
  }
  const { growthBytes, bytesPerInput } = meter.use();
  t.ok(growthBytes > 1_000_000, `${growthBytes} bytes for ${kept.length} arrays`);
  t.ok(bytesPerInput > 200 && bytesPerInput < 1_000, `${bytesPerInput} bytes per input`);
  t.end();
});
