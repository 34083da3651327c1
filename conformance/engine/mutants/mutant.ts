import type { Area, Endpoint, RunRecord } from '../../../src/contract/index.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { RequirementId } from '../requirement-id.ts';

/** A request that the proxy received. */
export interface ProxyRequest {
  /** Undefined if the interface does not have this path and method. */
  endpoint: Endpoint | undefined;
  method: string;
  path: string;
  /** Names are lowercase. */
  headers: Record<string, string>;
  body: string;
  /** The original bytes of the body. A transform that changes `body` must remove them. */
  bytes?: Uint8Array;
  /** The body as JSON; undefined if it is not JSON. */
  json: unknown;
  /** Identifies the connection: the same object for all its requests. */
  connection: object;
}

/** A response that the proxy sends. */
export interface ProxyResponse {
  status: number;
  /** Sent with the capitalization used here. */
  headers: Record<string, string>;
  body: string;
  /** Sent in place of `body`, for a body that is not UTF-8. */
  bytes?: Uint8Array;
  /** The reason phrase (default: the standard one for the status). */
  reason?: string;
  /** How the end of the body is marked (default: Content-Length). */
  framing?: 'chunked' | 'close';
}

/** A response, or `dropped` to close the connection without one. */
export type ProxyResult = ProxyResponse | 'dropped';

/** Forwards a request to the peer behind the proxy. */
export type Forward = (request: ProxyRequest) => Promise<ProxyResponse>;

/** Handles a request in the proxy: it can forward the request, change it or the response, or respond itself. */
export type Transform = (
  request: ProxyRequest,
  forward: Forward,
  clock: Clock,
) => Promise<ProxyResult>;

/** Creates a transform with its own state, so that runs do not affect each other. */
export type TransformFactory = () => Transform;

/** A change to the behavior of a conforming peer. */
export interface Distortion {
  /** For example `chat/content-null`. An id is never reused. */
  id: string;
  /** The areas whose checks can detect it. */
  areas: readonly Area[];
  /** Can be detected only by an intrusive run (service only). */
  intrusive?: boolean;
  /** Runs the clock this many times as fast, if the run has to wait for something. */
  clockFactor?: number;
  /** Shortens each wait to this time, if the run has to wait for something. */
  sleepMsMax?: number;
  transform: TransformFactory;
  /** Changes calls. Default: calls are forwarded unchanged. */
  voice?: VoiceTransformFactory;
  /** Changes the run record, for what no traffic on this machine can show. */
  run?: (run: RunRecord) => RunRecord;
}

/** A distortion that breaks a rule. */
export interface Mutant extends Distortion {
  /** What it does wrong: one sentence without a subject. */
  description: string;
  /** Exactly the requirements that fail, or warn if they are targets. */
  kills: readonly RequirementId[];
}

/** An unusual but legal distortion: no requirement may fail. */
export interface Variant extends Distortion {
  /** What is unusual about it: one sentence without a subject. */
  description: string;
}

/** Returns a function that creates legal variants with ids `legal/<kind>-…` for some areas. */
export function createVariantFactory(kind: string, areas: readonly Area[]) {
  return (
    name: string,
    description: string,
    transform: TransformFactory,
    more: Partial<Variant> = {},
  ): Variant => ({
    id: `legal/${kind}-${name}`,
    areas,
    description,
    transform,
    ...more,
  });
}

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
