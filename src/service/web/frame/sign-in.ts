import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../../platform/clock.ts';
import { formatCount } from '../../../report-kit/format.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { html } from '../../../report-kit/html.ts';
import type { PageAuthentication } from '../../requests/authentication.ts';
import { createSignInAttempts } from './sign-in-attempts.ts';
import { renderField } from './fields.ts';
import { readForm, readText } from './forms.ts';
import { renderServicePage, sendPage, UNKNOWN_READER } from './page-frame.ts';

/** Renders the page where a browser signs in with an API key. */
export function renderSignInPage(next: string, problem?: string): string {
  return renderServicePage(
    {
      title: 'Sign in',
      hasNavigation: false,
      main: html`<h1>Sign in</h1>
        <p>
          Sign in with an API key of this service. You see the data of its owner. With the first key
          of the service you can also change settings, evals, agents, and scenarios.
        </p>
        <form method="post" action="/sign-in" class="form">
          <input type="hidden" name="next" value="${next}" />
          ${renderField(
            { name: 'key', label: 'API key', type: 'password', problem, isRequired: true },
            html`autocomplete="current-password" ${problem === undefined ? 'autofocus' : ''}`,
          )}
          <p><button>Sign in</button></p>
        </form>`,
    },
    UNKNOWN_READER,
  );
}

/** The largest form of a reader who has not signed in. */
const SIGN_IN_BYTES_MAX = 16_384;

/** Adds the routes that start and end the session of a browser. On loopback none is needed. */
export function addSignInRoutes(
  app: FastifyInstance,
  { authentication, clock }: { authentication: PageAuthentication; clock: Clock },
): void {
  const attempts = createSignInAttempts(clock);
  app.get('/sign-in', (request, reply) =>
    sendPage(reply, renderSignInPage(readQuery(request).get('next') ?? '/')),
  );
  const forAnyone = { bodyLimit: SIGN_IN_BYTES_MAX, config: { isForAnyone: true } };
  app.post('/sign-in', forAnyone, async (request, reply) => {
    const form = await readForm(request);
    const next = readText(form, 'next');
    const waitS = attempts.countAttempt(request.ip);
    if (waitS > 0) {
      const problem = `Too many wrong keys. Try again in ${formatCount(waitS, 'second')}.`;
      reply.code(429).header('retry-after', String(waitS));
      return sendPage(reply, renderSignInPage(next, problem));
    }
    const cookie = await authentication.signIn(request.headers, readText(form, 'key'));
    if (cookie !== undefined) {
      attempts.takeBack(request.ip);
      return reply.header('set-cookie', cookie).redirect(toOwnPath(next), 303);
    }
    return sendPage(
      reply.code(401),
      renderSignInPage(next, 'The service has no such key. Check it for typos.'),
    );
  });
  app.post('/sign-out', forAnyone, async (request, reply) => {
    const cookie = await authentication.signOut(request.headers);
    return reply.header('set-cookie', cookie).redirect('/sign-in', 303);
  });
}

/** Returns a path of this service; anything that could lead to another host becomes the overview. */
const toOwnPath = (next: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/');

/** Returns the path with its query that a request asked for, to return to after the sign-in. */
export const pathOf = ({ url, method }: FastifyRequest): string => (method === 'GET' ? url : '/');
