import type { Clock } from '../../platform/clock.ts';
import type { Terminal } from './terminal.ts';

/** Tells how far a run is. */
export interface Progress {
  /** One more is done; `what` says which. */
  step(what: string): void;
  end(): void;
}

/** In a pipe a long run says every so often that it goes on. */
const PLAIN_EVERY_MS = 10_000;

/** What is done before the time left is told: the first requests are the slowest, or the fastest. */
const DONE_MIN = 3;
const DONE_SHARE_MIN = 0.25;

/**
 * Progress towards a known total, with the time left once there is something to reckon it from; never
 * where that takes uneven times: a call lasts as long as many requests.
 */
export function progress(
  terminal: Terminal,
  clock: Clock,
  total: number,
  unit: string,
  isUneven = false,
): Progress {
  const startedMs = clock.monotonicMs();
  const evidenceMin = Math.max(DONE_MIN, total * DONE_SHARE_MIN);
  let done = 0;
  let saidMs = startedMs;
  return {
    step(what) {
      done++;
      const nowMs = clock.monotonicMs();
      const left = Math.max(0, total - done);
      const leftMs = ((nowMs - startedMs) / done) * left;
      const eta =
        isUneven || done < evidenceMin || left === 0 ? '' : `, about ${seconds(leftMs)} left`;
      const line = `${Math.min(done, total)} of ${total} ${unit}${eta}`;
      terminal.live(`  ${line}  ${terminal.style('dim', what)}`);
      if (nowMs - saidMs >= PLAIN_EVERY_MS) {
        saidMs = nowMs;
        if (!terminal.isLive) process.stderr.write(`sandbox-kit: ${line}\n`);
      }
    },
    end() {
      terminal.live('');
    },
  };
}

function seconds(ms: number): string {
  return ms < 1000 ? 'a second' : `${Math.ceil(ms / 1000)} s`;
}
