import type { Clock } from '../../platform/clock.ts';
import type { Terminal } from './terminal.ts';

/** Tells how far a run of sessions is. */
export interface SessionProgress {
  /** One more has ended; its line stays. */
  ended(line: string): void;
  end(): void;
}

/** A line for each session that ends; on a terminal, below them, how many are left and how long. */
export function sessionProgress(terminal: Terminal, clock: Clock, total: number): SessionProgress {
  const startedMs = clock.monotonicMs();
  let done = 0;
  return {
    ended(line) {
      done += 1;
      terminal.write(line);
      const leftMs = ((clock.monotonicMs() - startedMs) / done) * (total - done);
      const eta = done === total ? '' : `, about ${Math.ceil(leftMs / 1000)} s left`;
      terminal.live(`  ${done} of ${total} sessions${eta}`);
    },
    end() {
      terminal.live('');
      if (done > 0) terminal.write('\n');
    },
  };
}
