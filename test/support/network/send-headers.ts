import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

/** Sends a request with headers that fetch can't send, such as `Host`, and returns its response. */
export async function sendHeaders(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; headers: IncomingMessage['headers'] }> {
  const sent = request(url, { method, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode ?? 0, headers: response.headers };
}
