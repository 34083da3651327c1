import type { IncomingHttpHeaders } from 'node:http';
import {
  digestKey,
  findCrossSiteProblem,
  findForwardingHeader,
  isSameDigest,
} from '../../http-kit/local-access.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import { readExporter } from '../exporters/exporter-name.ts';
import type { Authentication, Caller, PageAuthentication } from '../requests/authentication.ts';
import { RequestError } from '../requests/errors.ts';
import type { OwnerStore } from '../store/store.ts';
import { createPageAuthentication } from './page-authentication.ts';
import type { PageSessions } from './page-sessions.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';

export interface AuthenticationOptions {
  /** The address that the service listens on. */
  host: string;
  owners: OwnerStore;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  /** The key that opens `/__admin` when other machines can reach it. */
  apiKey: string;
  sessions: PageSessions;
  /** Returns the base URL of the service for browsers. */
  appUrl: () => string;
  unauthorizedCallers: Pick<UnauthorizedCallers, 'recordRejected' | 'recordAccepted'>;
}

/** Creates the authentication of a service. */
export function createAuthentication(
  options: AuthenticationOptions,
): Authentication & PageAuthentication {
  const { host, owners, apiKeyHeader, apiKey, sessions, appUrl, unauthorizedCallers } = options;
  const isLoopback = isLoopbackHost(host);
  const adminDigest = digestKey(apiKey);

  const findOwner = async (keyDigest: string): Promise<Caller | undefined> => {
    const caller = await owners.findByKey(keyDigest);
    return caller && isSameDigest(caller.keyDigest, keyDigest) ? caller : undefined;
  };
  const findCaller = async (key: string, problem: string, hint = ''): Promise<Caller> => {
    const caller = key === '' ? undefined : await findOwner(digestKey(key));
    if (caller) return caller;
    const message = `${apiKeyHeader} must contain an API key: ${problem}.${hint}`;
    throw new RequestError('unauthorized', message);
  };
  const readKey = (headers: IncomingHttpHeaders): string => {
    const value = headers[apiKeyHeader];
    return typeof value === 'string' ? value : '';
  };
  const checkLocal = (headers: IncomingHttpHeaders): boolean => {
    if (!isLoopback || findForwardingHeader(headers) !== undefined) return false;
    const problem = findCrossSiteProblem(headers);
    if (problem !== undefined) throw new RequestError('forbidden', problem);
    return true;
  };
  const explainProxy = (headers: IncomingHttpHeaders): string => {
    const name = isLoopback ? findForwardingHeader(headers) : undefined;
    if (name === undefined) return '';
    return ` The request has the header ${name}, and a request through a proxy needs a key.`;
  };
  return {
    async authenticateCaller(headers) {
      const key = readKey(headers);
      const problem = describeProblem(key, headers);
      try {
        const caller = await findCaller(key, problem);
        unauthorizedCallers.recordAccepted();
        return caller;
      } catch (error) {
        if (error instanceof RequestError) {
          await unauthorizedCallers.recordRejected(problem, readExporter(headers));
        }
        throw error;
      }
    },
    checkAdmin(headers) {
      if (checkLocal(headers) || isSameDigest(digestKey(readKey(headers)), adminDigest)) return;
      const message = `${apiKeyHeader} must contain the first API key of this service.`;
      throw new RequestError('unauthorized', message + explainProxy(headers));
    },
    ...createPageAuthentication({
      sessions,
      appUrl,
      adminDigest,
      findOwner,
      checkLocal,
      findKeyOwner: (headers) => {
        const key = readKey(headers);
        return findCaller(key, describeProblem(key, {}), explainProxy(headers));
      },
    }),
  };
}

function describeProblem(key: string, { authorization }: IncomingHttpHeaders): string {
  if (key !== '') return 'the key is unknown';
  if (authorization === undefined) return 'the header is missing';
  return 'the header is missing, and Authorization is ignored';
}
