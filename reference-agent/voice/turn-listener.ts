import {
  type EndedSpeech,
  EndOfTurnDetector,
  LEVEL_WINDOW_TICKS,
  LevelMeter,
  type TurnEvent,
} from '../../src/voice/activity/index.ts';
import {
  countPacketTicks,
  type Decoder,
  SILENT_PACKET_BYTES_MAX,
  TIMESTAMP_JUMP_TICKS_MAX,
} from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';

/** A turn of the caller, and what the agent recognized of it. */
export interface HeardTurn extends EndedSpeech {
  /** The recorded clip that it was; undefined for any other speech. */
  clipId: string | undefined;
  /** The share of its packets that belong to that clip, 0 to 1. */
  recognized: number;
  /** The share of its packets that were lost, 0 to 1. */
  lost: number;
}

/** Dependencies and callbacks of a listener. */
export interface TurnListenerOptions {
  decoder: Decoder;
  /** Silence that ends a turn, in milliseconds. */
  hangOverMs: number;
  /** Returns the clip that contains a packet. */
  clipOf: (packet: Buffer) => string | undefined;
  /** Returns whether the next 10 ms are loud enough for speech. */
  isLoud: (levelDb: number) => boolean;
  /** Called once the caller is certainly speaking, with the time when the speech began. */
  onSpeaking: (startMs: number) => void;
  onTurn: (turn: HeardTurn) => void;
}

/** A clip is recognized by at least half of the packets, because other speech may share a few. */
const RECOGNIZED_SHARE_MIN = 0.5;

/** Packets per second that are decoded; a sender of the shortest frames sends 400. */
const PACKETS_PER_SECOND_MAX = 500;

/** Turns the caller's packets into turns. */
export class TurnListener {
  readonly #options: TurnListenerOptions;
  readonly #meter: LevelMeter;
  readonly #detector: EndOfTurnDetector;
  #last: Pick<AudioPacket, 'sequence' | 'timestamp' | 'ssrc'> | undefined;
  #ticks = 0;
  #second = { startMs: 0, packets: 0 };
  #tally = createTally();

  constructor(options: TurnListenerOptions) {
    this.#options = options;
    this.#meter = new LevelMeter(options.decoder);
    this.#detector = new EndOfTurnDetector(options.hangOverMs);
  }

  hear(packet: AudioPacket): void {
    const isOpus = countPacketTicks(packet.payload) !== undefined;
    if (!isOpus || this.#isFlooded(packet.arrivedAtMs) || !this.#advance(packet)) return;
    for (const [index, { atMs, levelDb }] of this.#meter.measure(packet).entries()) {
      const atTicks = this.#ticks + index * LEVEL_WINDOW_TICKS;
      const isLoud = this.#options.isLoud(levelDb);
      this.#handle(this.#detector.addWindow({ isLoud, atTicks, atMs }));
    }
    if (this.#detector.isOpen) this.#count(packet);
  }

  /** Whether the caller is speaking, or has just stopped. */
  get isHearing(): boolean {
    return this.#detector.isOpen;
  }

  /** Must be called for every frame that is due, because the caller may stop sending. */
  checkIdle(nowMs: number): void {
    this.#handle(this.#detector.checkIdle(nowMs));
  }

  close(): void {
    this.#meter.close();
  }

  /** Moves to the packet's position in the stream; returns false for a packet that is too late. */
  #advance({ sequence, timestamp, ssrc }: AudioPacket): boolean {
    const last = this.#last;
    const ticks = last?.ssrc === ssrc ? (timestamp - last.timestamp) | 0 : 0;
    const isNew = last?.ssrc !== ssrc || Math.abs(ticks) > TIMESTAMP_JUMP_TICKS_MAX;
    if (!isNew && ticks <= 0) return false;
    this.#ticks += isNew ? LEVEL_WINDOW_TICKS : ticks;
    if (!isNew) this.#tally.lost += (sequence - last.sequence - 1) & 0xffff;
    this.#last = { sequence, timestamp, ssrc };
    return true;
  }

  #isFlooded(nowMs: number): boolean {
    if (nowMs - this.#second.startMs >= 1_000) this.#second = { startMs: nowMs, packets: 0 };
    this.#second.packets += 1;
    return this.#second.packets > PACKETS_PER_SECOND_MAX;
  }

  #count({ payload }: AudioPacket): void {
    const { packets, clips } = this.#tally;
    this.#tally.packets = packets + (payload.length > SILENT_PACKET_BYTES_MAX ? 1 : 0);
    const clipId = this.#options.clipOf(payload);
    if (clipId !== undefined) clips.set(clipId, (clips.get(clipId) ?? 0) + 1);
  }

  #handle(event: TurnEvent): void {
    if (event?.kind === 'speaking') this.#options.onSpeaking(this.#detector.startMs);
    if (event?.kind === 'ended') {
      const { packets, lost, clips } = this.#tally;
      const [best] = [...clips].sort(([, left], [, right]) => right - left);
      const share = (best?.[1] ?? 0) / Math.max(1, packets);
      const isRecognized = share >= RECOGNIZED_SHARE_MIN;
      this.#options.onTurn({
        ...event.speech,
        clipId: isRecognized ? best?.[0] : undefined,
        recognized: isRecognized ? share : 0,
        lost: lost / Math.max(1, packets + lost),
      });
    }
    const { packets, lost } = this.#tally;
    if (!this.#detector.isOpen && packets + lost > 0) this.#tally = createTally();
  }
}

/** Packets of the current turn, lost ones, and those of each clip. */
const createTally = () => ({ packets: 0, lost: 0, clips: new Map<string, number>() });
