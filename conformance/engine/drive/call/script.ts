import type { Clip } from '../../../../src/voice/opus/index.ts';

/** A message of a sandbox, as JSON; only what is an object counts as one. */
export type CallMessage = Record<string, unknown>;

/** What a call does once its WebSocket is open; when it returns, the call is hung up. */
export type CallScript = (line: Call) => Promise<void>;

/** Media can flow; a path was found, and media could not flow on it; or nothing came of it. */
export type Connection = 'flows' | 'broken' | 'none';

/** One open WebSocket, and the media that it may lead to. Nothing rejects for what a sandbox does. */
export interface Call {
  /** Whether the WebSocket is open on both sides. */
  readonly isOpen: boolean;
  /** Sends a value as JSON, text as it is, or bytes in a binary frame. */
  send(message: object | string | Uint8Array): void;
  /**
   * The first message of one of some types, also one that came already; undefined when the time
   * passes, the WebSocket closes or the run ends before. `*` is any message.
   */
  waitForMessage(types: readonly string[], waitMs: number): Promise<CallMessage | undefined>;
  /** Waits until the sandbox closes the WebSocket; false when the time passes before. */
  waitUntilClosed(waitMs: number): Promise<boolean>;
  /** Does nothing for so long, or until the WebSocket closes. */
  pause(ms: number): Promise<void>;
  /** Takes the offer of `call_ready` and sends the answer; what comes of it. */
  connect(ready: CallMessage, change?: (answer: string) => string): Promise<Connection>;
  /** Says a clip; resolves when its speech is over. */
  speak(clip: Clip): Promise<void>;
  /** Waits until the sandbox can be heard from now on; false when the time passes before. */
  waitUntilHeard(waitMs: number): Promise<boolean>;
  /** Waits until the sandbox has been silent for a while; false when the time passes before. */
  waitUntilSilent(waitMs: number): Promise<boolean>;
  /** Closes the WebSocket; what media still comes is recorded for so long. */
  hangUp(listenMs?: number): Promise<void>;
}
