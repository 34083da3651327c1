/** A caller of a voice endpoint: what the service is to a sandbox. */
import { once } from 'node:events';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/platform/clock.ts';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { readClips, silentFrame, FRAME_TICKS, type Clip } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket, type Peer } from '../../src/voice/peer/index.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { until } from './until.ts';

const WAIT_MS_MAX = 10_000;
const FRAME_MS = 20;

/** A message as it came. */
export type Message = Record<string, unknown>;

/** How the WebSocket is opened. */
export interface Opening {
  protocol?: string | undefined;
  headers?: Record<string, string>;
  ca?: string | null;
}

/** A WebSocket to an agent, with all that came over it. */
export interface Line {
  socket: WebSocket;
  messages: Message[];
  /** Close code, once it is closed. */
  closed: Promise<number>;
  send: (message: unknown) => void;
  /** The first message of a type, waited for. */
  next: (type: string) => Promise<Message>;
}

/** Opens a WebSocket. Rejects with ws's own error where it is refused. */
export async function openLine(url: string, opening: Opening = {}): Promise<Line> {
  const { protocol = 'voice-agent', headers = {}, ca = null } = opening;
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
      const found = (): Message | undefined => messages.find((message) => message.type === type);
      await until(type, () => found() !== undefined || socket.readyState === WebSocket.CLOSED);
      const message = found();
      if (!message) throw new Error(`the socket was closed before ${type} came`);
      return message;
    },
  };
}

/** A call that is under way. */
export interface CallUp extends Line {
  peer: Peer;
  ready: Message;
  callId: string;
  /** All packets that came, oldest first. */
  heard: AudioPacket[];
  /** Closes the WebSocket, then the media; gives the close code. */
  hangUp: () => Promise<number>;
}

/** A call as the agent's `/__admin/calls` has it; times in milliseconds since its WebSocket. */
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

/** The calls that an agent knows of, oldest first. */
export async function callsOf(agentUrl: string): Promise<CallView[]> {
  const answer = await fetch(`${agentUrl}/__admin/calls`);
  return ((await answer.json()) as { calls: CallView[] }).calls;
}

/** Waits until the agent has said its greeting. */
export async function greeted({ heard }: CallUp): Promise<void> {
  const { packets } = await clipOf('how-can-i-help');
  await until('the greeting', () => heard.length > packets.length + 5);
}

/** The answer to an offer, as the kit sends it. */
export const answerOf = (ready: Message, sdp: string): Message => ({
  type: 'webrtc_answer',
  ...('session_id' in ready && { session_id: ready['session_id'] }),
  call_id: ready['call_id'],
  webrtc_answer: { type: 'answer', sdp },
});

export const sdpOf = (ready: Message): string => (ready['webrtc_offer'] as { sdp: string }).sdp;

/** Places a call and waits until media can flow. */
export async function placeCall(
  url: string,
  start: Message = { audio_config: { codec: 'opus' } },
  opening: Opening & { onPacket?: (packet: AudioPacket) => void } = {},
): Promise<CallUp> {
  const line = await openLine(url, opening);
  const heard: AudioPacket[] = [];
  const onPacket = opening.onPacket ?? ((packet: AudioPacket) => void heard.push(packet));
  const peer = createPeer({ clock: systemClock, onPacket });
  line.send({ type: 'start_call', ...start });
  const ready = await line.next('call_ready');
  line.send(answerOf(ready, await peer.createAnswer(sdpOf(ready))));
  await peer.waitUntilConnected(AbortSignal.timeout(WAIT_MS_MAX));
  return {
    ...line,
    peer,
    ready,
    callId: String(ready['call_id']),
    heard,
    async hangUp() {
      line.socket.close(1000);
      await peer.close();
      return line.closed;
    },
  };
}

/** Places a call that ends with the test. */
export async function withCall(
  t: Test,
  url: string,
  ...rest: Parameters<typeof placeCall> extends [string, ...infer Rest] ? Rest : never
): Promise<CallUp> {
  const call = await placeCall(url, ...rest);
  t.teardown(async () => {
    call.socket.terminate();
    await call.peer.close();
  });
  return call;
}

/** The clip of an id. */
export async function clipOf(id: string): Promise<Clip> {
  const clip = (await readClips()).find((other) => other.id === id);
  if (!clip) throw new Error(`there is no clip ${id}`);
  return clip;
}

/** A microphone: sends silence every 20 ms, and a clip when it is told to. */
export class Microphone {
  readonly #peer: Peer;
  readonly #startMs = systemClock.monotonicMs();
  #nth = 0;
  #clip: Clip | undefined;
  #at = 0;
  #said: ((endMs: number) => void) | undefined;

  constructor(peer: Peer) {
    this.#peer = peer;
    microphones.add(this);
  }

  get dueMs(): number {
    return this.#startMs + this.#nth * FRAME_MS;
  }

  /** Says a clip; resolves, at the end of its speech, with when that was: its packet and place. */
  say(clip: Clip): Promise<number> {
    this.#clip = clip;
    this.#at = 0;
    return new Promise((resolve) => (this.#said = resolve));
  }

  beat(): void {
    const payload = this.#clip?.packets[this.#at] ?? silentFrame;
    const sentMs = systemClock.monotonicMs();
    this.#peer.send(payload, this.#nth * FRAME_TICKS);
    this.#nth += 1;
    if (!this.#clip) return;
    const leftTicks = this.#clip.speechEndTicks - this.#at * FRAME_TICKS;
    if (leftTicks > 0 && leftTicks <= FRAME_TICKS) this.#said?.(sentMs + leftTicks / 48);
    this.#at += 1;
    if (this.#at >= this.#clip.packets.length) this.#clip = undefined;
  }

  stop(): void {
    microphones.remove(this);
  }
}

const microphones = createPacer(systemClock);

/** Returns the times at which a call became audible after silence, on our clock. */
export async function onsetsOf(packets: readonly AudioPacket[]): Promise<number[]> {
  return findOnsets(await measurePackets(packets));
}
