import type { CallMessage } from '../../../../src/voice/call/index.ts';
import type { Clip } from '../../../../src/voice/opus/index.ts';

export type { CallMessage };

/** What the kit does in a call after its WebSocket opens. When the script returns, the kit hangs up. */
export type CallScript = (call: Call) => Promise<void>;

/** Media flows; ICE found a path but the connection broke; or there is no path. */
export type Connection = 'flows' | 'broken' | 'none';

/** A call with an open WebSocket and possibly media. No method rejects because of the sandbox. */
export interface Call {
  /** Whether both sides keep the WebSocket open. */
  readonly isOpen: boolean;
  /** Sends an object as JSON, a string unchanged, or bytes in a binary frame. */
  send(message: object | string | Uint8Array): void;
  /**
   * Returns the first unread message of one of the types, or of any type for `*`. Returns undefined
   * if the time runs out, the WebSocket closes, or the run ends first.
   */
  waitForMessage(types: readonly string[], waitMs: number): Promise<CallMessage | undefined>;
  /** Waits until the sandbox closes the WebSocket; returns false if the time runs out. */
  waitUntilClosed(waitMs: number): Promise<boolean>;
  /** Waits for the time, or until the WebSocket closes. */
  pause(ms: number): Promise<void>;
  /** Answers the offer of `call_ready` and waits for the connection. */
  connect(ready: CallMessage, change?: (answer: string) => string): Promise<Connection>;
  /** Plays a clip; resolves when its speech ends. */
  speak(clip: Clip): Promise<void>;
  /** Waits until the sandbox is audible again; returns false if the time runs out. */
  waitUntilAudible(waitMs: number): Promise<boolean>;
  /** Waits until the sandbox is silent; returns false if the time runs out. */
  waitUntilSilent(waitMs: number): Promise<boolean>;
  /** Closes the WebSocket, and keeps recording media for `listenMs`. */
  hangUp(listenMs?: number): Promise<void>;
}
