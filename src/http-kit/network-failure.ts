import { describeFailure, firstError, isLocalShortage } from '../platform/error-origin.ts';
import { RESERVED_ADDRESS } from '../platform/sandbox-lookup.ts';

/**
 * Why a request got no complete response, as far as its error shows. `malformed`: HTTP whose headers
 * or framing can't be parsed. `protocol`: not HTTP. `cut_off`: the response ends too early. `local`:
 * this machine is out of ports, files, or memory.
 */
export type NetworkFailureKind =
  | 'unresolved'
  | 'refused'
  | 'proxy'
  | 'plain_http'
  | 'tls'
  | 'local'
  | 'reset'
  | 'cut_off'
  | 'malformed'
  | 'protocol'
  | 'headers_too_large'
  | 'too_large'
  | 'unknown';

/** A failed request. */
export interface NetworkFailure {
  kind: NetworkFailureKind;
  /** The code of the error, such as `ECONNREFUSED`; empty if it has none. */
  code: string;
  message: string;
}

/** The length of a response is not that of its Content-Length. */
export const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

const kindByCode: Partial<Record<string, NetworkFailureKind>> = {
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  [RESERVED_ADDRESS]: 'unresolved',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ETIMEDOUT: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_CLOSED: 'reset',
  [LENGTH_MISMATCH]: 'cut_off',
  HPE_INVALID_EOF_STATE: 'cut_off',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  ERR_PROXY: 'proxy',
  ERR_SSL_WRONG_VERSION_NUMBER: 'plain_http',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'plain_http',
};

/** Errors of the HTTP parser about the headers or the framing of what does begin like HTTP. */
const MALFORMED_CODE =
  /^HPE_(INVALID_HEADER_TOKEN|(INVALID|UNEXPECTED)_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|INVALID_CHUNK_SIZE|CR_EXPECTED|LF_EXPECTED)$/;

/** Classifies the error of a request by undici, autocannon, or `ws`. */
export function classifyNetworkFailure(error: unknown): NetworkFailure {
  // Some errors of the HTTP parser have only a name.
  const {
    name,
    message,
    code = name === 'HTTPParserError' ? 'HPE_UNKNOWN' : '',
  } = firstError(error);
  return {
    kind: kindOf(code, message),
    code,
    message: describeFailure(message) || code || name,
  };
}

function kindOf(code: string, message: string): NetworkFailureKind {
  const kind = kindByCode[code];
  if (kind) return kind;
  if (isLocalShortage(code)) return 'local';
  if (/HEADERS?_OVERFLOW/.test(code)) return 'headers_too_large';
  if (MALFORMED_CODE.test(code)) return 'malformed';
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_RES')) return 'protocol';
  if (/wrong version number|packet length too long/i.test(message)) return 'plain_http';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code)) return 'tls';
  return /socket|closed|terminated/i.test(message) ? 'reset' : 'unknown';
}
