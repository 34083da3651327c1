import type { EndReason } from '../../contract/index.ts';

/** Why a session can't continue. The message contains no text of the conversation. */
export class SessionError extends Error {
  override name = 'SessionError';
  readonly endReason: EndReason;

  constructor(endReason: EndReason, message: string) {
    super(message);
    this.endReason = endReason;
  }
}
