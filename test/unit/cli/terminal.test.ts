/** The terminal: what a stream that is one gets, and a line that changes. */
import { stripVTControlCharacters } from 'node:util';
import t, { type Test } from 'tap';
import { loadProgress } from '../../../src/cli/output/load-progress.ts';
import { progress } from '../../../src/cli/output/progress.ts';
import { terminalOf, type Terminal } from '../../../src/cli/output/terminal.ts';
import { manualClock } from '../../../src/platform/clock.ts';

/** A terminal of so many columns, and all that was written to it. */
function aTerminal(
  t: Test,
  { columns = 80, TERM = 'xterm' }: { columns?: number; TERM?: string } = {},
): { terminal: Terminal; written: () => string } {
  const { NO_COLOR, TERM: before } = process.env;
  delete process.env['NO_COLOR'];
  process.env['TERM'] = TERM;
  t.teardown(() => {
    if (NO_COLOR !== undefined) process.env['NO_COLOR'] = NO_COLOR;
    process.env['TERM'] = before;
  });
  let written = '';
  const write = (text: string): boolean => {
    written += text;
    return true;
  };
  const stream = { isTTY: true, columns, write } as unknown as NodeJS.WriteStream;
  return { terminal: terminalOf(stream), written: () => written };
}

/** The lines that replaced each other, without their codes. */
const linesOf = (written: string): string[] =>
  written.split('\r\u001B[2K').map(stripVTControlCharacters);

void t.test(
  'a line that changes is never wider than the terminal, and leaves no style open',
  (t) => {
    for (const columns of [20, 40, 59, 80, 200]) {
      const { terminal, written } = aTerminal(t, { columns });
      const shown = progress(terminal, manualClock(0), 137, 'requests');
      const what = 'a step '.repeat(40);
      for (let nth = 0; nth < 5; nth++) shown.step(what);
      shown.end();
      terminal.live(terminal.style('red', 'x'.repeat(300)));
      const lines = linesOf(written());
      t.equal(lines.length, 6, 'the first and what replaced it');
      t.equal(Math.max(...lines.map(({ length }) => length)), columns - 1, `${columns} columns`);
      t.match(lines[1], /^ {2}2 of 137 reques/);
      t.match(written().split('\u001B').slice(-2), [/^\[31mx+$/, '[39m']);
    }
    t.end();
  },
);

void t.test('text has 60 columns at least, 100 at most', (t) => {
  const widths = [20, 72, 300, 0].map((columns) => aTerminal(t, { columns }).terminal.width);
  t.same(widths, [60, 72, 100, 80]);
  t.end();
});

void t.test('a terminal that is dumb gets no codes and no line that changes', (t) => {
  const { terminal, written } = aTerminal(t, { TERM: 'dumb' });
  const shown = progress(terminal, manualClock(0), 3, 'requests');
  shown.step('one');
  shown.end();
  const tick = loadProgress(terminal, manualClock(0));
  tick({ phase: 'ramp', perSecond: 1, inFlight: 1, p50Ms: 1, p99Ms: 1, leftMs: 1, errors: 1 });
  terminal.write(terminal.style('bold', 'text'));
  t.equal(written(), 'text');
  t.end();
});
