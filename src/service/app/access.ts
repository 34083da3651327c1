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

/** What access control depends on: options of the service, and values derived from them. */
interface AccessOptions
  extends
    Pick<StartOptions, 'host' | 'keys' | 'recordCallers'>,
    Pick<StartKeys, 'apiKey' | 'ownerName'>,
    Pick<Access, 'apiKeyHeader' | 'appUrl'> {
  unauthorizedCallers: UnauthorizedCallers;
}

/** Creates the access control of a service. */
export function createAccess(
  { store: { owners }, machineClock, replica }: Base,
  options: AccessOptions,
): Access {
  const { keys, apiKey, ownerName, apiKeyHeader, appUrl } = options;
  const isSecure = (): boolean => appUrl().startsWith('https:');
  const sessions = createPageSessions(machineClock, isSecure, replica);
  return {
    apiKeyHeader,
    appUrl,
    ownerName,
    owners: createRequestOwners(owners, ownerName),
    authentication: createAuthentication({ ...options, owners, sessions }),
    callerRecorder:
      options.recordCallers === true
        ? createCallerRecorder({
            // Clients act in real time, even when a test moves the service clock.
            clock: systemClock,
            apiKeyHeader,
            secrets: [apiKey, ...keys.map(({ key }) => key)],
          })
        : undefined,
  };
}
