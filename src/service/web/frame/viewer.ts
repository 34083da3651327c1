import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../platform/clock.ts';
import type { PageAccess, PageAuthentication } from '../../domain/authentication.ts';
import type { SdkSettings } from '../../domain/sdk-settings.ts';
import type { KitFunctions } from '../../domain/kit-functions.ts';
import type { RejectedRequests } from '../../domain/rejected-requests.ts';
import type { Simulations } from '../../operations/simulations.ts';
import type { CloseResult, Store } from '../../store/store.ts';
import type { PageContext } from './page-frame.ts';
import { readForm, readToken } from './forms.ts';
import type { LiveUpdates } from './live.ts';

/** What the routes of all pages need. */
export interface PageOptions extends Viewers {
  store: Store;
  simulations: Simulations;
  authentication: PageAuthentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
  live: LiveUpdates;
  /** Closes a conversation, as the close endpoint does; undefined if it does not exist. */
  close: (conversation: {
    ownerId: string;
    conversationId: string;
  }) => Promise<CloseResult | undefined>;
  sdkSettings: readonly SdkSettings[];
  rejectedRequests: Pick<RejectedRequests, 'find'>;
  /** The service clock. */
  clock: Clock;
  /** Functions of other packages; undefined if the service was started without them. */
  kit: KitFunctions | undefined;
}

/** The owner whose data a request may see, and the reader of its pages. */
export interface Viewer {
  ownerId: string;
  context: PageContext;
}

/** Finds out what the requests for pages may see and change. */
export interface Viewers {
  /** Finds the owner whose data a request may see. @throws RequestError if it may see no data. */
  findViewer: (request: FastifyRequest) => Promise<Viewer>;
  /** Returns the owners whose sessions a deep link may show, and the reader of the page. */
  findOwners: (
    request: FastifyRequest,
  ) => Promise<{ ownerIds: readonly string[]; context: PageContext }>;
  /**
   * Finds the owner whose data a form may change, and reads the form.
   * @throws RequestError if the form was not sent by a page of this service, or its reader may not
   * change anything.
   */
  findEditor: (request: FastifyRequest) => Promise<Viewer & { form: FormData }>;
}

/** Creates what finds the viewers of a service. `findOwner` finds the owner that a query names. */
export function createViewers(
  {
    store,
    authentication,
    apiKeyHeader,
  }: Pick<PageOptions, 'store' | 'authentication' | 'apiKeyHeader'>,
  findOwner: (request: FastifyRequest) => Promise<string>,
): Viewers {
  const findViewer: Viewers['findViewer'] = async (request) => {
    const access = await authentication.authenticateReader(request.headers);
    // A reader on this machine may see the pages of every owner.
    const ownerId = access.ownerId ?? (await findOwner(request));
    return { ownerId, context: readContext(request, access, apiKeyHeader) };
  };
  return {
    findViewer,
    async findOwners(request) {
      const access = await authentication.authenticateReader(request.headers);
      const { ownerId } = access;
      const ownerIds = ownerId === undefined ? await store.owners.listIds() : [ownerId];
      return { ownerIds, context: readContext(request, access, apiKeyHeader) };
    },
    async findEditor(request) {
      const access = await authentication.authenticateReader(request.headers);
      const form = await readForm(request);
      authentication.checkForm(request.headers, access, readToken(form));
      return { ...(await findViewer(request)), form };
    },
  };
}

function readContext(
  request: FastifyRequest,
  { ownerId, token, hasSession }: PageAccess,
  apiKeyHeader: string,
): PageContext {
  const query = readQuery(request);
  return {
    // The key of other readers decides which owner they see.
    owner: ownerId === undefined ? (query.get('owner') ?? undefined) : undefined,
    serviceUrl: `${request.protocol}://${request.host}`,
    token,
    // Readers beyond loopback have a key.
    keyHeader: ownerId === undefined ? undefined : apiKeyHeader,
    hasSession,
    notice: query.get('notice') ?? undefined,
  };
}

/** Returns the query of a request. */
export function readQuery({ url }: Pick<FastifyRequest, 'url'>): URLSearchParams {
  const queryStart = url.indexOf('?');
  return new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
}
