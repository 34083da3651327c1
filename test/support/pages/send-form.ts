import type { ServiceUnderTest } from '../services/service.ts';

/**
 * Sends a form to a path of a service, with the token of the page that has the form. Returns the first
 * response: a redirect is not followed.
 */
export async function sendForm(
  { service }: ServiceUnderTest,
  { page, path }: { page: string; path: string },
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const headers = { accept: 'text/html' };
  const shown = await (await fetch(service.url + page, { headers })).text();
  const [, token = ''] = /name="_token" value="(\w+)"/.exec(shown) ?? [];
  return fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, origin: service.url },
    body: new URLSearchParams({ _token: token, ...fields }),
  });
}
