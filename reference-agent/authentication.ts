import type { IncomingMessage } from 'node:http';
import {
  digestKey,
  findCrossSiteProblem,
  findForeignPageProblem,
  findForwardingHeader,
  isLoopbackAuthority,
  isSameDigest,
} from '../src/http-kit/local-access.ts';
import { isLoopbackHost } from '../src/platform/loopback.ts';
import { RequestError } from './errors.ts';

type RequestWithHeaders = Pick<IncomingMessage, 'headers'>;

/** Decides what a request may do. */
export interface Authentication {
  /**
   * @throws RequestError `forbidden` when the agent is on loopback and needs no key, and the request
   * may come from a web page of another machine.
   */
  checkOrigin(request: RequestWithHeaders): void;
  /** @throws RequestError `unauthorized` when the agent has a key and the request lacks it. */
  checkKey(request: RequestWithHeaders): void;
  /** @throws RequestError `forbidden` or `unauthorized` when the request may not use `/__admin`. */
  checkAdmin(request: RequestWithHeaders): void;
  /** Returns whether the request may inject a fault by header. The header is ignored otherwise. */
  mayInjectFault(request: RequestWithHeaders): boolean;
}

/** Creates the authentication of an agent that listens on `host`; `apiKey` null requires no key. */
export function createAuthentication(options: {
  host: string;
  apiKey: string | null;
  /** Whether callers without a key are allowed from anywhere. */
  open: boolean;
}): Authentication {
  const { host, apiKey, open } = options;
  const expected = apiKey === null ? null : digestKey(`Bearer ${apiKey}`);
  const hasKey = ({ headers }: RequestWithHeaders): boolean => {
    const authorization = (headers.authorization ?? '').replace(/^bearer +/i, 'Bearer ');
    return expected !== null && isSameDigest(digestKey(authorization), expected);
  };
  const isLoopback = isLoopbackHost(host);
  const isDirect = ({ headers }: RequestWithHeaders): boolean =>
    isLoopback && findForwardingHeader(headers) === undefined;

  const checkKey = (request: RequestWithHeaders): void => {
    if (expected === null || hasKey(request)) return;
    const message = 'Authorization must be Bearer followed by the API key of this agent.';
    throw new RequestError('unauthorized', message, { 'www-authenticate': 'Bearer' });
  };
  return {
    checkOrigin({ headers }) {
      // A web page can't know the key.
      if (!isLoopback || open || expected !== null) return;
      const problem = findForeignPageProblem(headers);
      if (problem === undefined) return;
      const hint = 'Set an API key to allow callers that send it.';
      throw new RequestError('forbidden', `${problem} ${hint}`);
    },
    checkKey,
    checkAdmin(request) {
      if (isDirect(request)) {
        const problem = findCrossSiteProblem(request.headers);
        if (problem !== undefined) throw new RequestError('forbidden', problem);
      } else if (expected === null) {
        const message =
          '/__admin is available only on loopback, without a proxy, or with an API key.';
        throw new RequestError('forbidden', message);
      } else checkKey(request);
    },
    mayInjectFault: (request) =>
      (isDirect(request) && isLoopbackAuthority(request.headers.host)) || hasKey(request),
  };
}
