/**
 * The audio of a call: decodes the speech of the caller, finds the end of each turn, and sends
 * the speech of the agent as one Opus packet every 20 ms. Samples are mono at 48 kHz.
 *
 * @import { OpusDecoderHandle, OpusEncoderHandle } from 'libopus-wasm'
 */
import { createDecoder, createEncoder } from 'libopus-wasm';

const FRAME_MS = 20;
/** Opus counts 48,000 ticks per second at every sampling rate (RFC 7587). */
const FRAME_SAMPLES = 960;

/** Samples louder than this are speech. Real calls need a voice activity detector. */
const SPEECH_LEVEL = 500;
/** Silence that ends a turn; short, because the target is a response within 200 ms (spec 8). */
const END_OF_TURN_MS = 140;
/** A shorter sound is not a turn but, for example, a click. */
const TURN_MS_MIN = 100;
const TURN_SAMPLES_MAX = 60 * 48_000;

/**
 * @typedef {object} LineOptions
 * @property {(payload: Uint8Array, position: { sequenceNumber: number, timestamp: number }) => void} send
 * @property {(samples: Int16Array, endedMs: number) => void} onTurn
 */

export class AudioLine {
  #options;
  #decoder;
  #encoder;
  /** @type {Int16Array} Speech of the agent that is not sent yet. */
  #speech = new Int16Array();
  /** @type {Int16Array[]} Frames of the caller's turn. */
  #turn = [];
  #turnSamples = 0;
  #lastLoudMs = 0;
  #frames = 0;
  #startedMs = 0;
  #isOpen = true;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {LineOptions} options
   * @param {OpusDecoderHandle} decoder
   * @param {OpusEncoderHandle} encoder
   */
  constructor(options, decoder, encoder) {
    this.#options = options;
    this.#decoder = decoder;
    this.#encoder = encoder;
  }

  /** @param {LineOptions} options */
  static async open(options) {
    const format = /** @type {const} */ ({ channels: 1, sampleRate: 48_000 });
    const decoder = await createDecoder(format);
    return new AudioLine(options, decoder, await createEncoder({ ...format, bitrate: 32_000 }));
  }

  /** Starts to send packets, which contain silence until the agent speaks. */
  start() {
    this.#startedMs = performance.now();
    this.#tick();
  }

  /**
   * Plays speech, and discards earlier speech that is not sent yet.
   *
   * @param {Int16Array} samples
   */
  say(samples) {
    this.#speech = samples;
  }

  /**
   * Receives an RTP payload of the caller.
   *
   * @param {Uint8Array} payload
   */
  hear(payload) {
    if (!this.#isOpen) return;
    const samples = this.#decode(payload);
    if (samples === undefined) return;
    const nowMs = performance.now();
    if (samples.some((sample) => Math.abs(sample) > SPEECH_LEVEL)) this.#lastLoudMs = nowMs;
    else if (this.#turn.length === 0) return;
    if (this.#turnSamples > TURN_SAMPLES_MAX) return;
    this.#turn.push(samples);
    this.#turnSamples += samples.length;
    // The agent stops when the caller interrupts it.
    if (this.#turnSamples > (TURN_MS_MIN * 48_000) / 1_000) this.#speech = new Int16Array();
  }

  close() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#decoder.free();
    this.#encoder.free();
  }

  /** @param {Uint8Array} payload */
  #decode(payload) {
    try {
      return this.#decoder.decode(payload);
    } catch {
      return undefined; // The packet is damaged or not Opus.
    }
  }

  /** Sends every frame that is due. Due times count from the start, so that delays don't add up. */
  #tick() {
    const elapsedMs = performance.now() - this.#startedMs;
    this.#findEndOfTurn();
    while (this.#frames * FRAME_MS <= elapsedMs) this.#sendFrame();
    const nextMs = this.#startedMs + this.#frames * FRAME_MS - performance.now();
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, nextMs));
  }

  #sendFrame() {
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(this.#speech.subarray(0, FRAME_SAMPLES));
    this.#speech = this.#speech.subarray(FRAME_SAMPLES);
    this.#options.send(this.#encoder.encode(frame), {
      sequenceNumber: this.#frames % 2 ** 16,
      timestamp: (this.#frames * FRAME_SAMPLES) % 2 ** 32,
    });
    this.#frames += 1;
  }

  /** Runs on the sending clock, because a silent caller may stop sending packets. */
  #findEndOfTurn() {
    if (this.#turn.length === 0 || performance.now() - this.#lastLoudMs < END_OF_TURN_MS) return;
    const samples = new Int16Array(this.#turnSamples);
    let at = 0;
    for (const frame of this.#turn) {
      samples.set(frame, at);
      at += frame.length;
    }
    this.#turn = [];
    this.#turnSamples = 0;
    const speechMs = samples.length / 48 - END_OF_TURN_MS;
    if (speechMs >= TURN_MS_MIN) this.#options.onTurn(samples, this.#lastLoudMs);
  }
}
