/**
 * Your speech services go here. Samples are mono at 48 kHz, 16 bits. The example does not
 * recognize words, and speaks one tone for each word.
 */
const SAMPLE_RATE = 48_000;
const TONE_MS = 150;
const PAUSE_MS = 60;

/**
 * Returns the words of the caller. Replace it with your speech recognition.
 *
 * @param {Int16Array} samples
 */
export async function recognize(samples) {
  return `(${(samples.length / SAMPLE_RATE).toFixed(1)} s of speech)`;
}

/**
 * Returns a text as speech. Replace it with your speech synthesis.
 *
 * @param {string} text
 */
export async function synthesize(text) {
  const words = text.split(/\s+/);
  const wordSamples = ((TONE_MS + PAUSE_MS) * SAMPLE_RATE) / 1_000;
  const samples = new Int16Array(words.length * wordSamples);
  for (const [index, word] of words.entries()) {
    const radiansPerSample = (2 * Math.PI * (300 + 20 * word.length)) / SAMPLE_RATE;
    for (let at = 0; at < (TONE_MS * SAMPLE_RATE) / 1_000; at += 1) {
      samples[index * wordSamples + at] = Math.round(8_000 * Math.sin(at * radiansPerSample));
    }
  }
  return samples;
}
