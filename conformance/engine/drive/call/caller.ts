import type { Clock } from '../../../../src/platform/clock.ts';
import {
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

/** What a caller is made of. */
export interface CallerOptions {
  clock: Clock;
  /** Address of the voice WebSocket. */
  voiceUrl: string;
  ca: string | undefined;
  answerForm: AnswerForm;
  /** Of this machine, for the media; the one by which the sandbox is reached when left out. */
  mediaAddress: string | undefined;
  signal: AbortSignal;
  /** Told the audio of every call that had any. */
  onAudio: (step: string, audio: CallAudio) => void;
}

/** One call to place. */
export interface CallPlacement {
  step: Step;
  outgoing: Outgoing;
  deadlineMs: number;
  /** Milliseconds since the run began, of a time of the clock. */
  sinceRunMs: (atMs: number) => number;
  /** Lets the request for the WebSocket pass when it is its turn. */
  pass: <Result>(go: () => Promise<Result>) => Promise<Result>;
}

/** Places calls to one sandbox. */
export interface Caller {
  /** Asks for a WebSocket and, where it opens, has the script of the step drive it to its end. */
  place(placing: CallPlacement): Promise<Outcome>;
}

/** A caller; failures are values, never thrown. */
export function createCaller(options: CallerOptions): Caller {
  return {
    async place(placing) {
      const { step, outgoing, deadlineMs, sinceRunMs, pass } = placing;
      let localAddress = '';
      const line = new ProbeCall({
        clock: options.clock,
        sinceRunMs,
        answerForm: options.answerForm,
        signal: options.signal,
        mediaEnd: (offer, onPacket) =>
          mediaEnd(options, { offer, onPacket, localAddress, sinceRunMs }),
      });
      const url = new URL(outgoing.path, options.voiceUrl).href;
      const { headers } = outgoing;
      const request = { url, headers, ca: options.ca, deadlineMs };
      const asked = await pass(() => requestSocket(request, options.clock, listenerOf(line)));
      const { socket, localAddress: reachedBy = '', ...came } = asked;
      if (!socket) return came;
      localAddress = reachedBy;
      line.begin(socket);
      try {
        await step.call?.(line);
      } finally {
        await line.hangUp();
      }
      const audio = line.audio();
      if (audio) options.onAudio(step.step, audio);
      return { ...came, call: line.view(), ...failureOf(line, step) };
    },
  };
}

/** Only what is heard of a WebSocket that has opened is part of a call. */
function listenerOf(line: ProbeCall): SocketListener {
  return {
    onMessage: (data, isBinary) => line.onMessage(data, isBinary),
    onClose: (code, reason) => line.onClose(code, reason),
    onTooLarge: (says) => line.onTooLarge(says),
  };
}

/** A call that was cut off, or that nothing came of, is no whole answer. */
function failureOf(line: ProbeCall, { intent }: Step): Pick<Outcome, 'failure'> {
  if (line.tooLarge !== undefined) {
    return { failure: { kind: 'too_large', message: line.tooLarge, status: 101 } };
  }
  if (line.isCut) {
    const message = 'the WebSocket was cut off, without a close code';
    return { failure: { kind: 'reset', message, status: 101 } };
  }
  if (intent !== 'valid' || !line.isUnanswered) return {};
  return {
    failure: { kind: 'timeout', message: 'neither call_ready nor an error came', status: 101 },
  };
}

interface Wanted {
  offer: string;
  onPacket: () => void;
  localAddress: string;
  sinceRunMs: (atMs: number) => number;
}

/** The parts that speak and hear take a moment to load: only a call with media does. */
async function mediaEnd(
  { clock, mediaAddress }: CallerOptions,
  { offer, onPacket, localAddress, sinceRunMs }: Wanted,
): Promise<MediaConnection> {
  const { MediaConnection } = await import('./media-connection.ts');
  const address = mediaAddress ?? (await findLocalAddress(localAddress, offer));
  return new MediaConnection({ clock, sinceRunMs, address, onPacket });
}
