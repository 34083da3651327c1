import type { ChatMessage, ChatRequest } from '../../src/contract/index.ts';
import type { Log } from '../../src/platform/log.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import type { SpeechSynthesizer } from '../../src/voice/speech/index.ts';
import type { Chat, ReadyReply } from '../chat.ts';
import { RequestError } from '../errors.ts';
import type { CallRequest, CaptionedReply } from './messages.ts';
import { isError } from '../../src/platform/error-origin.ts';

/** What calls with captions share. */
export interface CaptionServices {
  /** Replies like the chat endpoint. */
  chat: Chat;
  speech: SpeechSynthesizer;
  log: Log;
}

/** Longer captions are truncated, just as speech is. */
const CAPTION_CHARACTERS_MAX = 2_000;

/** Further captions of a turn are ignored. */
const CAPTIONS_PER_TURN_MAX = 20;

/** In a longer call, the oldest turns are forgotten. */
const HISTORY_CHARACTERS_MAX = 100_000;

/**
 * The dialogue of one call: captions in, replies out. The replies are those that chat would give in
 * a session with the same messages, including tool calls.
 */
export class CaptionDialogue {
  readonly #parts: CaptionServices;
  readonly #request: CallRequest;
  readonly #signal: AbortSignal;
  readonly #captions: string[] = [];
  readonly #history: ChatMessage[] = [];
  #characters = 0;

  /** `signal` aborts when the call ends. */
  constructor(parts: CaptionServices, request: CallRequest, signal: AbortSignal) {
    this.#parts = parts;
    this.#request = request;
    this.#signal = signal;
  }

  /** Adds a caption for the turn that is starting, or has started. */
  add(text: string): void {
    if (this.#captions.length < CAPTIONS_PER_TURN_MAX) this.#captions.push(text);
  }

  /** The captions since the previous turn; undefined without any. */
  get pendingText(): string | undefined {
    return this.#captions.length > 0 ? this.#captions.join(' ') : undefined;
  }

  /** Drops the captions since the previous turn. */
  drop(): void {
    this.#captions.length = 0;
  }

  /** Drops these captions and everything that was said before. */
  forget(): void {
    this.drop();
    this.#history.length = 0;
    this.#characters = 0;
  }

  /** Returns the reply to the captions since the previous turn; undefined without captions. */
  reply(): CaptionedReply | undefined {
    const caption = this.#captions.splice(0).join(' ').slice(0, CAPTION_CHARACTERS_MAX);
    if (caption.trim() === '') return undefined;
    const { sessionId, userId, metadata } = this.#request;
    this.#remember({ role: 'user', content: caption });
    const ready = this.#chat({
      messages: [...this.#history],
      ...(sessionId !== undefined && { session_id: sessionId }),
      ...(userId !== undefined && { user_id: userId }),
      ...(metadata !== undefined && { metadata }),
    });
    if (!ready) return undefined;
    const { delayMs, createResponse } = ready;
    const response = createResponse(0);
    const content = response.choices[0].message.content;
    this.#remember({ role: 'assistant', content });
    const clip = this.#speak(content);
    return { caption, delayMs, response, clip, isReported: false };
  }

  /** Returns a reply; undefined if the pattern of a rule takes too long. */
  #chat(request: ChatRequest): ReadyReply | undefined {
    try {
      return this.#parts.chat(request);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#parts.log.warn('caption_unanswered', { reason: error.message });
      return undefined;
    }
  }

  async #speak(content: string): Promise<Clip | undefined> {
    try {
      return await this.#parts.speech.speak(content, this.#signal);
    } catch (error) {
      const reason = isError(error) ? error.message : '';
      if (!this.#signal.aborted) this.#parts.log.warn('reply_not_spoken', { reason });
      return undefined;
    }
  }

  #remember(message: ChatMessage): void {
    this.#history.push(message);
    this.#characters += message.content.length;
    while (this.#characters > HISTORY_CHARACTERS_MAX && this.#history.length > 2) {
      this.#characters -= this.#history.shift()?.content.length ?? 0;
    }
  }
}
