import type { Clock } from '../../platform/clock.ts';
import type { Speaker } from '../opus/index.ts';
import { requestAudio, type AudioEndpoint } from './audio-endpoint.ts';
import { SpeechError, type SpeechStyle } from './spoken-line.ts';

/**
 * An OpenAI-compatible endpoint that turns the text of users into speech:
 * `POST {baseUrl}/audio/speech`.
 */
export interface SpeechModel {
  /** Base URL, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** Default: `tts-1`. */
  model?: string | undefined;
  /** Default: `nova` for a user, `onyx` for an agent. */
  voice?: string | undefined;
  apiKey?: string | undefined;
}

const MODEL_DEFAULT = 'tts-1';
const VOICE_DEFAULTS: Record<Speaker, string> = { user: 'nova', agent: 'onyx' };

const endpointOfSpeech: AudioEndpoint = {
  name: 'the speech endpoint',
  path: '/audio/speech',
  variables: {
    url: 'SANDBOX_KIT_SPEECH_URL',
    key: 'SANDBOX_KIT_SPEECH_API_KEY',
    model: 'SANDBOX_KIT_SPEECH_MODEL',
  },
  refusedVariables: 'SANDBOX_KIT_SPEECH_MODEL and SANDBOX_KIT_SPEECH_VOICE',
  requestMsMax: 30_000,
  totalMsMax: 60_000,
  // Five minutes of audio at 48 kHz.
  responseBytesMax: 33_554_432,
  content: 'one line',
  canceledMessage: 'the speech synthesizer was closed before the line was ready',
};

/** A line to fetch. */
export interface FetchLine {
  endpoint: SpeechModel;
  speaker: Speaker;
  text: string;
  style: SpeechStyle;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Fetches a line from the endpoint, usually as a WAV file, with retries. @throws SpeechError
 * without any text of the response, because it may contain the API key or the line.
 */
export async function fetchLine({
  endpoint,
  speaker,
  text,
  style,
  clock,
  signal,
}: FetchLine): Promise<Uint8Array> {
  const { baseUrl, apiKey, model = MODEL_DEFAULT } = endpoint;
  const voice = style.voice ?? endpoint.voice ?? VOICE_DEFAULTS[speaker];
  const speed = style.speed === undefined ? {} : { speed: style.speed };
  const response = await requestAudio(endpointOfSpeech, {
    baseUrl,
    apiKey,
    clock,
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, voice, input: text, response_format: 'wav', ...speed }),
  });
  if (!response.ok) throw new SpeechError(response.message);
  return response.body;
}
