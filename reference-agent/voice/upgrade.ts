import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { voiceChannel } from '../../src/contract/index.ts';
import { RequestError } from '../errors.ts';
import { formatRawError } from '../../src/http-kit/server.ts';
import { isWebSocketRequest } from '../../src/http-kit/upgrade.ts';
import { JSON_CONTENT_TYPE } from '../server.ts';

/** The path of the voice WebSocket (spec 4.9). */
export const VOICE_PATH: string = voiceChannel.path;

/** The required subprotocol (spec 4.9, 5). */
export const VOICE_PROTOCOL: string = voiceChannel.protocol;

/** Returns whether a request is for the voice WebSocket. */
export const isForVoice = (request: IncomingMessage): boolean =>
  isWebSocketRequest(request, (path) => path === VOICE_PATH);

/**
 * Verifies that the request names the subprotocol.
 *
 * @throws RequestError `bad_request` if it does not.
 */
export function assertSubprotocol({ headers }: IncomingMessage): void {
  const protocols = headers['sec-websocket-protocol'] ?? '';
  if (protocols.split(',').some((name) => name.trim() === VOICE_PROTOCOL)) return;
  const received = protocols === '' ? 'nothing' : JSON.stringify(protocols.slice(0, 80));
  throw new RequestError(
    'bad_request',
    `Sec-WebSocket-Protocol must name ${VOICE_PROTOCOL}, got ${received}`,
  );
}

/** Sends an error response and closes the connection. */
export function rejectUpgrade(socket: Duplex, error: RequestError): void {
  socket.on('error', () => undefined);
  socket.end(formatRawError(error, JSON_CONTENT_TYPE), () => socket.destroy());
}
