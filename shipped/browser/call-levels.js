/** The time between two measurements of the levels. */
const STEP_MS = 50;
/** Louder sound is speech if it lasts for some steps. */
const SPEECH_DB = -45;
const SPEECH_STEPS = 3;
const SILENT_STEPS = 6;

/** The level of one side of a call, and when it speaks. */
class Lane {
  db = -100;
  /** How many steps in a row have been silent. */
  silentSteps = 0;
  /** When the side started to speak, and when it was loud last. */
  startedMs = 0;
  /** @type {number | undefined} */
  loudMs;
  #loudSteps = 0;
  #isSpeaking = false;
  #analyser;
  #samples;

  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   */
  constructor(context, stream) {
    this.#analyser = context.createAnalyser();
    this.#analyser.fftSize = 2048;
    context.createMediaStreamSource(stream).connect(this.#analyser);
    this.#samples = new Float32Array(this.#analyser.fftSize);
  }

  /**
   * Measures the level. Returns whether the side has started to speak.
   *
   * @param {number} nowMs
   */
  measure(nowMs) {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const sum = this.#samples.reduce((total, sample) => total + sample * sample, 0);
    this.db = 10 * Math.log10(sum / this.#samples.length + 1e-10);
    const isLoud = this.db > SPEECH_DB;
    this.#loudSteps = isLoud ? this.#loudSteps + 1 : 0;
    this.silentSteps = isLoud ? 0 : this.silentSteps + 1;
    // A single loud step is a click.
    if (this.#loudSteps > 1) this.loudMs = nowMs;
    if (this.silentSteps >= SILENT_STEPS) this.#isSpeaking = false;
    if (this.#isSpeaking || this.#loudSteps < SPEECH_STEPS) return false;
    this.#isSpeaking = true;
    this.startedMs = nowMs - (SPEECH_STEPS - 1) * STEP_MS;
    return true;
  }
}

/**
 * Moves the levels of a canvas to the left, and draws the newest ones: the person above, the agent below.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Lane} mine
 * @param {Lane} theirs
 */
function drawLevels(canvas, mine, theirs) {
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const colors = getComputedStyle(canvas);
  const half = canvas.height / 2;
  pen.globalCompositeOperation = 'copy';
  pen.drawImage(canvas, -2, 0);
  pen.globalCompositeOperation = 'source-over';
  for (const { lane, top, color } of [
    { lane: mine, top: 0, color: '--note' },
    { lane: theirs, top: half, color: '--good' },
  ]) {
    const height = Math.max(1, Math.min(1, (lane.db + 60) / 60) * (half - 4));
    pen.fillStyle = colors.getPropertyValue(color);
    pen.fillRect(canvas.width - 2, top + half - 2 - height, 2, height);
  }
}
