import { spellInCode, type SpellOption } from '../src/options/table.ts';
import { isLoopbackUrl } from '../src/platform/loopback.ts';

/** Where a run sends its requests, and what it sends with them. */
export interface Exposure {
  urls: readonly (string | undefined)[];
  hasKey: boolean;
  hasHeaders: boolean;
  allowHttp: boolean | undefined;
}

/**
 * Describes that a key or additional headers would be sent to another machine over plain HTTP;
 * undefined if they would not, or if it is allowed.
 */
export function describeExposure(
  { urls, hasKey, hasHeaders, allowHttp }: Exposure,
  spell: SpellOption,
): string | undefined {
  if (allowHttp || (!hasKey && !hasHeaders)) return undefined;
  const exposed = urls.find(
    (url) => url !== undefined && /^(http|ws):/i.test(url) && !isLoopbackUrl(url),
  );
  if (exposed === undefined) return undefined;
  const { protocol, host } = new URL(exposed);
  const secure = protocol === 'ws:' ? 'wss://' : 'https://';
  const secret = hasKey ? 'The API key' : `The values of ${spell('headers')}`;
  return `${secret} would be sent unencrypted to ${host}, because the URL starts with ${protocol}//. Use ${secure}, or ${spell('allowHttp')} in a network that you trust.`;
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
    spellInCode,
  );
  if (problem !== undefined) throw new TypeError(`${caller}: ${problem}`);
}
