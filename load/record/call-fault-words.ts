import type { CallFaultKind } from '../../src/contract/index.ts';

/** What became of a call that was not held, for people. */
export const callFaultWords: Record<CallFaultKind, string> = {
  unreachable: 'the WebSocket did not open',
  refused: 'the WebSocket was refused',
  unauthorized: 'the WebSocket was refused for the key',
  too_many_calls: 'refused as one call too many',
  no_offer: 'no call_ready came in time',
  call_error: 'the sandbox answered with an error',
  bad_offer: 'the offer cannot be used',
  no_path: 'no path for the media was found in time',
  no_media: 'connected, and no audio came',
  dropped: 'the sandbox hung up in mid-call',
  path_lost: 'the path of the media broke in mid-call',
  media_stopped: 'the audio stopped in mid-call',
  local: 'a failure of this machine',
};
