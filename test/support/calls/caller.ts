/** The service's side of a voice call to a sandbox. */
import { once } from 'node:events';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { systemClock } from '../../../src/platform/clock.ts';
import { findOnsets, measurePackets } from '../../../src/voice/activity/index.ts';
import {
  FRAME_MS,
  FRAME_TICKS,
  readClips,
  silentFrame,
  type Clip,
} from '../../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket, type Peer } from '../../../src/voice/peer/index.ts';
import { createPacer } from '../../../src/platform/pacer.ts';
import { Microphone } from '../../../src/voice/call/index.ts';
import type { LineImpairment } from '../../../src/voice/line-impairment/index.ts';
import { until } from '../until.ts';

/** A connection that never comes must end the test; a busy machine must not. */
export const CONNECT_MS_MAX = 60_000;

export type Message = Record<string, unknown>;

export interface SignalingOptions {
  protocol?: string | undefined;
  headers?: Record<string, string>;
  ca?: string | null;
}

/** The signaling WebSocket of a call, with the messages received so far. */
export interface SignalingSocket {
  socket: WebSocket;
  messages: Message[];
  /** Resolves with the close code. */
  closed: Promise<number>;
  send: (message: unknown) => void;
  /** Returns the first message of a type; waits until it arrives. */
  next: (type: string) => Promise<Message>;
}

/** Opens the WebSocket of a call. Rejects with the error of `ws` if the upgrade is refused. */
export async function openSignaling(
  url: string,
  options: SignalingOptions = {},
): Promise<SignalingSocket> {
  const { protocol = 'voice-agent', headers = {}, ca = null } = options;
  const socket = new WebSocket(url, protocol === '' ? [] : [protocol], {
    headers,
    ...(ca !== null && { ca }),
  });
  const messages: Message[] = [];
  socket.on('message', (data: Buffer) => {
    try {
      messages.push(JSON.parse(data.toString()) as Message);
    } catch {
      messages.push({ type: 'not JSON' });
    }
  });
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)));
  await once(socket, 'open');
  socket.on('error', () => undefined);
  return {
    socket,
    messages,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next(type) {
      const findMessage = () => messages.find((message) => message.type === type);
      await until(type, () => !!findMessage() || socket.readyState === WebSocket.CLOSED);
      const message = findMessage();
      if (!message) throw new Error(`The WebSocket was closed before a ${type} message.`);
      return message;
    },
  };
}

/** A call whose media is connected. */
export interface ConnectedCall extends SignalingSocket {
  peer: Peer;
  ready: Message;
  callId: string;
  /** All received packets, oldest first. */
  received: AudioPacket[];
  /** Closes the WebSocket, then the media; resolves with the close code. */
  hangUp: () => Promise<number>;
}

/** A call in `/__admin/calls`; times in milliseconds since its WebSocket opened. */
export interface CallView {
  call_id: string;
  state: string;
  ending: string | null;
  close_code: number | null;
  ended_ms: number | null;
  packets_sent: number;
  packets_received: number;
  unknown_messages: number;
  turns: {
    heard_clip: string | null;
    reply_clip: string;
    response_ms: number | null;
    stated_response_ms: number | null;
    interrupted: boolean;
  }[];
}

/** Returns the calls of an agent, including ended ones, oldest first. */
export async function fetchCalls(agentUrl: string): Promise<CallView[]> {
  const response = await fetch(`${agentUrl}/__admin/calls`);
  return ((await response.json()) as { calls: CallView[] }).calls;
}

/** Waits until the greeting has ended. */
export async function waitForGreeting({ received }: ConnectedCall): Promise<void> {
  const { packets } = await loadClip('how-can-i-help');
  await until('the greeting has ended', () => received.length > packets.length + 5);
}

/** Creates the `webrtc_answer` to a `call_ready`. */
export const createAnswer = (ready: Message, sdp: string): Message => ({
  type: 'webrtc_answer',
  ...('session_id' in ready && { session_id: ready['session_id'] }),
  call_id: ready['call_id'],
  webrtc_answer: { type: 'answer', sdp },
});

export const readOfferSdp = (ready: Message): string =>
  (ready['webrtc_offer'] as { sdp: string }).sdp;

/** Places a call and waits until its media is connected. */
export async function placeCall(
  url: string,
  start: Message = { audio_config: { codec: 'opus' } },
  options: SignalingOptions & { onPacket?: (packet: AudioPacket) => void } = {},
): Promise<ConnectedCall> {
  const signaling = await openSignaling(url, options);
  const received: AudioPacket[] = [];
  const onPacket = options.onPacket ?? ((packet: AudioPacket) => void received.push(packet));
  const peer = createPeer({ clock: systemClock, onPacket });
  signaling.send({ type: 'start_call', ...start });
  const ready = await signaling.next('call_ready');
  signaling.send(createAnswer(ready, await peer.createAnswer(readOfferSdp(ready))));
  await peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
  return {
    ...signaling,
    peer,
    ready,
    callId: String(ready['call_id']),
    received,
    async hangUp() {
      signaling.socket.close(1000);
      await peer.close();
      return signaling.closed;
    },
  };
}

/** Places a call, and ends it after the test. */
export async function withCall(
  t: Test,
  url: string,
  ...rest: Parameters<typeof placeCall> extends [string, ...infer Rest] ? Rest : never
): Promise<ConnectedCall> {
  const call = await placeCall(url, ...rest);
  t.teardown(async () => {
    call.socket.terminate();
    await call.peer.close();
  });
  return call;
}

/** Returns the clip with an id. */
export async function loadClip(id: string): Promise<Clip> {
  const clip = (await readClips()).find((clip) => clip.id === id);
  if (!clip) throw new Error(`Unknown clip ${id}.`);
  return clip;
}

/** Returns the first part of a user's clip: at least 400 ms are speech, and less may be a backchannel. */
export async function loadLine(ms = 600, id = 'where-is-my-order'): Promise<Clip> {
  const clip = await loadClip(id);
  const packets = clip.packets.slice(0, ms / FRAME_MS);
  return { ...clip, packets, speechEndTicks: packets.length * FRAME_TICKS };
}

const silence = (ms: number): Buffer[] => Array.from({ length: ms / FRAME_MS }, () => silentFrame);

/** Returns a line that is said once more after each of these pauses. */
export async function loadLineWithPauses(...pausesMs: number[]): Promise<Clip> {
  const line = await loadLine();
  const packets = [...line.packets, ...pausesMs.flatMap((ms) => [...silence(ms), ...line.packets])];
  return { ...line, packets, speechEndTicks: packets.length * FRAME_TICKS };
}

const pacer = createPacer(systemClock);

/** Starts a microphone that sends silence unless it plays a clip, and stops it after the test. */
export function startMicrophone(t: Test, peer: Peer, impairment?: LineImpairment) {
  const microphone = new Microphone({ peer, clock: systemClock, pacer, impairment });
  t.teardown(() => microphone.stop());
  return {
    /** Plays a clip. Resolves with the time when its speech ended; NaN if it was interrupted. */
    say: async (clip: Clip): Promise<number> => (await microphone.say(clip))?.endMs ?? NaN,
  };
}

/** Returns the times when a call became audible after silence, on the monotonic clock. */
export async function findCallOnsets(packets: readonly AudioPacket[]): Promise<number[]> {
  return findOnsets(await measurePackets(packets));
}
