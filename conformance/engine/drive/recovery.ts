import type { ExchangeRecord } from '../../../src/contract/index.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { isUp } from '../transcript/crashes.ts';

/** What a recovery uses. */
export interface RecoveryOptions {
  clock: Clock;
  /** The noun for the peer in messages. */
  peer: string;
  /** Asks the peer for a response, records the exchange, and returns it. */
  poll: (deadlineMs: number) => Promise<ExchangeRecord>;
  /** Called before the run goes on with a peer that came back. Returns whether the peer still responds. */
  restore: () => Promise<boolean>;
  /** Ends the wait. */
  signal: AbortSignal | undefined;
  /** Called with a sentence for people after each unsuccessful request. */
  onWaiting: (message: string) => void;
}

/** `up`: it responds. `restarted`: it responds again after a wait. `gone`: it doesn't come back. */
export type RecoveryState = 'up' | 'restarted' | 'gone';

/** Waits for a peer whose connections failed. */
export interface Recovery {
  /** The peer did not come back in time, so nothing more is sent to it. */
  readonly isGone: boolean;
  /** Waits until the peer responds, at most for the time limits. Concurrent callers share one wait. */
  recover(): Promise<RecoveryState>;
}

/** Maximum time to wait for a peer to come back. */
export const RECOVERY_MS_MAX = 30_000;
/** Maximum time that all waits of a run take together. */
export const RECOVERIES_MS_MAX = 120_000;
/** The pauses between requests double from the first to the last. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;
const POLL_DEADLINE_MS = 5_000;

/** Creates a recovery. It asks the peer after 0, 250, and 750 ms, and so on, at most every 2 s. */
export function createRecovery(options: RecoveryOptions): Recovery {
  const { clock, peer, poll, signal, onWaiting } = options;
  let current: Promise<RecoveryState> | undefined;
  let isGone = false;
  let totalMs = 0;

  const isInterrupted = (): boolean => signal?.aborted ?? false;
  const waitForPeer = async (): Promise<RecoveryState> => {
    const startedMs = clock.monotonicMs();
    const limitMs = Math.min(RECOVERY_MS_MAX, RECOVERIES_MS_MAX - totalMs);
    const elapsedMs = (): number => clock.monotonicMs() - startedMs;
    let pauseMs = FIRST_PAUSE_MS;
    for (let polls = 0; !isInterrupted(); polls++) {
      const leftMs = limitMs - elapsedMs();
      const response = await poll(Math.max(1_000, Math.min(POLL_DEADLINE_MS, leftMs)));
      if (isUp(response)) {
        if (polls === 0) return 'up';
        totalMs += elapsedMs();
        if (await options.restore()) return 'restarted';
      }
      if (elapsedMs() >= limitMs) {
        isGone = true;
        return 'gone';
      }
      const seconds = Math.ceil((limitMs - elapsedMs()) / 1000);
      onWaiting(`The ${peer} does not respond. Waiting up to ${seconds} s for it to come back.`);
      await pause(Math.min(pauseMs, limitMs - elapsedMs()));
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
    }
    return 'gone';
  };
  const pause = async (ms: number): Promise<void> => {
    // An interruption is noticed by the caller.
    await clock.sleep(Math.max(1, ms), signal).catch(() => undefined);
  };
  return {
    get isGone() {
      return isGone;
    },
    recover() {
      if (isGone) return Promise.resolve('gone');
      current ??= waitForPeer().finally(() => {
        current = undefined;
      });
      return current;
    },
  };
}
