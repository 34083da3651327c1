import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { suiteOf } from '../../conformance/areas/index.ts';
import { runProbes, type RunOptions } from '../../conformance/engine/drive/run.ts';
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import { startService, type RunningService } from '../../src/service/index.ts';
import { systemClock } from '../../src/platform/clock.ts';

/** A service on a free port that ends with the test. */
export async function withCheckedService(t: Test): Promise<RunningService> {
  const service = await startService();
  t.teardown(() => service.stop());
  return service;
}

/** A run of area A, with everything that an intrusive one sends unless it says otherwise. */
export function recordedRun(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  more: Partial<RunOptions> = {},
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
    ratePerSecond: undefined,
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
 * Stands before a service, and has no control API: what the service of somebody else looks like. It
 * may write its answers in another way.
 */
export async function withoutControl(
  t: Test,
  upstream: string,
  rewrite: (body: string) => string = (body) => body,
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url?.startsWith('/__admin')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"No."}');
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { host: _host, 'transfer-encoding': _framing, ...headers } = request.headers;
      const answer = await fetch(`${upstream}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(headers)
          .filter(([name]) => !/^(connection|content-length|keep-alive)$/.test(name))
          .map(([name, value]) => [name, String(value)] as [string, string]),
        body: chunks.length === 0 ? null : Buffer.concat(chunks),
      });
      const type = answer.headers.get('content-type');
      response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
      response.end(rewrite(await answer.text()));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
