import type { Clock } from '../../platform/clock.ts';

/** A response that is sent in parts. */
export interface UnreadResponse {
  /** Notes how many bytes are in memory until the client reads them. */
  keep(bytes: number): void;
  /** Notes that the client has read a part. */
  noteRead(): void;
  /** Notes that the response is over. */
  close(): void;
}

/** Responses whose clients read more slowly than the service writes. */
export interface UnreadResponses {
  /** @param end Ends the response early, and with it the connection. */
  open(end: () => void): UnreadResponse;
  /** Waits until there is memory for another item; at most until clients count as stopped. */
  waitForRoom(): Promise<void>;
}

/** Beyond this many unread bytes, responses whose clients have stopped reading are ended. */
const BYTES_MAX = 67_108_864;

/** A client that has read nothing for so long has stopped reading. */
const STOPPED_MS_MIN = 5_000;

const PAUSE_MS = 100;

/** Creates the responses of a service. Clients that read nothing must not use up its memory. */
export function createUnreadResponses(clock: Clock): UnreadResponses {
  // Least recently read first.
  const responses = new Map<object, { bytes: number; readAtMs: number; end: () => void }>();
  let total = 0;
  const endStopped = (): void => {
    for (const { bytes, readAtMs, end } of responses.values()) {
      if (total <= BYTES_MAX || clock.monotonicMs() - readAtMs < STOPPED_MS_MIN) return;
      if (bytes > 0) end();
    }
  };
  return {
    async waitForRoom() {
      for (;;) {
        endStopped();
        if (total <= BYTES_MAX) return;
        await clock.sleep(PAUSE_MS);
      }
    },
    open(end) {
      const key = {};
      let kept = 0;
      let isOpen = true;
      const note = (bytes: number): void => {
        if (!isOpen) return;
        total += bytes - kept;
        kept = bytes;
        responses.delete(key);
        responses.set(key, { bytes, readAtMs: clock.monotonicMs(), end: endEarly });
      };
      const close = (): void => {
        note(0);
        isOpen = false;
        responses.delete(key);
      };
      const endEarly = (): void => {
        close();
        end();
      };
      note(0);
      return {
        keep: note,
        noteRead: () => note(kept),
        close,
      };
    },
  };
}
