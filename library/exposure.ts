import { isLoopbackUrl } from '../src/platform/loopback.ts';

/** Where a run sends its requests, and what it sends with them. */
export interface Exposure {
  urls: readonly (string | undefined)[];
  hasKey: boolean;
  hasHeaders: boolean;
  allowHttp: boolean | undefined;
}

/** What the message calls the key, the headers, and the option that allows plain HTTP. */
export interface ExposureNames {
  key: string;
  headers: string;
  allowHttp: string;
}

/**
 * Describes that a key or additional headers would be sent to another machine over plain HTTP;
 * undefined if they would not, or if it is allowed.
 */
export function describeExposure(
  { urls, hasKey, hasHeaders, allowHttp }: Exposure,
  names: ExposureNames,
): string | undefined {
  if (allowHttp || (!hasKey && !hasHeaders)) return undefined;
  const exposed = urls.find(
    (url) => url !== undefined && /^(http|ws):/i.test(url) && !isLoopbackUrl(url),
  );
  if (exposed === undefined) return undefined;
  const { protocol, host } = new URL(exposed);
  const secure = protocol === 'ws:' ? 'wss://' : 'https://';
  const secret = hasKey ? names.key : names.headers;
  return `${secret} would be sent unencrypted to ${host}, because the URL starts with ${protocol}//. Use ${secure}, or ${names.allowHttp} in a network that you trust.`;
}

/** Rejects options that would expose a secret. @throws {TypeError} */
export function rejectExposure(
  caller: string,
  options: {
    url: string;
    apiKey?: string | undefined;
    headers?: object | undefined;
    allowHttp?: boolean | undefined;
    voice?: { url?: string | undefined } | undefined;
  },
): void {
  const problem = describeExposure(
    {
      urls: [options.url, options.voice?.url],
      hasKey: options.apiKey !== undefined,
      hasHeaders: Object.keys(options.headers ?? {}).length > 0,
      allowHttp: options.allowHttp,
    },
    { key: 'apiKey', headers: 'The headers', allowHttp: 'set allowHttp' },
  );
  if (problem !== undefined) throw new TypeError(`${caller}: ${problem}`);
}
