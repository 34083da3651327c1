import { ServerResponse, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import { handleUpgrades, isWebSocketRequest, type Upgrade } from '../../../http-kit/upgrade.ts';
import { RequestError } from '../../requests/errors.ts';
import type { Viewer, Viewers } from './viewer.ts';

/** The largest message of a page. */
const MESSAGE_BYTES_MAX = 262_144;

/** The subprotocol that a page requests, along with its token. */
const PROTOCOL = 'sandbox-kit-page';

/** A WebSocket of a page whose reader may change something. */
export interface PageSocket<Parameter extends string> extends Viewer {
  params: Readonly<Record<Parameter, string>>;
  /** Accepts the WebSocket. Until then, an error refuses it. */
  accept: () => Promise<WebSocket>;
}

/** Adds the route of a WebSocket below `/agents/:id`. */
export type AddSocketRoute = (
  path: `/agents/:id/${string}`,
  open: (socket: PageSocket<'id'>) => Promise<void>,
) => void;

/**
 * Lets pages open WebSockets. A request for one passes the hooks and the routes like every other, so
 * that it is refused like every other. The token of the page is its second subprotocol, because a
 * WebSocket of a browser carries no other header of the page.
 */
export function acceptSockets(
  app: FastifyInstance,
  viewers: Pick<Viewers, 'findEditorBy'>,
): AddSocketRoute {
  const paths: RegExp[] = [];
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols: () => PROTOCOL,
  });
  const isSocketPath = (path: string): boolean => paths.some((pattern) => pattern.test(path));
  handleUpgrades(
    app.server,
    (request) => isWebSocketRequest(request, isSocketPath),
    (upgrade) => {
      const { request, socket } = upgrade;
      socket.on('error', () => undefined);
      // Servers pass upgrades of network connections only.
      if (!(socket instanceof Socket)) return;
      upgrades.set(request, upgrade);
      const response = new ServerResponse(request);
      response.assignSocket(socket);
      response.shouldKeepAlive = false;
      response.on('finish', () => {
        response.detachSocket(socket);
        socket.end(() => socket.destroy());
      });
      app.routing(request, response);
    },
  );
  app.addHook('preClose', (done) => {
    for (const socket of sockets.clients) socket.close(1001, 'The service stops.');
    done();
  });
  app.addHook('onClose', (_app, done) => {
    for (const socket of sockets.clients) socket.terminate();
    done();
  });

  const accept = ({ raw }: FastifyRequest, reply: FastifyReply, upgrade: Upgrade) => {
    const { socket, head } = upgrade;
    reply.hijack();
    if (socket instanceof Socket) reply.raw.detachSocket(socket);
    return new Promise<WebSocket>((resolve) => sockets.handleUpgrade(raw, socket, head, resolve));
  };
  return (path, open) => {
    paths.push(new RegExp(`^${path.replace(':id', '[^/]+')}$`));
    app.get(path, async (request, reply) => {
      const upgrade = upgrades.get(request.raw);
      if (!upgrade) {
        const message = 'This address is for the WebSocket of a page, not for a request.';
        throw new RequestError('bad_request', message);
      }
      const [, token = ''] = readProtocols(request);
      const viewer = await viewers.findEditorBy(request, token);
      const params = request.params as { id: string };
      await open({ ...viewer, params, accept: () => accept(request, reply, upgrade) });
      return reply;
    });
  };
}

const readProtocols = ({ headers }: FastifyRequest): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
