import type { IncomingHttpHeaders } from 'node:http';
import { digestKey, findCrossSiteProblem, isSameDigest } from '../../http-kit/local-access.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import type { Authentication, Caller } from '../domain/authentication.ts';
import { RequestError } from '../domain/errors.ts';
import type { OwnerStore } from '../store/store.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';

export interface AuthenticationOptions {
  /** The address that the service listens on. */
  host: string;
  owners: OwnerStore;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  /** The key that opens `/__admin` when other machines can reach it. */
  apiKey: string;
  unauthorizedCallers: Pick<UnauthorizedCallers, 'recordRejected' | 'recordAccepted'>;
}

/** Creates the authentication of a service. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { host, owners, apiKeyHeader, apiKey, unauthorizedCallers } = options;
  const isLocal = isLoopbackHost(host);
  const adminDigest = digestKey(apiKey);

  const findCaller = async (
    key: string,
    problem: string,
    headers: Record<string, string> = {},
  ): Promise<Caller> => {
    const keyDigest = digestKey(key);
    const caller = key === '' ? undefined : await owners.findByKey(keyDigest);
    if (caller && isSameDigest(caller.keyDigest, keyDigest)) return caller;
    const message = `${apiKeyHeader} must contain an API key: ${problem}.`;
    throw new RequestError('unauthorized', message, headers);
  };
  const readKey = (headers: IncomingHttpHeaders): string => {
    const value = headers[apiKeyHeader];
    return typeof value === 'string' ? value : '';
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
        if (error instanceof RequestError) await unauthorizedCallers.recordRejected(problem);
        throw error;
      }
    },
    checkAdmin(headers) {
      if (isLocal) checkSameSite(headers);
      else if (!isSameDigest(digestKey(readKey(headers)), adminDigest)) {
        const message = `${apiKeyHeader} must contain the first API key of this service.`;
        throw new RequestError('unauthorized', message);
      }
    },
    async authenticateReader(headers) {
      if (isLocal) {
        checkSameSite(headers);
        return undefined;
      }
      const key = readKey(headers) || readBasicPassword(headers);
      return findCaller(key, describeProblem(key, {}), {
        'www-authenticate': 'Basic realm="sandbox-kit", charset="UTF-8"',
      });
    },
  };
}

function describeProblem(key: string, { authorization }: IncomingHttpHeaders): string {
  if (key !== '') return 'the key is unknown';
  if (authorization === undefined) return 'the header is missing';
  return 'the header is missing, and Authorization is ignored';
}

function readBasicPassword({ authorization = '' }: IncomingHttpHeaders): string {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

function checkSameSite(headers: IncomingHttpHeaders): void {
  const problem = findCrossSiteProblem(headers);
  if (problem !== undefined) throw new RequestError('forbidden', problem);
}
