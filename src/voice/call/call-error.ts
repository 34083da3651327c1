/** Why a call failed. */
export type CallFailure =
  /** The WebSocket did not open. */
  | 'unreachable'
  /** The upgrade of the WebSocket was refused. */
  | 'refused'
  | 'unauthorized'
  | 'too_many_calls'
  /** No `call_ready` arrived in time. */
  | 'no_offer'
  /** The sandbox sent an `error` message. */
  | 'call_error'
  | 'bad_offer'
  /** No path for the media was found in time. */
  | 'no_path'
  | 'no_media'
  /** The sandbox closed the WebSocket. */
  | 'dropped'
  | 'path_lost'
  | 'media_stopped'
  /** A failure of this machine, or our own hang-up. */
  | 'local';

/** A call failed to connect, or ended unexpectedly. */
export class CallError extends Error {
  override name = 'CallError';
  readonly kind: CallFailure;
  /** The close code that the sandbox sent; undefined if it did not close the WebSocket. */
  readonly closeCode: number | undefined;

  constructor(kind: CallFailure, message: string, closeCode?: number) {
    super(message);
    this.kind = kind;
    this.closeCode = closeCode;
  }
}
