import type { BrowserCalls } from '../../operations/browser-calls.ts';
import { findDocument } from '../../operations/documents.ts';
import type { Store } from '../../store/store.ts';
import type { Pages } from '../frame/pages.ts';
import type { AddSocketRoute } from '../frame/sockets.ts';
import { renderCallPage } from './call-page.ts';

/** Adds the page where a person calls an agent from the browser, and the WebSocket of the call. */
export function addCallRoutes(
  { page }: Pages,
  addSocketRoute: AddSocketRoute,
  { store, browserCalls }: { store: Pick<Store, 'documents'>; browserCalls: BrowserCalls },
): void {
  page('/agents/:id/call', async ({ ownerId, context, params }) =>
    renderCallPage(await findDocument(store, ownerId, 'agent', params.id), context),
  );
  addSocketRoute('/agents/:id/call/socket', ({ ownerId, params, accept }) =>
    browserCalls.relay({ ownerId, agentId: params.id, accept }),
  );
}
