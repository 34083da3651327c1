import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { systemClock } from '../../src/platform/clock.ts';
import { createDecoder, readClips, type Clip } from '../../src/voice/opus/index.ts';
import { createPacer } from '../../src/platform/pacer.ts';
import { createPeer, type Peer } from '../../src/voice/peer/index.ts';
import { Microphone, parseMessage, type CallMessage } from '../../src/voice/call/index.ts';
import { VoiceActivityDetector } from '../../src/voice/activity/index.ts';
import { until } from './until.ts';

const POLL_MS = 10;

/** A sandbox's end of one call, for a test to lead. */
export interface DoubleCall {
  /** `start_call`, as it came. */
  start: CallMessage;
  socket: WebSocket;
  /** Sends a message with the ids of the call. */
  send: (message: CallMessage) => void;
  /** Offers, and does nothing with the answer. */
  offer: (metadata?: object) => Promise<Peer>;
  /** Offers, waits for the answer and the way of the media; `sends: false` sends no packet. */
  connect: (options?: { sends?: boolean; metadata?: object }) => Promise<void>;
  /** Resolves when the caller has begun to speak. */
  spokenTo: () => Promise<void>;
  /** Resolves when the caller has spoken, and stopped. */
  heard: () => Promise<void>;
  /** Says something of the kit's clips; resolves when it is said. */
  speak: () => Promise<void>;
  /** Tells what it says. */
  update: (agent: string, more?: CallMessage) => void;
}

/** A sandbox that takes calls. */
export interface VoiceDouble {
  url: string;
  /** Messages of all calls, in order. */
  messages: CallMessage[];
  /** Resolves when nothing of any call is left. */
  untilNone: () => Promise<void>;
}

/** What becomes of a call, or of the request for its WebSocket. */
export type CallAct = (call: DoubleCall) => unknown;
export type UpgradeAct = (socket: Duplex) => void;

const clock = systemClock;
const beats = createPacer(clock);

/** Starts one on a free port, healthy and without users; it ends with the test. */
export async function withVoiceDouble(
  t: Test,
  act: CallAct,
  upgrade?: UpgradeAct,
): Promise<VoiceDouble> {
  const server = createServer((request, response) => {
    const isHealth = request.url === '/health';
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' });
    const timestamp = '2026-11-20T09:30:00Z';
    response.end(JSON.stringify(isHealth ? { status: 'healthy', timestamp } : {}));
  });
  const sockets = new WebSocketServer({ noServer: true });
  const ends = new Set<CallEnd>();
  const messages: CallMessage[] = [];
  server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    if (upgrade) {
      upgrade(raw);
      return;
    }
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const end = new CallEnd(socket, messages, act);
      ends.add(end);
      socket.on('close', () => void end.close().then(() => ends.delete(end)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    await Promise.all([...ends].map((end) => end.close()));
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    untilNone: () => until('no call is left', () => ends.size === 0),
  };
}

/** One call, as a test leads it. */
class CallEnd implements DoubleCall {
  start: CallMessage = {};
  readonly socket: WebSocket;
  #peer: Peer | undefined;
  #microphone: Microphone | undefined;
  #activity: VoiceActivityDetector | undefined;
  #heardUntilMs = 0;
  readonly #answer = Promise.withResolvers<string>();

  constructor(socket: WebSocket, messages: CallMessage[], act: CallAct) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const message = parseMessage(data.toString('utf8')) ?? {};
      messages.push(message);
      if (message['type'] === 'webrtc_answer') {
        this.#answer.resolve((message['webrtc_answer'] as { sdp: string }).sdp);
      }
      if (message['type'] !== 'start_call') return;
      this.start = message;
      // What it waits for may never come once the caller has gone.
      void Promise.resolve(act(this)).catch(() => undefined);
    });
  }

  send(message: CallMessage): void {
    const { type, ...rest } = message;
    const ids = { session_id: this.start['session_id'], call_id: 'call_1' };
    this.socket.send(JSON.stringify({ type, ...ids, ...rest }));
  }

  async offer(metadata = {}): Promise<Peer> {
    const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'full' });
    this.#activity = activity;
    const peer = (this.#peer = createPeer({ clock, onPacket: (packet) => activity.hear(packet) }));
    const sdp = await peer.createOffer();
    this.send({ type: 'call_ready', webrtc_offer: { type: 'offer', sdp }, metadata });
    return peer;
  }

  async connect({ sends = true, metadata = {} } = {}): Promise<void> {
    const peer = await this.offer(metadata);
    const answer = await this.#answer.promise;
    const type = Number(/^a=rtpmap:(\d+) opus\/48000/im.exec(answer)?.[1] ?? -1);
    if (this.#activity) this.#activity.payloadType = type;
    await peer.acceptAnswer(answer);
    await peer.waitUntilConnected(AbortSignal.timeout(10_000));
    if (sends) this.#microphone = new Microphone({ peer, clock, pacer: beats });
  }

  async spokenTo(): Promise<void> {
    await this.#until(() => (this.#activity?.lastSpeechAtMs ?? 0) > this.#heardUntilMs);
  }

  async heard(): Promise<void> {
    await this.spokenTo();
    const quietMs = (): number =>
      clock.monotonicMs() - (this.#activity?.lastSpeechAtMs ?? Infinity);
    await this.#until(() => quietMs() > 200);
    this.#heardUntilMs = this.#activity?.lastSpeechAtMs ?? 0;
  }

  async speak(): Promise<void> {
    await this.#microphone?.say(await shortClip());
  }

  update(agent: string, more: CallMessage = {}): void {
    this.send({ type: 'conversation_update', transcript: { user: '', agent }, ...more });
  }

  /** Waits as long as the call lasts. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.socket.readyState !== this.socket.OPEN) throw new Error('the caller has gone');
      await clock.sleep(POLL_MS);
    }
  }

  async close(): Promise<void> {
    this.#microphone?.stop();
    this.#activity?.close();
    this.#activity = undefined;
    this.socket.terminate();
    await this.#peer?.close();
  }
}

async function shortClip(): Promise<Clip> {
  const clips = (await readClips()).filter(({ speaker }) => speaker === 'agent');
  const [clip] = clips.toSorted((one, other) => one.packets.length - other.packets.length);
  if (!clip) throw new Error('there are no clips');
  return clip;
}
