import type { Clip, Speaker } from '../opus/index.ts';
import { speakWithFlite } from './flite.ts';
import { lineClip } from './line-clip.ts';
import type { SpeechEndpoint } from './speech-endpoint.ts';
import { SpeechFailed } from './speech-failed.ts';
import { readWav } from './wav.ts';

/** Speaks lines. */
export interface Voice {
  /**
   * A line as packets of Opus of 20 ms; the same line, the same packets. Text beyond 2000 characters
   * is left out. Rejects with the signal's reason where it is called off.
   * @throws SpeechFailed that says what to do: no package, nothing to be spoken, an endpoint that
   * fails, a voice that is closed.
   */
  speak(text: string, signal?: AbortSignal): Promise<Clip>;
  /** Lines that are waited for fail; nothing of the voice is left. */
  close(): Promise<void>;
}

/** Whose voice it is, and where it comes from. */
export interface VoiceOptions {
  /** A user and an agent have voices of their own. */
  kind: Speaker;
  /** Who speaks in place of the synthesizer in the process. */
  endpoint?: SpeechEndpoint;
}

/** A voice; nothing is loaded before its first line. */
export function openVoice({ kind }: VoiceOptions): Voice {
  return {
    async speak(text) {
      const line = await lineClip(readWav(await speakWithFlite(text, kind)));
      if (!line) throw new SpeechFailed('there is nothing in the line that can be spoken');
      const packets = line.packets.map((packet) => Buffer.from(packet));
      return { ...line, id: 'line', speaker: kind, text, packets };
    },
    close: () => Promise.resolve(),
  };
}
