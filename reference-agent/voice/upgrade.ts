import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { voiceChannel } from '../../src/contract/index.ts';
import { RequestError } from '../errors.ts';
import { formatRawError } from '../../src/http-kit/server.ts';
import { JSON_CONTENT_TYPE } from '../wire.ts';

/** The path of the voice WebSocket (spec 4.9). */
export const VOICE_PATH: string = voiceChannel.path;

/** The required subprotocol (spec 4.9, 5). */
export const VOICE_PROTOCOL: string = voiceChannel.protocol;

/** An upgrade request and its socket. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  /** Bytes received after the request. */
  head: Buffer;
}

/** Whether a request is for the voice WebSocket. */
function isForVoice({ headers, url = '' }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && url.split('?', 1)[0] === VOICE_PATH;
}

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

/**
 * Handles requests for the voice WebSocket. Other upgrade requests get a normal response, as if the
 * server supported no upgrades: many HTTP clients offer HTTP/2 this way.
 */
export function handleUpgrades(server: Server, onVoice: (upgrade: Upgrade) => void): void {
  // Node before 24.9 has no such option and passes all upgrade requests to the listener.
  if ('shouldUpgradeCallback' in server) server.shouldUpgradeCallback = isForVoice;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = { request, socket, head };
    if (isForVoice(request)) onVoice(upgrade);
    else handleWithoutUpgrade(server, upgrade);
  });
}

const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'connection', 'http2-settings']);

/** Passes a request back to its server without the upgrade headers. */
function handleWithoutUpgrade(server: Server, { request, socket, head }: Upgrade): void {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!UPGRADE_HEADERS.has(name.toLowerCase()))
      lines.push(`${name}: ${rawHeaders[at + 1] ?? ''}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
}
