import type { ExchangeRecord } from '../../src/contract/index.ts';

/**
 * A line for a POSIX shell that sends a recorded request again. The key stands in it as the
 * variable SANDBOX_KIT_API_KEY, never as itself.
 */
export function curlOf({ request }: ExchangeRecord, target: string): string {
  const headers = Object.entries(request.headers).map(([name, value]) =>
    name === 'authorization'
      ? `-H "authorization: Bearer $SANDBOX_KIT_API_KEY"`
      : `-H ${quoted(`${name}: ${value}`)}`,
  );
  const method = request.method === 'GET' ? [] : [`-X ${request.method}`];
  const body = request.body === undefined ? [] : [`--data-binary ${quoted(request.body)}`];
  const url = quoted(`${target.replace(/\/+$/, '')}${request.path}`);
  return ['curl -i', ...method, ...headers, ...body, url].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
