import type { Connection } from '../../../../src/platform/connection.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import {
  createAddressFilter,
  findLocalAddress,
  type AnswerForm,
  type SocketListener,
  type CallAudio,
} from '../../../../src/voice/call/index.ts';
import type { Step } from '../../probe.ts';
import type { Outcome, Outgoing } from '../http-client.ts';
import { ProbeCall } from './probe-call.ts';
import type { MediaConnection } from './media-connection.ts';
import { requestSocket } from './socket.ts';

/** Options of a caller. */
export interface CallerOptions {
  clock: Clock;
  /** URL of the voice WebSocket. */
  voiceUrl: string;
  ca: string | undefined;
  connection?: Connection | undefined;
  answerForm: AnswerForm;
  /** The local address for media (default: the one that reaches the sandbox). */
  mediaAddress: string | undefined;
  signal: AbortSignal;
  /** Called with the audio of every call that has any. */
  onAudio: (step: string, audio: CallAudio) => void;
}

/** A call to place. */
export interface CallPlacement {
  step: Step;
  outgoing: Outgoing;
  deadlineMs: number;
  /** Converts a time of the clock to milliseconds since the start of the run. */
  sinceRunMs: (atMs: number) => number;
  /** Sends the WebSocket request when the request limiter allows it. */
  pass: <Result>(send: () => Promise<Result>) => Promise<Result>;
}

/** Places calls to one sandbox. */
export interface Caller {
  /** Requests a WebSocket and, if it opens, runs the script of the step. */
  place(placement: CallPlacement): Promise<Outcome>;
}

/** Creates a caller. Failures are part of the outcome and never thrown. */
export function createCaller(options: CallerOptions): Caller {
  return {
    async place(placement) {
      const { step, outgoing, deadlineMs, sinceRunMs, pass } = placement;
      let addresses: MediaAddresses = {};
      const call = new ProbeCall({
        clock: options.clock,
        sinceRunMs,
        answerForm: options.answerForm,
        signal: options.signal,
        createMedia: (offer, onPacket) =>
          createMedia(options, { offer, onPacket, addresses, sinceRunMs }),
      });
      const url = new URL(outgoing.path, options.voiceUrl).href;
      const { headers } = outgoing;
      const { ca, connection, signal } = options;
      const request = { url, headers, ca, connection, deadlineMs, signal };
      const { socket, localAddress, remoteAddress, ...outcome } = await pass(() =>
        requestSocket(request, options.clock, listenerOf(call)),
      );
      if (!socket) return outcome;
      addresses = { localAddress, remoteAddress };
      void loadMedia();
      call.start(socket);
      try {
        await step.call?.(call);
      } finally {
        await call.hangUp();
      }
      const audio = call.audio();
      if (audio) options.onAudio(step.step, audio);
      return { ...outcome, call: call.toRecord(), ...failureOf(call, step) };
    },
  };
}

/** Forwards the events of the WebSocket to the call. */
function listenerOf(call: ProbeCall): SocketListener {
  return {
    onMessage: (data, isBinary) => call.onMessage(data, isBinary),
    onClose: (code, reason) => call.onClose(code, reason),
    onTooLarge: (message) => call.onTooLarge(message),
  };
}

/** Returns why a call has no complete response. */
function failureOf(call: ProbeCall, { intent }: Step): Pick<Outcome, 'failure'> {
  if (call.tooLargeMessage !== undefined) {
    return { failure: { kind: 'too_large', message: call.tooLargeMessage, status: 101 } };
  }
  if (call.isDropped) {
    const message = 'the WebSocket was dropped without a close code';
    return { failure: { kind: 'reset', message, status: 101 } };
  }
  if (intent !== 'valid' || !call.isUnanswered) return {};
  return {
    failure: {
      kind: 'timeout',
      message: 'the sandbox sent neither call_ready nor an error',
      status: 101,
    },
  };
}

interface MediaRequest {
  offer: string;
  onPacket: () => void;
  addresses: MediaAddresses;
  sinceRunMs: (atMs: number) => number;
}

/** The addresses of the WebSocket. */
interface MediaAddresses {
  localAddress?: string | undefined;
  remoteAddress?: string | undefined;
}

/** Loads the media modules when the first WebSocket opens, because loading takes a moment. */
const loadMedia = (): Promise<{ MediaConnection: typeof MediaConnection }> =>
  import('./media-connection.ts');

async function createMedia(
  { clock, mediaAddress }: CallerOptions,
  { offer, onPacket, addresses, sinceRunMs }: MediaRequest,
): Promise<MediaConnection> {
  const { MediaConnection } = await loadMedia();
  const { localAddress = '', remoteAddress } = addresses;
  const address = mediaAddress ?? (await findLocalAddress(localAddress, offer));
  const acceptsAddress = createAddressFilter(remoteAddress);
  return new MediaConnection({ clock, sinceRunMs, address, acceptsAddress, onPacket });
}
