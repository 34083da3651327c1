/** Where an OpenAI-compatible API speaks: `POST {baseUrl}/audio/speech`. */
export interface SpeechEndpoint {
  baseUrl: string;
  /** `tts-1` unless given. */
  model?: string;
  /** `alloy` for a user and `echo` for an agent, unless given. */
  voice?: string;
  apiKey?: string;
}
