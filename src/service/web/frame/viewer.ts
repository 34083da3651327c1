import type { FastifyRequest } from 'fastify';
import { readQuery } from '../../../http-kit/query.ts';
import type { PageAccess, PageAuthentication } from '../../requests/authentication.ts';
import type { Store } from '../../store/store.ts';
import type { PageContext } from './page-frame.ts';
import { readForm, readToken } from './forms.ts';

/** The reader of a page, before it is decided whose data the page shows. */
export interface Reader {
  context: PageContext;
  /** Returns the owner whose data the pages show. @throws RequestError if the query names an unknown one. */
  findOwner: () => Promise<string>;
  /** Returns the owners whose data a deep link may show, because it does not name the owner. */
  listOwners: () => Promise<readonly string[]>;
}

/** A reader, and the owner whose data the pages show. */
export interface Viewer extends Reader {
  ownerId: string;
}

/** Finds out what the requests for pages may see and change. Each authenticates its request once. */
export interface Viewers {
  /** Finds the reader of a page. @throws RequestError if the request may see no data. */
  findReader: (request: FastifyRequest) => Promise<Reader>;
  /** Finds the owner whose data a request may see. @throws RequestError if it may see no data. */
  findViewer: (request: FastifyRequest) => Promise<Viewer>;
  /**
   * Finds the owner whose data a form may change, and reads the form.
   * @throws RequestError if the form was not sent by a page of this service, or its reader may not
   * change anything.
   */
  findEditor: (request: FastifyRequest) => Promise<Viewer & { form: FormData }>;
  /** Like `findEditor`, for a request without a form that carries the token of its page elsewhere. */
  findEditorBy: (request: FastifyRequest, token: string) => Promise<Viewer>;
}

/** What decides what the requests for pages may see and change. */
export interface ViewerOptions {
  owners: Pick<Store['owners'], 'listIds'>;
  authentication: PageAuthentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
  /** Returns the id of the owner that the query names, or of the default owner. */
  findOwner: (request: FastifyRequest) => Promise<string>;
}

/** Creates what finds the viewers of a service. */
export function createViewers(options: ViewerOptions): Viewers {
  const { owners, authentication, apiKeyHeader, findOwner } = options;
  const toReader = (request: FastifyRequest, access: PageAccess): Reader => {
    const { ownerId } = access;
    return {
      context: readContext(request, access, apiKeyHeader),
      // A reader on this machine may see the pages of every owner.
      findOwner: async () => ownerId ?? findOwner(request),
      listOwners: async () => (ownerId === undefined ? owners.listIds() : [ownerId]),
    };
  };
  const toViewer = async (reader: Reader): Promise<Viewer> => ({
    ...reader,
    ownerId: await reader.findOwner(),
  });
  const findEditorBy = async (
    request: FastifyRequest,
    access: PageAccess,
    token: string,
  ): Promise<Viewer> => {
    authentication.checkForm(request.headers, access, token);
    return toViewer(toReader(request, access));
  };
  const findReader: Viewers['findReader'] = async (request) =>
    toReader(request, await authentication.authenticateReader(request.headers));
  return {
    findReader,
    findViewer: async (request) => toViewer(await findReader(request)),
    async findEditor(request) {
      const access = await authentication.authenticateReader(request.headers);
      const form = await readForm(request);
      return { ...(await findEditorBy(request, access, readToken(form))), form };
    },
    findEditorBy: async (request, token) =>
      findEditorBy(request, await authentication.authenticateReader(request.headers), token),
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
