import { levelDb, ticksOfPacket, type Decoder } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import { TurnFinder, windowTicks, type Heard, type Speech } from './turn-finder.ts';

/** What the caller said in a turn, as far as it is known. */
export interface HeardTurn extends Speech {
  /** The clip of the kit that it was; undefined for any other speech. */
  clipId: string | undefined;
  /** The share of its packets that were of that clip, 0 to 1. */
  recognised: number;
  /** The share of its packets that never came, 0 to 1. */
  lost: number;
}

/** What the ear needs, and whom it tells. */
export interface EarParts {
  decoder: Decoder;
  /** Silence after which a turn is over, in milliseconds. */
  hangOverMs: number;
  /** The clip that has such a packet. */
  clipOf: (packet: Buffer) => string | undefined;
  /** The caller has begun to speak, beyond doubt. */
  onSpeaking: () => void;
  onTurn: (turn: HeardTurn) => void;
}

/** A window with less than this is silence. */
const silenceDb = -50;

/** A packet so small holds no sound: the codec says with it that there is none. */
const silentBytesMax = 3;

/** Other speech may begin or end with the same packet as a clip: half of them must be its own. */
const recognisedMin = 0.5;

/** A stream that leaps by more than this has begun anew: 10 s. */
const leapTicksMax = 480_000;

/** Packets of a second that are heard; a sender of the shortest frames sends 400. */
const packetsPerSecondMax = 500;

/** Listens to the caller: packets in, turns out. Decodes only what may hold sound. */
export class Ear {
  readonly #parts: EarParts;
  readonly #finder: TurnFinder;
  #last: Pick<AudioPacket, 'sequence' | 'timestamp' | 'ssrc'> | undefined;
  #ticks = 0;
  #second = { startMs: 0, packets: 0 };
  #tally = emptyTally();

  constructor(parts: EarParts) {
    this.#parts = parts;
    this.#finder = new TurnFinder(parts.hangOverMs);
  }

  hear(packet: AudioPacket): void {
    const ticks = ticksOfPacket(packet.payload);
    if (ticks === undefined || this.#isFlooded(packet.arrivedAtMs) || !this.#follows(packet)) {
      return;
    }
    const samples =
      packet.payload.length > silentBytesMax
        ? this.#parts.decoder.decode(packet.payload)
        : undefined;
    for (let at = 0; at < ticks; at += windowTicks) {
      this.#tell(
        this.#finder.hear({
          isLoud: samples !== undefined && levelDb(samples, at, at + windowTicks) > silenceDb,
          atTicks: this.#ticks + at,
          atMs: packet.arrivedAtMs + at / 48,
        }),
      );
    }
    if (this.#finder.isOpen) this.#count(packet);
  }

  /** To be asked now and then, since the caller may stop sending. */
  idle(nowMs: number): void {
    this.#tell(this.#finder.idle(nowMs));
  }

  close(): void {
    this.#parts.decoder.free();
  }

  /** Moves on to where the packet stands in the stream; false for one that came too late. */
  #follows({ sequence, timestamp, ssrc }: AudioPacket): boolean {
    const last = this.#last;
    const moved = last?.ssrc === ssrc ? (timestamp - last.timestamp) | 0 : 0;
    const isNew = last?.ssrc !== ssrc || Math.abs(moved) > leapTicksMax;
    if (!isNew && moved <= 0) return false;
    this.#ticks += isNew ? windowTicks : moved;
    if (!isNew) this.#tally.lost += (sequence - last.sequence - 1) & 0xffff;
    this.#last = { sequence, timestamp, ssrc };
    return true;
  }

  #isFlooded(nowMs: number): boolean {
    if (nowMs - this.#second.startMs >= 1_000) this.#second = { startMs: nowMs, packets: 0 };
    this.#second.packets += 1;
    return this.#second.packets > packetsPerSecondMax;
  }

  #count({ payload }: AudioPacket): void {
    const { packets, known } = this.#tally;
    this.#tally.packets = packets + (payload.length > silentBytesMax ? 1 : 0);
    const clipId = this.#parts.clipOf(payload);
    if (clipId !== undefined) known.set(clipId, (known.get(clipId) ?? 0) + 1);
  }

  #tell(heard: Heard): void {
    if (heard?.kind === 'speaking') this.#parts.onSpeaking();
    if (heard?.kind === 'ended') {
      const { packets, lost, known } = this.#tally;
      const [best] = [...known].sort(([, one], [, other]) => other - one);
      const share = (best?.[1] ?? 0) / Math.max(1, packets);
      const isKnown = share >= recognisedMin;
      this.#parts.onTurn({
        ...heard.speech,
        clipId: isKnown ? best?.[0] : undefined,
        recognised: isKnown ? share : 0,
        lost: lost / Math.max(1, packets + lost),
      });
    }
    const { packets, lost } = this.#tally;
    if (!this.#finder.isOpen && packets + lost > 0) this.#tally = emptyTally();
  }
}

function emptyTally() {
  return { packets: 0, lost: 0, known: new Map<string, number>() };
}
