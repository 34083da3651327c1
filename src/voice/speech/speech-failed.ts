/** A line could not be spoken; the message says why, and what to do. */
export class SpeechFailed extends Error {
  override name = 'SpeechFailed';
}
