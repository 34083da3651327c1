import { systemClock } from '../../platform/clock.ts';
import { createRequestOwners, type RequestOwners } from '../admin/request-owners.ts';
import type { Authentication, PageAuthentication } from '../requests/authentication.ts';
import { createAuthentication } from './authentication.ts';
import type { Base } from './base.ts';
import { createCallerRecorder, type CallerRecorder } from './caller-recorder.ts';
import type { StartKeys } from './keys.ts';
import type { StartOptions } from './options.ts';
import { createPageSessions } from './page-sessions.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';

/** Decides what a request may do, and for which owner. */
export interface Access {
  authentication: Authentication & PageAuthentication;
  owners: RequestOwners;
  /** The owner that `/__admin` requests are about when they name none. */
  ownerName: string;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
  /** Records what callers send; undefined to record nothing. */
  callerRecorder: CallerRecorder | undefined;
}

/** Creates the access control of a service. */
export function createAccess(
  { store: { owners }, machineClock, replica }: Base,
  {
    options,
    startKeys: { apiKey, ownerName },
    apiKeyHeader,
    appUrl,
    unauthorizedCallers,
  }: {
    options: Pick<StartOptions, 'host' | 'keys' | 'recordCallers'>;
    startKeys: StartKeys;
    apiKeyHeader: string;
    appUrl: () => string;
    unauthorizedCallers: UnauthorizedCallers;
  },
): Access {
  const isSecure = (): boolean => appUrl().startsWith('https:');
  const sessions = createPageSessions(machineClock, isSecure, replica);
  const { host } = options;
  return {
    apiKeyHeader,
    appUrl,
    ownerName,
    owners: createRequestOwners(owners, ownerName),
    authentication: createAuthentication({
      host,
      owners,
      apiKeyHeader,
      apiKey,
      sessions,
      appUrl,
      unauthorizedCallers,
    }),
    callerRecorder:
      options.recordCallers === true
        ? createCallerRecorder({
            // Clients act in real time, even when a test moves the service clock.
            clock: systemClock,
            apiKeyHeader,
            secrets: [apiKey, ...options.keys.map(({ key }) => key)],
          })
        : undefined,
  };
}
