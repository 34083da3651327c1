import type { Clock } from '../../platform/clock.ts';
import { isObject } from '../../platform/json.ts';
import { createWeightLimit } from '../../platform/weight-limit.ts';
import { countPacketTicks, FRAME_TICKS, TICKS_PER_MS, writeOgg } from '../opus/index.ts';
import { requestAudio, type AudioEndpoint } from '../speech/audio-endpoint.ts';

/**
 * An OpenAI-compatible endpoint that turns speech into text:
 * `POST {baseUrl}/audio/transcriptions`.
 */
export interface TranscriptionModel {
  /** Base URL, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** Default: `whisper-1`. */
  model?: string | undefined;
  apiKey?: string | undefined;
}

/** The transcribed text, or the reason it failed. The reason never quotes the endpoint's response. */
export type Transcription = { ok: true; text: string } | { ok: false; message: string };

/** Turns the packets of a reply into text. */
export interface Transcriber {
  /** Never rejects. */
  transcribe(packets: readonly Buffer[], signal: AbortSignal): Promise<Transcription>;
}

const MODEL_DEFAULT = 'whisper-1';

/** Requests at the same time, of all calls. */
const REQUESTS_MAX = 4;
/** Longer audio is not sent. */
const AUDIO_MS_MAX = 300_000;
const TEXT_CHARS_MAX = 20_000;

const endpointOfTranscription: AudioEndpoint = {
  name: 'the transcription endpoint',
  path: '/audio/transcriptions',
  variables: {
    url: 'SANDBOX_KIT_TRANSCRIBE_URL',
    key: 'SANDBOX_KIT_TRANSCRIBE_API_KEY',
    model: 'SANDBOX_KIT_TRANSCRIBE_MODEL',
  },
  refusedVariables: 'SANDBOX_KIT_TRANSCRIBE_MODEL',
  requestMsMax: 30_000,
  totalMsMax: 60_000,
  responseBytesMax: 1_048_576,
  content: 'one reply',
  canceledMessage: 'the run was canceled',
};

/** Opens an endpoint. After a permanent failure, such as a wrong key, it gets no more requests. */
export function openTranscriber(model: TranscriptionModel, clock: Clock): Transcriber {
  const limit = createWeightLimit(REQUESTS_MAX);
  let refusal: Transcription | undefined;
  return {
    async transcribe(packets, signal) {
      if (measureMs(packets) > AUDIO_MS_MAX) {
        return fail(`a reply is longer than ${AUDIO_MS_MAX / 1_000} s`);
      }
      using _held = await limit.hold(1);
      if (signal.aborted) return fail(endpointOfTranscription.canceledMessage);
      if (refusal) return refusal;
      const response = await requestAudio(endpointOfTranscription, {
        baseUrl: model.baseUrl,
        apiKey: model.apiKey,
        clock,
        signal,
        body: createForm(packets, model.model ?? MODEL_DEFAULT),
      });
      if (response.ok) return readText(response.body);
      const failure = fail(response.message);
      if (!response.isTemporary) refusal = failure;
      return failure;
    },
  };
}

/** Sends the packets as they arrived: decoding them would delay the calls that still run. */
function createForm(packets: readonly Buffer[], model: string): FormData {
  const form = new FormData();
  const file = new Uint8Array(writeOgg(packets));
  form.set('file', new Blob([file], { type: 'audio/ogg' }), 'reply.ogg');
  form.set('model', model);
  form.set('response_format', 'json');
  return form;
}

function readText(body: Buffer): Transcription {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const text = isObject(parsed) ? parsed['text'] : undefined;
    if (typeof text === 'string') return { ok: true, text: text.slice(0, TEXT_CHARS_MAX).trim() };
  } catch {
    // Explained below.
  }
  return fail('the transcription endpoint did not return JSON with a text');
}

const measureMs = (packets: readonly Buffer[]): number =>
  packets.reduce((sum, packet) => sum + (countPacketTicks(packet) ?? FRAME_TICKS), 0) /
  TICKS_PER_MS;

const fail = (message: string): Transcription => ({ ok: false, message });
