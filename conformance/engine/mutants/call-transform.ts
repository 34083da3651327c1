import type { Clock } from '../../../src/platform/clock.ts';
import type { ProxyResponse } from './mutant.ts';

/** A request for a voice WebSocket as the proxy got it. */
export interface VoiceRequest {
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The subprotocols that are asked for. */
  protocols: readonly string[];
}

/** The two ends of a call that goes through the proxy, and how to speak to each. */
export interface CallEnds {
  clock: Clock;
  toKit(message: string, isBinary?: boolean): void;
  toSandbox(message: string): void;
  /** Closes towards the kit; cuts it off where there is no code. */
  closeKit(code?: number): void;
  /** Hangs up on the sandbox. */
  closeSandbox(): void;
  /** All calls that are there now, this one too. */
  readonly all: ReadonlySet<CallEnds>;
}

/** What becomes of a call; what is left out is passed on. */
export interface CallHandlers {
  fromSandbox?(text: string): void;
  fromKit?(text: string, isBinary: boolean): void;
  /** The kit has hung up, or was cut off. */
  onKitClose?(): void;
  /** The sandbox has closed; what is left out closes towards the kit with the same code. */
  onSandboxClose?(code: number): void;
}

/** Stands between the judge and the voice endpoint of a sandbox; what is left out is passed on. */
export interface VoiceTransform {
  /** Answers a request itself. */
  respond?(asked: VoiceRequest): ProxyResponse | 'dropped' | undefined;
  /** What the sandbox is asked for instead. */
  changeRequest?(asked: VoiceRequest): VoiceRequest;
  /** The subprotocol that the answer names; undefined for none. */
  selectProtocol?(asked: VoiceRequest): string | undefined;
  handleCall?(ends: CallEnds): CallHandlers;
}

/** Makes a transform with a state of its own, so that no run sees what another one did. */
export type VoiceTransformFactory = () => VoiceTransform;
