import type { FaultKind } from '../../src/contract/index.ts';
import { describeFailure, firstError, isLocalShortage } from '../../src/platform/error-origin.ts';

/** The kind and the message of a failed request. */
export interface Failure {
  kind: FaultKind;
  message: string;
}

const kindByCode: Partial<Record<string, FaultKind>> = {
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ETIMEDOUT: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ERR_PROXY: 'proxy',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_CLOSED: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'cut_off',
  HPE_INVALID_EOF_STATE: 'cut_off',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
};

/**
 * Classifies a failed request.
 *
 * @param hasStatus Whether the status line had arrived, so that the response was cut off.
 */
export function classifyFailure(error: unknown, hasStatus: boolean): Failure {
  const { code = '', name, message } = firstError(error);
  const kind = kindOf(code, name, message);
  const isBreak = kind === 'reset' || kind === 'refused';
  return {
    kind: hasStatus && isBreak ? 'cut_off' : kind,
    message: describeFailure(message) || code || name,
  };
}

function kindOf(code: string, name: string, message: string): FaultKind {
  const kind = kindByCode[code];
  if (kind) return kind;
  // A shortage on this machine shows nothing about the sandbox.
  if (isLocalShortage(code)) return 'local';
  if (name === 'HTTPParserError' || code.startsWith('HPE_')) return 'protocol';
  if (code.startsWith('UND_ERR_RES') || code === 'UND_ERR_HEADERS_OVERFLOW') return 'protocol';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code)) return 'tls';
  return /socket|closed|terminated/i.test(message) ? 'reset' : 'protocol';
}
