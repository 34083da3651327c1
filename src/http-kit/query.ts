/** Returns the query of a request. */
export function readQuery({ url }: { url: string }): URLSearchParams {
  const queryStart = url.indexOf('?');
  return new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
}
