import type { Clock } from '../../src/platform/clock.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import type { MoveProgress } from '../../src/service/index.ts';
import { createPlainTimer, formatMinutes } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** Returns a function that shows the rows of a move. */
export function createMoveProgress(
  terminal: Terminal,
  clock: Clock,
): (progress: MoveProgress) => void {
  const isPlainDue = createPlainTimer(terminal, clock);
  return (progress) => {
    const { table, copiedRows, totalRows, msLeft } = progress;
    const isDone = copiedRows === totalRows;
    const left = msLeft === undefined || isDone ? '' : `, ${formatMinutes(msLeft)} left`;
    const line = `${formatMovedRows(progress)} (${isDone ? 'counting them' : table})${left}`;
    terminal.live(`  ${line}`);
    if (isPlainDue()) terminal.write(`Progress: ${line}\n`);
  };
}

/** Formats how far a move is: "1 of 99,311 rows". */
export const formatMovedRows = ({ copiedRows, totalRows }: MoveProgress): string =>
  `${formatNumber(copiedRows)} of ${formatCount(totalRows, 'row')}`;
