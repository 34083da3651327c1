/**
 * The voice endpoint: a WebSocket at `/voice` for signaling (spec 4.9). Each WebSocket is one call.
 * In production, put a TLS proxy in front of it: the service connects with `wss://` only.
 *
 * @import { Server } from 'node:http'
 */
import { STATUS_CODES } from 'node:http';
import { WebSocketServer } from 'ws';
import { Call } from './call.js';
import { badRequest, checkKey, notFound, toSandboxError } from './errors.js';

/** The target is 100 concurrent calls (spec 8). */
const CALLS_MAX = 120;
const SUBPROTOCOL = 'voice-agent';

/**
 * @param {Server} server
 * @param {string | undefined} apiKey
 */
export function attachVoice(server, apiKey) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 64 * 1024,
    handleProtocols: () => SUBPROTOCOL,
  });

  server.on('upgrade', (request, socket, head) => {
    const { url = '/', headers } = request;
    try {
      if (url.split('?')[0] !== '/voice') throw notFound();
      checkKey(headers.authorization, apiKey);
      // Without this check, any WebSocket client could start a call.
      const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
      if (!offered?.includes(SUBPROTOCOL)) throw badRequest(`Offer the protocol ${SUBPROTOCOL}.`);
    } catch (error) {
      const { status, body } = toSandboxError(error);
      const text = JSON.stringify(body);
      socket.on('error', () => {}); // The caller may have disconnected.
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      return;
    }
    // Media uses the address through which the caller reached this machine.
    const { localAddress = '127.0.0.1' } = request.socket;
    const isFull = sockets.clients.size >= CALLS_MAX;
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const call = new Call(webSocket, localAddress.replace(/^::ffff:/, ''));
      if (isFull) call.fail('connection_failed', 'Too many concurrent calls.', 4429);
    });
  });

  return {
    stop() {
      for (const client of sockets.clients) client.close(1001);
      // A caller that does not close its side must not keep the process alive.
      setTimeout(() => sockets.clients.forEach((client) => client.terminate()), 2_000).unref();
    },
  };
}
