/** Many wrong keys that arrive while the first ones are still looked up in a database. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { createHttpServer } from '../../../../src/http-kit/server.ts';
import { manualClock } from '../../../../src/platform/manual-clock.ts';
import { RequestError } from '../../../../src/service/requests/errors.ts';
import { acceptForms } from '../../../../src/service/web/frame/forms.ts';
import { addSignInRoutes } from '../../../../src/service/web/frame/sign-in.ts';
import type { PageAuthentication } from '../../../../src/service/requests/authentication.ts';

const RIGHT_KEY = 'the-right-key';
const unexpected = () => Promise.reject(new Error('not expected'));

void t.test('keys that are checked concurrently count when they arrive', async (t) => {
  // The keys are checked together, after all requests have arrived.
  let release = Promise.withResolvers<undefined>();
  const authentication: PageAuthentication = {
    checkSender: () => undefined,
    checkForm: () => undefined,
    authenticateReader: unexpected,
    signOut: unexpected,
    async signIn(_headers, key) {
      await release.promise;
      return key === RIGHT_KEY ? 'session=1' : undefined;
    },
  };
  const error = new RequestError('failed', 'failed');
  const app = createHttpServer({
    contentType: 'application/json',
    toHttpError: () => error,
    toParserError: () => error,
    sendError: (reply) => reply.code(error.status).send(error.body),
    logServerError: (_method, cause) => t.fail(String(cause)),
  });
  t.teardown(() => app.close());
  acceptForms(app, authentication);
  addSignInRoutes(app, { authentication, clock: manualClock(0) });
  const signIn = async (key: string): Promise<number> => {
    const payload = new URLSearchParams({ key, next: '/' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await app.inject({ method: 'POST', url: '/sign-in', headers, payload })).statusCode;
  };
  const signInAll = async (keys: readonly string[]): Promise<number[]> => {
    release = Promise.withResolvers();
    const statuses = keys.map(signIn);
    for (let nth = 0; nth < 50; nth += 1) await setImmediate();
    release.resolve(undefined);
    return (await Promise.all(statuses)).toSorted();
  };
  t.same(await signInAll(Array<string>(10).fill(RIGHT_KEY)), Array(10).fill(303));
  const wrong = Array.from({ length: 30 }, (_, nth) => `wrong-key-${nth}`);
  t.same(await signInAll(wrong), [...Array<number>(10).fill(401), ...Array<number>(20).fill(429)]);
});
