import type { Clock } from '../../../platform/clock.ts';
import type { Connection } from '../../../platform/connection.ts';
import type { SpeechModel } from '../../../voice/speech/index.ts';
import type { TranscriptionModel } from '../../../voice/transcription/index.ts';
import {
  defaultAnswerForm,
  deriveVoiceUrl,
  type AnswerForm,
} from '../../../voice/call/voice-target.ts';
import type { OnRecorded } from './build-recording.ts';
import type { OpenChannel } from '../channel.ts';
import { SessionError } from '../session-error.ts';
import type { VoiceChannelOptions } from './channel.ts';

/** How calls are placed. */
export interface CallOptions {
  /** URL of the voice WebSocket (default: `/voice` of the sandbox). */
  url?: string | undefined;
  answerForm?: AnswerForm | undefined;
  /** Local address for the media. */
  mediaAddress?: string | undefined;
  /** Speaks the lines of the users (default: the built-in synthesizer). */
  speech?: SpeechModel | undefined;
  /** Transcribes the agent's speech (default: it is not compared with the text). */
  transcription?: TranscriptionModel | undefined;
  /** Called with each call that has ended. */
  onRecorded?: OnRecorded | undefined;
}

/** The sandbox to call. */
export interface VoiceCallerOptions extends CallOptions {
  /** Base URL of the sandbox. */
  sandbox: string;
  apiKey: string | undefined;
  ca?: string | undefined;
  connection?: Connection | undefined;
  clock: Clock;
}

/** Places the calls of a simulation. */
export interface VoiceCaller {
  open: OpenChannel;
  close(): Promise<void>;
}

/** Creates a caller for one sandbox. The audio modules are loaded at the first call. */
export function createVoiceCaller(options: VoiceCallerOptions): VoiceCaller {
  let loading: ReturnType<typeof loadAudio> | undefined;
  return {
    async open(plan, userId, signal) {
      const loaded = await (loading ??= loadAudio(options));
      const { name } = plan.persona.voice;
      // A speech endpoint has its own voices.
      const problem = options.speech ? undefined : loaded.findVoiceProblem(name);
      if (problem !== undefined) throw createSpeechError(problem);
      return loaded.openVoiceChannel(loaded.channelOptions, plan, userId, signal);
    },
    async close() {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.synthesizer.close();
    },
  };
}

const createSpeechError = (reason: string): SessionError =>
  new SessionError('simulator_error', `The user can't speak: ${reason}.`);

/** Loads the audio modules. @throws SessionError if the users can't speak. */
async function loadAudio(options: VoiceCallerOptions) {
  const speechModule = await import('../../../voice/speech/index.ts');
  const { createSpeechSynthesizer, findVoiceProblem, SpeechError } = speechModule;
  const { createPacer } = await import('../../../platform/pacer.ts');
  const { openVoiceChannel } = await import('./channel.ts');
  const { openTranscriber } = await import('../../../voice/transcription/index.ts');
  const { clock, sandbox, apiKey, ca, connection, speech, transcription } = options;
  const { onRecorded, mediaAddress } = options;
  // Fail before placing a call if its lines can't be spoken.
  if (!speech && !speechModule.isSynthesizerInstalled())
    throw createSpeechError(speechModule.MISSING_PACKAGE_MESSAGE);
  const { url = deriveVoiceUrl(sandbox), answerForm = defaultAnswerForm } = options;
  const synthesizer = createSpeechSynthesizer({
    speaker: 'user',
    clock,
    ...(speech && { endpoint: speech }),
  });
  const channelOptions: VoiceChannelOptions = {
    clock,
    pacer: createPacer(clock),
    target: { url, apiKey, ca, connection, answerForm, mediaAddress },
    async speak(line, { name, speed }, signal) {
      try {
        return await synthesizer.speak(line, signal, { voice: name, speed });
      } catch (error) {
        if (!(error instanceof SpeechError)) throw error;
        throw createSpeechError(error.message);
      }
    },
    transcriber: transcription && openTranscriber(transcription, clock),
    onRecorded,
  };
  return { openVoiceChannel, channelOptions, synthesizer, findVoiceProblem };
}
