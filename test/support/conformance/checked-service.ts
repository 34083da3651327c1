import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { suiteOf } from '../../../conformance/areas/index.ts';
import { runProbes, type RunSettings } from '../../../conformance/engine/drive/run.ts';
import type { Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { startLocally } from '../network/local-server.ts';

/** Starts a service on a free port. It stops with the test. */
export async function withCheckedService(t: Test): Promise<RunningService> {
  const service = await startService();
  t.teardown(() => service.stop());
  return service;
}

/** Runs the probes of the service (default: also the intrusive ones) and returns the transcript. */
export function recordRun(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  more: Partial<RunSettings> = {},
): Promise<Transcript> {
  return runProbes(suiteOf({ areas: more.areas ?? ['service'] }), {
    target: url,
    areas: ['service'],
    apiKey,
    ca: undefined,
    seed: 'recorded',
    kitVersion: 'test',
    clock: systemClock,
    concurrency: 6,
    rate: undefined,
    timeoutMs: 30_000,
    allowHttp: false,
    prompts: [],
    preflightOnly: false,
    intrusive: true,
    onExchange() {},
    ...more,
  });
}

/**
 * Starts a proxy without a control API in front of a service, and returns its URL. `rewrite` changes
 * the response bodies.
 */
export async function withoutControl(
  t: Test,
  upstream: string,
  rewrite: (body: string) => string = (body) => body,
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url?.startsWith('/__admin')) {
        response
          .writeHead(404, { 'content-type': 'application/json' })
          .end('{"message":"Not found."}');
        return;
      }
      const body = await buffer(request);
      const { host: _host, 'transfer-encoding': _framing, ...headers } = request.headers;
      const upstreamResponse = await fetch(`${upstream}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(headers)
          .filter(([name]) => !/^(connection|content-length|keep-alive)$/.test(name))
          .map(([name, value]) => [name, String(value)] as [string, string]),
        body: body.length === 0 ? null : body,
      });
      const type = upstreamResponse.headers.get('content-type');
      response.writeHead(upstreamResponse.status, type === null ? {} : { 'content-type': type });
      response.end(rewrite(await upstreamResponse.text()));
    })();
  });
  return startLocally(t, server);
}
