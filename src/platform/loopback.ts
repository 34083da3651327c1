/**
 * Returns whether a host name or IP address always means this machine: `localhost`, a name below
 * `localhost`, `127.0.0.0/8`, or `::1` with or without brackets.
 */
export function isLoopbackHost(host: string): boolean {
  return /^((.+\.)?localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** Returns whether the host of a URL is this machine. False for text that is not a URL. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(URL.parse(url)?.hostname ?? '');
}
