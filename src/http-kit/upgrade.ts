import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** An upgrade request and its socket. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  /** Bytes received after the request. */
  head: Buffer;
}

/** Returns whether a request asks for a WebSocket at a path, compared without its query. */
export const isWebSocketRequest = (
  { headers, url = '' }: IncomingMessage,
  isPath: (path: string) => boolean,
): boolean => headers.upgrade?.toLowerCase() === 'websocket' && isPath(url.split('?', 1)[0] ?? '');

/**
 * Handles the upgrade requests that `accepts` selects. Others get a normal response, as if the server
 * supported no upgrades: many HTTP clients offer HTTP/2 this way.
 */
export function handleUpgrades(
  server: Server,
  accepts: (request: IncomingMessage) => boolean,
  onUpgrade: (upgrade: Upgrade) => void,
): void {
  // Node before 24.9 has no such option and passes all upgrade requests to the listener.
  if ('shouldUpgradeCallback' in server) server.shouldUpgradeCallback = accepts;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = { request, socket, head };
    if (accepts(request)) onUpgrade(upgrade);
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
