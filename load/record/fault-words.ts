import type { FaultKind } from '../../src/contract/index.ts';

/** What each kind of error is, for people. */
export const faultWords: Readonly<Record<FaultKind, string>> = {
  timeout: 'no whole answer by the deadline',
  refused: 'no connection was accepted',
  unresolved: 'the host name was not resolved',
  tls: 'TLS failed',
  reset: 'the connection was reset before an answer',
  stale_connection: 'an idle connection was closed just as it was used again',
  cut_off: 'the answer broke off in the middle',
  protocol: 'the answer was not HTTP',
  too_large: 'the answer was larger than 4 MiB',
  rate_limited: '429: a rate limit refused it',
  unauthorized: '401 or 403: the key was refused',
  client_error: 'another 4xx',
  server_error: '5xx',
  other_status: 'a status that is neither 2xx, 4xx nor 5xx',
  nonconforming: 'the answer breaks the interface',
  mixed_up: 'the answer belongs to another session',
  local: 'the generator ran out of ports, files or memory',
};
