import type { Clock } from '../../../src/platform/clock.ts';
import type { ProxyResponse } from './mutant.ts';

/** A WebSocket request that the proxy received. */
export interface VoiceRequest {
  path: string;
  /** Headers by lowercase name. */
  headers: Record<string, string>;
  /** The requested subprotocols. */
  protocols: readonly string[];
}

/** The two WebSockets of a proxied call. */
export interface CallEnds {
  clock: Clock;
  toKit(message: string, isBinary?: boolean): void;
  toSandbox(message: string): void;
  /** Closes the WebSocket to the kit, or drops the connection if there is no code. */
  closeKit(code?: number): void;
  /** Closes the WebSocket to the sandbox. */
  closeSandbox(): void;
  /** All open calls, including this one. */
  readonly all: ReadonlySet<CallEnds>;
}

/** Handles the messages of a call. Without a handler, messages are forwarded. */
export interface CallHandlers {
  fromSandbox?(text: string): void;
  fromKit?(text: string, isBinary: boolean): void;
  /** Called when the kit closes or loses its WebSocket. */
  onKitClose?(): void;
  /** Called when the sandbox closes its WebSocket (default: closes the other one with the same code). */
  onSandboxClose?(code: number): void;
}

/** Changes what passes between the kit and the voice endpoint. Without a method, it is forwarded. */
export interface VoiceTransform {
  /** Responds to a request instead of the sandbox. */
  respond?(request: VoiceRequest): ProxyResponse | 'dropped' | undefined;
  /** Changes the request that the sandbox gets. */
  changeRequest?(request: VoiceRequest): VoiceRequest;
  /** Selects the subprotocol in the response; undefined for none. */
  selectProtocol?(request: VoiceRequest): string | undefined;
  handleCall?(ends: CallEnds): CallHandlers;
}

/** Creates a transform with its own state, so that runs don't affect each other. */
export type VoiceTransformFactory = () => VoiceTransform;
