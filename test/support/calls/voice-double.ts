import type { Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { systemClock } from '../../../src/platform/clock.ts';
import { createDecoder, readClips, type Clip } from '../../../src/voice/opus/index.ts';
import { createPacer } from '../../../src/platform/pacer.ts';
import { createPeer, type Peer } from '../../../src/voice/peer/index.ts';
import {
  Microphone,
  parseMessage,
  readOpusPayloadType,
  type CallMessage,
} from '../../../src/voice/call/index.ts';
import { VoiceActivityDetector } from '../../../src/voice/activity/index.ts';
import { onlyHealth, withSandboxDouble, type UpgradeHandler } from '../sandboxes/sandbox-double.ts';
import { until } from '../until.ts';

const POLL_MS = 10;

/** The sandbox's side of one call, controlled by a test. */
export interface DoubleCall {
  /** The `start_call` message. */
  start: CallMessage;
  socket: WebSocket;
  /** Sends a message with the ids of the call. */
  send: (message: CallMessage) => void;
  /** Sends an offer, and ignores the answer. */
  offer: (metadata?: object) => Promise<Peer>;
  /** Sends an offer, and waits until the media is connected. Sends no packets if `sends` is false. */
  connect: (options?: { sends?: boolean; metadata?: object }) => Promise<void>;
  /** Resolves when the caller starts to speak. */
  waitForSpeech: () => Promise<void>;
  /** Resolves when the caller has spoken and is silent again. */
  waitForEndOfSpeech: () => Promise<void>;
  /** Plays a short clip; resolves when its speech has ended. */
  speak: () => Promise<void>;
  /** Plays a clip, instead of one that plays. */
  play: (clip: Clip) => void;
  /** When the caller was last heard, on the monotonic clock; -Infinity if never. */
  heardAtMs: () => number;
  /** Sends a `conversation_update` with this agent text. */
  update: (agent: string, fields?: CallMessage) => void;
}

/** A sandbox that accepts calls. */
interface VoiceDouble {
  url: string;
  /** The messages received in all calls, in order. */
  messages: CallMessage[];
  /** Resolves when all calls are closed. */
  waitForNoCalls: () => Promise<void>;
}

/** Handles a call after its `start_call`. */
export type CallHandler = (call: DoubleCall) => unknown;

const clock = systemClock;
const pacer = createPacer(clock);

/** Starts a sandbox that has only voice, and stops it after the test. */
export async function withVoiceDouble(
  t: Test,
  handleCall: CallHandler,
  refuseCall?: UpgradeHandler,
): Promise<VoiceDouble> {
  const sockets = new WebSocketServer({ noServer: true });
  const calls = new Set<SandboxCall>();
  const messages: CallMessage[] = [];
  const acceptCall: UpgradeHandler = (request, raw, head) => {
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const call = new SandboxCall(socket, messages, handleCall);
      calls.add(call);
      socket.on('close', () => void call.close().then(() => calls.delete(call)));
    });
  };
  const { url } = await withSandboxDouble(t, onlyHealth, {
    handleUpgrade: refuseCall ?? acceptCall,
  });
  t.teardown(() => Promise.all([...calls].map((call) => call.close())));
  return {
    url,
    messages,
    waitForNoCalls: () => until('all calls are closed', () => calls.size === 0),
  };
}

class SandboxCall implements DoubleCall {
  start: CallMessage = {};
  readonly socket: WebSocket;
  #peer: Peer | undefined;
  #microphone: Microphone | undefined;
  #activity: VoiceActivityDetector | undefined;
  #heardUntilMs = 0;
  readonly #answer = Promise.withResolvers<string>();

  constructor(socket: WebSocket, messages: CallMessage[], handleCall: CallHandler) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const message = parseMessage(data.toString('utf8')) ?? {};
      messages.push(message);
      if (message['type'] === 'webrtc_answer') {
        this.#answer.resolve((message['webrtc_answer'] as { sdp: string }).sdp);
      }
      if (message['type'] !== 'start_call') return;
      this.start = message;
      // The handler fails if the caller hangs up while it waits.
      void Promise.resolve(handleCall(this)).catch(() => undefined);
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
    const peer = (this.#peer = createPeer({
      clock,
      onPacket: (packet) => activity.addPacket(packet),
    }));
    const sdp = await peer.createOffer();
    this.send({ type: 'call_ready', webrtc_offer: { type: 'offer', sdp }, metadata });
    return peer;
  }

  async connect({ sends = true, metadata = {} } = {}): Promise<void> {
    const peer = await this.offer(metadata);
    const answer = await this.#answer.promise;
    if (this.#activity) this.#activity.payloadType = readOpusPayloadType(answer) ?? -1;
    await peer.acceptAnswer(answer);
    await peer.waitUntilConnected(AbortSignal.timeout(10_000));
    if (sends) this.#microphone = new Microphone({ peer, clock, pacer });
  }

  async waitForSpeech(): Promise<void> {
    await this.#until(() => (this.#activity?.lastSpeechAtMs ?? 0) > this.#heardUntilMs);
  }

  async waitForEndOfSpeech(): Promise<void> {
    await this.waitForSpeech();
    // Silence that was received: a process that was blocked has not read all packets yet.
    const quietMs = (): number =>
      this.#activity ? this.#activity.lastPacketAtMs - this.#activity.lastSpeechAtMs : 0;
    await this.#until(() => quietMs() > 200);
    this.#heardUntilMs = this.#activity?.lastSpeechAtMs ?? 0;
  }

  async speak(): Promise<void> {
    await this.#microphone?.say(await loadShortestClip());
  }

  play(clip: Clip): void {
    void this.#microphone?.say(clip);
  }

  heardAtMs(): number {
    return this.#activity?.lastSpeechAtMs ?? -Infinity;
  }

  update(agent: string, fields: CallMessage = {}): void {
    this.send({ type: 'conversation_update', transcript: { user: '', agent }, ...fields });
  }

  /** Waits until a condition holds. Throws if the caller hangs up first. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.socket.readyState !== this.socket.OPEN) throw new Error('The caller hung up.');
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

async function loadShortestClip(): Promise<Clip> {
  const clips = (await readClips()).filter(({ speaker }) => speaker === 'agent');
  const [clip] = clips.toSorted((a, b) => a.packets.length - b.packets.length);
  if (!clip) throw new Error('The kit has no agent clips.');
  return clip;
}
