import type { ChatMessage, ChatRequest, ChatResponse } from '../../src/contract/index.ts';
import type { Log } from '../../src/platform/log.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import type { SpeechSynthesizer as Speech } from '../../src/voice/speech/index.ts';
import type { ReadyReply } from '../chat.ts';
import type { CallRequest } from './messages.ts';

/** What every call needs whose caller may say in words what it speaks. */
export interface CaptionServices {
  /** As a chat request would be answered. */
  chat: (request: ChatRequest) => ReadyReply;
  speech: Speech;
  log: Log;
}

/** What is said to a turn whose words are known. */
export interface CaptionedReply {
  caption: string;
  /** Milliseconds to wait before it is said. */
  delayMs: number;
  response: ChatResponse;
  /** Undefined where it can't be spoken. */
  clip: Promise<Clip | undefined>;
  /** Whether the caller was told of it. */
  isReported: boolean;
}

/** A caption is cut after so many characters, as what is spoken is. */
const CAPTION_CHARACTERS_MAX = 2_000;

/** Captions of one turn; those beyond are left out. */
const CAPTIONS_PER_TURN_MAX = 20;

/** What is remembered of a call; of one that is longer, the oldest turns are forgotten. */
const HISTORY_CHARACTERS_MAX = 100_000;

/**
 * The words of a call; undefined where it has none: the agent takes no captions, or the caller
 * wants its own sound back. `signal` aborts when the call is over.
 */
export function createCaptionDialogue(
  parts: CaptionServices | undefined,
  asked: CallRequest,
  signal: AbortSignal,
): CaptionDialogue | undefined {
  return parts && !asked.isEcho ? new CaptionDialogue(parts, asked, signal) : undefined;
}

/**
 * The words of one call: captions in, replies out. They are those that the chat gives in a session
 * of the same words, tools and all.
 */
export class CaptionDialogue {
  readonly #parts: CaptionServices;
  readonly #asked: CallRequest;
  readonly #signal: AbortSignal;
  readonly #waiting: string[] = [];
  readonly #history: ChatMessage[] = [];
  #characters = 0;

  constructor(parts: CaptionServices, asked: CallRequest, signal: AbortSignal) {
    this.#parts = parts;
    this.#asked = asked;
    this.#signal = signal;
  }

  /** What the caller says in the turn that it begins, or has begun. */
  add(text: string): void {
    if (this.#waiting.length < CAPTIONS_PER_TURN_MAX) this.#waiting.push(text);
  }

  /** The reply to what was captioned since the turn before; undefined where nothing was. */
  reply(): CaptionedReply | undefined {
    const caption = this.#waiting.splice(0).join(' ').slice(0, CAPTION_CHARACTERS_MAX);
    if (caption.trim() === '') return undefined;
    const { sessionId, userId, metadata } = this.#asked;
    this.#remember({ role: 'user', content: caption });
    const { delayMs, response } = this.#parts.chat({
      messages: [...this.#history],
      ...(sessionId !== undefined && { session_id: sessionId }),
      ...(userId !== undefined && { user_id: userId }),
      ...(metadata !== undefined && { metadata }),
    });
    const answer = response(0);
    const content = answer.choices[0].message.content;
    this.#remember({ role: 'assistant', content });
    const clip = this.#speak(content);
    return { caption, delayMs, response: answer, clip, isReported: false };
  }

  async #speak(content: string): Promise<Clip | undefined> {
    try {
      return await this.#parts.speech.speak(content, this.#signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      if (!this.#signal.aborted) this.#parts.log.warn('a reply could not be spoken', { why });
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
