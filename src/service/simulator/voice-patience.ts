/** How long a caller waits for what. Milliseconds. */
export interface VoicePatience {
  /** So long after its last sound and its last update, the agent has said what it had to say. */
  quietMs: number;
  /** Who picks up may greet; a greeting that has not begun by then is none. */
  greetMs: number;
  /** An agent that never stops is spoken over. */
  hearOutMsMax: number;
  /** From the end of our line to the end of the answer. */
  answerMsMax: number;
  /** After the sound its text may be a little late, and after the text its sound. */
  otherHalfMsMax: number;
  lookEveryMs: number;
}

const answerMsMaxDefault = 60_000;

/** How long a caller waits, where a scenario says how long a turn may take. */
export function voicePatience(turnTimeoutMs = answerMsMaxDefault): VoicePatience {
  return {
    quietMs: 700,
    greetMs: 1_500,
    hearOutMsMax: Math.min(20_000, turnTimeoutMs),
    answerMsMax: turnTimeoutMs,
    otherHalfMsMax: 5_000,
    lookEveryMs: 20,
  };
}
