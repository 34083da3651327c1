/** A stretch of speech, on the local monotonic clock. */
export interface SpeechSpan {
  startMs: number;
  /** When its last sound ended. */
  endMs: number;
}
