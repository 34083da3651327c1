import { channel } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';

/**
 * Starts a server, and stops it after the test. Returns it with the routes that it registers with a
 * handler while it starts, such as `GET /runs/{id}`.
 */
export async function withRegisteredRoutes<Server extends { stop: () => Promise<void> }>(
  t: Test,
  start: () => Promise<Server>,
): Promise<{ server: Server; routes: string[] }> {
  const registered = new Set<string>();
  const onFastify = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url, handler, onRequest }) => {
      // The 405 of a path throws in its hook.
      const isRejection = typeof onRequest === 'function' && String(handler) === '() => undefined';
      if (isRejection) return;
      for (const each of [method].flat().filter((name) => name !== 'HEAD')) {
        registered.add(`${each} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
      }
    });
  };
  channel('fastify.initialization').subscribe(onFastify);
  const server = await start();
  t.teardown(() => server.stop());
  channel('fastify.initialization').unsubscribe(onFastify);
  return { server, routes: [...registered].sort() };
}
