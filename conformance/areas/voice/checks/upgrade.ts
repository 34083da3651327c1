import { durationMs, type Exchange } from '../../../engine/transcript/reading.ts';

/** What is wrong with the way to a WebSocket, in one sentence, and what to do about it. */
export interface NoWay {
  message: string;
  cure: string;
}

const LOG = 'Look into the log of what serves it, or of a proxy before it: ';

const ways: Partial<Record<string, (one: Exchange, address: string) => NoWay>> = {
  refused: (_one, address) => ({
    message: `Nothing listens at the voice address ${address}.`,
    cure: 'Start what serves it, or check host and port of --voice-url.',
  }),
  unresolved: (_one, address) => ({
    message: `The host name of the voice address ${address} is not known.`,
    cure: 'Check it for typing errors, and that this machine can resolve the name.',
  }),
  tls: ({ failure }) => ({
    message: `The TLS certificate of the voice address is not accepted (${failure?.message ?? ''}).`,
    cure: 'If the certificate comes from a CA of your own, give that CA with --ca FILE.',
  }),
  plain_http: () => ({
    message: 'The voice address has no TLS.',
    cure: 'Use ws:// for a WebSocket without TLS, or the port that has TLS.',
  }),
  timeout: (one) => ({
    message: `The request for the WebSocket hung for ${Math.round(durationMs(one) / 1000)} s, without an answer.`,
    cure: `${LOG}it takes the connection, and no upgrade to a WebSocket.`,
  }),
  reset: ({ failure }) => ({
    message: `The connection is dropped where the WebSocket is asked for (${failure?.message ?? ''}).`,
    cure: `${LOG}it closes the connection in place of an answer.`,
  }),
  protocol: ({ failure }) => ({
    message: `What answers the request for the WebSocket is not what HTTP has (${failure?.message ?? ''}).`,
    cure: 'Check host and port of the voice address, and what serves it.',
  }),
};

/** Why no answer came to a request for a WebSocket; undefined where one came. */
export function noWayOf(one: Exchange, address: string): NoWay | undefined {
  return one.failure && ways[one.failure.kind]?.(one, address);
}
