import type { Test } from 'tap';
import { start, type ProcessOptions, type RunningProcess } from '../commands/command-process.ts';

/** How to reach a service. */
export interface ServiceAddress {
  url: string;
  apiKey: string;
  adminUrl: string;
}

/** Sends a JSON request with the key of a service to a route, such as `GET /ready`. */
export async function sendTo(
  { url, apiKey }: Pick<ServiceAddress, 'url' | 'apiKey'>,
  route: string,
  body?: unknown,
): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(url + path, {
    method,
    headers: { 'x-service-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, text: await response.text() };
}

/** A service in a separate process. */
export interface ServiceProcess extends RunningProcess, ServiceAddress {
  /** Sends a GET, or a POST with a body, to a path. Throws unless the response is a 200. */
  request: <Body>(path: string, body?: unknown) => Promise<Body>;
}

/** Starts a service on a free port as a process, and kills it after the test. */
export async function startServiceProcess(
  t: Test,
  args: readonly string[] = [],
  options: ProcessOptions = {},
): Promise<ServiceProcess> {
  const started = await start(t, ['serve', '--port', '0', '--json', ...args], options);
  if (!started.firstLine.startsWith('{')) throw new Error(`The service ${started.firstLine}`);
  const address = JSON.parse(started.firstLine) as ServiceAddress;
  return {
    ...started,
    ...address,
    async request<Body>(path: string, body?: unknown) {
      const method = body === undefined ? 'GET' : 'POST';
      const { status, text } = await sendTo(address, `${method} ${path}`, body);
      if (status !== 200) throw new Error(text);
      return JSON.parse(text) as Body;
    },
  };
}
