/** The terminal output: styles, width, and the live line. */
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { createLoadProgress } from '../../../cli/output/load-progress.ts';
import { createMoveProgress } from '../../../cli/output/move-progress.ts';
import { createStepProgress } from '../../../cli/output/progress.ts';
import { createTerminal, type Terminal } from '../../../cli/output/terminal.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';

interface TerminalTraits {
  columns: number;
  term: string;
  isTTY: boolean;
}

/** Creates a terminal, and returns it with all text that was written to it. */
function createTestTerminal({
  columns = 80,
  term = 'xterm',
  isTTY = true,
}: Partial<TerminalTraits> = {}): { terminal: Terminal; written: () => string } {
  let written = '';
  const write = (text: string | Uint8Array): void => void (written += String(text));
  const stream = { isTTY, columns, write };
  return { terminal: createTerminal(stream, { TERM: term }), written: () => written };
}

/** Returns the lines that replaced each other, without escape codes. */
const liveLinesOf = (written: string): string[] =>
  written.split('\r\u001B[2K').map(stripVTControlCharacters);

void t.test('the live line is never wider than the terminal, and closes its style', (t) => {
  for (const columns of [20, 40, 59, 80, 200]) {
    const { terminal, written } = createTestTerminal({ columns });
    const progress = createStepProgress(terminal, manualClock(0), {
      total: 137,
      unit: 'requests',
    });
    const stepName = 'a step '.repeat(40);
    for (let nth = 0; nth < 5; nth++) progress.step(stepName);
    progress.end();
    terminal.live(terminal.style('red', 'x'.repeat(300)));
    const lines = liveLinesOf(written());
    t.equal(lines.length, 6, 'each line replaces the one before');
    t.equal(Math.max(...lines.map(({ length }) => length)), columns - 1, `${columns} columns`);
    t.match(lines[1], /^ {2}2 of 137 reques/);
    t.match(written().split('\u001B').slice(-2), [/^\[31mx+$/, '[39m']);
  }
  t.end();
});

void t.test('a wait for the sandbox shows in place of the current step, and in a pipe', (t) => {
  const message = 'The sandbox does not respond. Waiting up to 29 s for it to come back.';
  const live = createTestTerminal();
  createStepProgress(live.terminal, manualClock(0), { total: 3, unit: 'requests' }).note(message);
  t.equal(liveLinesOf(live.written()).at(-1), `  ${message}`);
  const pipe = createTestTerminal({ isTTY: false });
  const clock = manualClock(0);
  const progress = createStepProgress(pipe.terminal, clock, { total: 3, unit: 'requests' });
  progress.note(message);
  t.equal(pipe.written(), '', 'not yet');
  clock.advance(10_000);
  progress.note(message);
  t.equal(pipe.written(), `Progress: ${message}\n`);
  t.end();
});

void t.test('text is 60 to 100 columns wide', (t) => {
  const widths = [20, 72, 300, 0].map((columns) => createTestTerminal({ columns }).terminal.width);
  t.same(widths, [60, 72, 100, 80]);
  t.end();
});

void t.test('TERM=dumb turns off colors and the live line', (t) => {
  const { terminal, written } = createTestTerminal({ term: 'dumb' });
  const progress = createStepProgress(terminal, manualClock(0), { total: 3, unit: 'requests' });
  progress.step('one');
  progress.end();
  const tick = createLoadProgress(terminal, manualClock(0));
  tick({ phase: 'ramp', perSecond: 1, inFlight: 1, p50Ms: 1, p99Ms: 1, leftMs: 1, errors: 1 });
  terminal.write(terminal.style('bold', 'text'));
  t.equal(written(), 'text');
  t.end();
});

void t.test('the remaining time counts down every second, even without a step', async (t) => {
  const { terminal, written } = createTestTerminal();
  const clock = manualClock(0);
  const estimates = [
    { ms: 2_000, isMinimum: false },
    { ms: 1_000, isMinimum: false },
    undefined,
    { ms: 900, isMinimum: true },
  ];
  const progress = createStepProgress(terminal, clock, {
    total: 8,
    unit: 'requests',
    estimate: () => estimates.shift(),
  });
  progress.step('one');
  for (let nth = 0; nth < 3; nth++) {
    clock.advance(1_000);
    await Promise.resolve();
    await Promise.resolve();
  }
  progress.end();
  clock.advance(1_000);
  t.same(liveLinesOf(written()), [
    '  1 of 8 requests, about 2 s left  one',
    '  1 of 8 requests, about 1 s left  one',
    '  1 of 8 requests  one',
    '  1 of 8 requests, calls take longer, at least 1 s left  one',
    '',
  ]);
});

void t.test('the lines of a load test name the time left in every phase', (t) => {
  const { terminal, written } = createTestTerminal();
  const tick = createLoadProgress(terminal, manualClock(0));
  const none = { perSecond: 0, inFlight: 0, p50Ms: null, p99Ms: null, errors: 0 };
  const calls = { up: 3, packetsPerSecond: 150 };
  tick({ ...none, phase: 'preflight', leftMs: 75_000 });
  tick({ ...none, phase: 'preflight', leftMs: 75_000, search: { perSecond: null } });
  tick({ ...none, phase: 'warm-up', leftMs: 70_000 });
  tick({ ...none, phase: 'ramp', leftMs: 65_000, inFlight: 3, calls });
  tick({ ...none, phase: 'window', leftMs: 9_000, inFlight: 3, calls });
  tick({ ...none, phase: 'window', leftMs: 9_000, search: { perSecond: 45 } });
  tick({ ...none, phase: 'drain', leftMs: 0, inFlight: 2 });
  t.same(liveLinesOf(written()), [
    '  preflight, then 1:15',
    '  preflight',
    '  1:10 left (warm-up)',
    '  1:05 left (ramp-up), 3 calls connected, 150 packets/s',
    '  0:09 left, 3 calls connected, 150 packets/s',
    '  0:09 left of the step at 45/s, 0/s, 0 in flight',
    '  drain, 2 in flight',
  ]);
  t.end();
});

void t.test('a pipe gets a plain line of progress every 10 s, which is not an error', (t) => {
  const { terminal, written } = createTestTerminal({ isTTY: false });
  const clock = manualClock(0);
  const progress = createStepProgress(terminal, clock, { total: 8, unit: 'requests' });
  const tick = createLoadProgress(terminal, clock);
  for (let nth = 0; nth < 3; nth++) {
    clock.advance(5_000);
    progress.step('one');
    tick({ phase: 'ramp', perSecond: 1, inFlight: 2, p50Ms: 1, p99Ms: 1, leftMs: 1, errors: 4 });
  }
  progress.end();
  t.equal(
    written(),
    'Progress: 2 of 8 requests\nProgress: 0:01 left (ramp-up), 1/s, 2 in flight, p50 1 ms, p99 1 ms, 4 errors\n',
  );
  t.end();
});

void t.test('a move shows all its rows and the time left, in a pipe every 10 s', (t) => {
  const clock = manualClock(0);
  const live = createTestTerminal();
  const pipe = createTestTerminal({ isTTY: false });
  const shown = [live, pipe].map(({ terminal }) => createMoveProgress(terminal, clock));
  const totalRows = 99_311;
  for (const progress of [
    { table: 'owners', copiedRows: 0, totalRows, msLeft: undefined },
    { table: 'owners', copiedRows: 1, totalRows, msLeft: 700_000 },
    { table: 'spans', copiedRows: 50_000, totalRows, msLeft: 9_500 },
    { table: 'ingest_log', copiedRows: totalRows, totalRows, msLeft: 0 },
  ]) {
    for (const show of shown) show(progress);
    clock.advance(5_000);
  }
  t.same(liveLinesOf(live.written()), [
    '  0 of 99,311 rows (owners)',
    '  1 of 99,311 rows (owners), 11:40 left',
    '  50,000 of 99,311 rows (spans), 0:10 left',
    '  99,311 of 99,311 rows (counting them)',
  ]);
  t.equal(pipe.written(), 'Progress: 50,000 of 99,311 rows (spans), 0:10 left\n');
  t.end();
});
