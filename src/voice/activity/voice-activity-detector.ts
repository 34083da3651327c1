import type { Decoder } from '../opus/index.ts';
import type { AudioPacket } from '../peer/index.ts';
import { LevelMeter, SPEECH_LEVEL_DB, type LevelWindow } from './level-meter.ts';
import { findOnsets, speechThresholdDb } from './speech-onsets.ts';

/** How a detector trades accuracy for CPU time. */
export interface VoiceActivityOptions {
  decoder: Decoder;
  /**
   * `full` decodes every packet, adapts the speech threshold to the noise of the line, and finds all
   * onsets of a turn. `sparse` is for hundreds of calls in one process, where decoding is most of the
   * work. Between turns, it decodes one packet in five, so it can't follow the noise of the line and
   * uses the fixed threshold. It stops recording a turn at the first onset.
   */
  mode: 'full' | 'sparse';
}

/** Between turns, a sparse detector decodes one packet out of this many. */
const SPARSE_INTERVAL = 5;

/** The noise floor follows the last 5 s of the line, and is updated every 10 packets. */
const NOISE_WINDOWS = 500;
const NOISE_UPDATE_PACKETS = 10;

/** How much of a turn is recorded: 60 s, or 20 s because the load test gives up waiting before. */
const TURN_WINDOWS_MAX = { full: 6_000, sparse: 2_000 };

/** Detects whether and since when the other side of a call can be heard. */
export class VoiceActivityDetector {
  readonly #meter: LevelMeter;
  readonly #mode: VoiceActivityOptions['mode'];
  #payloadType = -1;
  #packets = 0;
  #recent: LevelWindow[] = [];
  #thresholdDb: number;
  /** The levels of the current turn; undefined in a sparse detector that needs no more of them. */
  #turn: LevelWindow[] | undefined;
  #firstOnsetMs: number | undefined;
  #lastSpeechAtMs = -Infinity;
  #lastPacketAtMs = -Infinity;

  constructor({ decoder, mode }: VoiceActivityOptions) {
    this.#meter = new LevelMeter(decoder);
    this.#mode = mode;
    this.#thresholdDb = mode === 'full' ? speechThresholdDb([]) : SPEECH_LEVEL_DB;
    if (mode === 'full') this.#turn = [];
  }

  /** The payload type to listen to; packets of other types are ignored. */
  set payloadType(type: number) {
    this.#payloadType = type;
  }

  /** Arrival time of the last packet with speech in it; -Infinity before the first one. */
  get lastSpeechAtMs(): number {
    return this.#lastSpeechAtMs;
  }

  /** Arrival time of the last packet, audible or not; -Infinity before the first one. */
  get lastPacketAtMs(): number {
    return this.#lastPacketAtMs;
  }

  /** Starts to record a new turn. */
  beginTurn(): void {
    this.#turn = [];
    this.#firstOnsetMs = undefined;
  }

  /** When the other side first became audible in this turn; only in `sparse` mode. */
  get firstOnsetMs(): number | undefined {
    return this.#firstOnsetMs;
  }

  /** Each time when the other side became audible in this turn; only in `full` mode. */
  findOnsets(): number[] {
    return findOnsets(this.#turn ?? []);
  }

  /** Adds a packet, in order of arrival, and returns its levels; none if it is not decoded. */
  addPacket(packet: AudioPacket): readonly LevelWindow[] {
    if (packet.payloadType !== this.#payloadType) return [];
    this.#lastPacketAtMs = packet.arrivedAtMs;
    this.#packets += 1;
    const isSkipped = !this.#turn && this.#packets % SPARSE_INTERVAL !== 0;
    if (isSkipped) return [];
    const windows = this.#meter.measure(packet);
    if (this.#mode === 'full') this.#followNoise(windows);
    const isSpeech = windows.some(({ levelDb }) => levelDb > this.#thresholdDb);
    if (isSpeech) this.#lastSpeechAtMs = packet.arrivedAtMs;
    this.#record(windows, isSpeech);
    return windows;
  }

  close(): void {
    this.#meter.close();
  }

  #record(windows: readonly LevelWindow[], isSpeech: boolean): void {
    const turn = this.#turn;
    if (!turn) return;
    const isFull = turn.length >= TURN_WINDOWS_MAX[this.#mode];
    if (!isFull) turn.push(...windows);
    if (this.#mode === 'full' || !(isSpeech || isFull)) return;
    [this.#firstOnsetMs] = findOnsets(turn);
    if (this.#firstOnsetMs !== undefined || isFull) this.#turn = undefined;
  }

  #followNoise(windows: readonly LevelWindow[]): void {
    this.#recent.push(...windows);
    if (this.#packets % NOISE_UPDATE_PACKETS !== 0) return;
    this.#recent = this.#recent.slice(-NOISE_WINDOWS);
    this.#thresholdDb = speechThresholdDb(this.#recent);
  }
}
