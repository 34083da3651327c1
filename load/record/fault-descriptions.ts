import type { CallFaultKind, FaultKind } from '../../src/contract/index.ts';

/** Describes each kind of request error. */
export const faultDescriptions: Readonly<Record<FaultKind, string>> = {
  timeout: 'no complete response before the deadline',
  refused: 'the connection was refused',
  unresolved: 'the host name could not be resolved',
  tls: 'the TLS handshake failed',
  reset: 'the connection was reset before the response',
  stale_connection: 'the sandbox closed an idle connection just as it was reused',
  cut_off: 'the response ended early',
  protocol: 'the response was not valid HTTP',
  too_large: 'the response was larger than 4 MiB',
  rate_limited: 'HTTP 429, refused by a rate limit',
  unauthorized: 'HTTP 401 or 403, the key was refused',
  client_error: 'another 4xx status',
  server_error: 'a 5xx status',
  other_status: 'a status other than 2xx, 4xx, or 5xx',
  nonconforming: 'the response violates the interface',
  mixed_up: 'the response belongs to another session',
  proxy: 'the proxy did not connect to the sandbox',
  local: 'the load generator ran out of ports, files, or memory',
};

/** Describes why a call was not held for the whole window. */
export const callFaultDescriptions: Readonly<Record<CallFaultKind, string>> = {
  unreachable: 'the WebSocket could not be opened',
  refused: 'the WebSocket was refused',
  unauthorized: 'the WebSocket was refused because of the key',
  too_many_calls: 'refused: too many calls',
  no_offer: 'no call_ready arrived in time',
  call_error: 'the sandbox responded with an error',
  bad_offer: 'the offer is unusable',
  no_path: 'no network path for the media was found in time',
  no_media: 'connected, but no audio arrived',
  dropped: 'the sandbox hung up during the call',
  path_lost: 'the network path of the media broke during the call',
  media_stopped: 'the audio stopped during the call',
  local: 'an error on this machine',
};
