import { createServer, request as sendRequest } from 'node:http';
import type { Test } from 'tap';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { startLocally } from '../network/local-server.ts';

/**
 * Starts services in this process behind a proxy that sends each request to the next of them, and stops
 * them after the test. Returns the URL of the proxy, which is also the default of `appUrl`.
 */
export async function withServices(
  t: Test,
  count: number,
  options: Partial<ServiceSetup>,
): Promise<{ services: RunningService[]; url: string }> {
  const services: RunningService[] = [];
  const url = await withRoundRobinProxy(t, () => services.map((service) => service.url));
  for (let nth = 0; nth < count; nth += 1) {
    const isFirst = nth === 0;
    // A test counts the reports of one service.
    const { onSeedProgress, ...shared } = options;
    const own = isFirst && onSeedProgress ? { onSeedProgress } : {};
    const service = await startService({ appUrl: url, ...shared, ...own });
    t.teardown(() => service.stop());
    services.push(service);
  }
  return { services, url };
}

/**
 * Starts services behind a proxy, and returns them as one service: requests go to the next of them,
 * `stop` stops all, and the other methods are those of the first.
 */
export async function withServicesAsOne(
  t: Test,
  count: number,
  options: Partial<ServiceSetup>,
): Promise<RunningService> {
  const { services, url } = await withServices(t, count, options);
  const [first] = services;
  if (!first) throw new Error('At least one service is required.');
  const adminUrl = `${url}/__admin`;
  return {
    ...first,
    url,
    adminUrl,
    env: {
      ...first.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      SANDBOX_KIT_SERVICE_URL: url,
      SANDBOX_KIT_ADMIN_URL: adminUrl,
    },
    async stop() {
      // Together, so that none takes a job that another one releases.
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

/** Starts a proxy that sends each request to the next of these URLs, and returns its URL. */
export async function withRoundRobinProxy(t: Test, targets: () => string[]): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    const urls = targets();
    const target = urls[count++ % urls.length] ?? '';
    const { method, headers, url: path } = request;
    // The path as it was sent: it may be an absolute URL of another host.
    const forwarded = sendRequest(target, { method, headers, path }, (from) => {
      response.writeHead(from.statusCode ?? 502, from.statusMessage, from.rawHeaders);
      from.pipe(response);
      from.once('error', () => response.destroy());
    });
    forwarded.on('error', () => {
      if (!response.headersSent) response.destroy();
    });
    // A service that responds early may close its connection while the client still sends.
    forwarded.once('close', () => {
      request.unpipe(forwarded);
      request.resume();
    });
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  return startLocally(t, server);
}
