import { readQuery } from '../../../http-kit/query.ts';
import { holdTurns } from '../../sessions/transcripts.ts';
import type { Session, SessionKind, Store } from '../../store/store.ts';
import { renderMissingSessionPage } from '../frame/page-frame.ts';
import { sendAnswer, type Answer, type Pages } from '../frame/pages.ts';
import type { Reader } from '../frame/viewer.ts';
import { findRun, loadRunPage, unknownRun, type RunPageOptions } from '../runs/load-run-page.ts';
import { renderRunPage } from '../runs/run-page.ts';
import { loadSessionPage } from '../sessions/load-session-page.ts';
import { renderSessionPage } from '../sessions/session-page.ts';

/** The sources of the pages of deep links. */
export interface DeepLinkOptions extends RunPageOptions {
  store: Store;
}

/** What a deep link names. */
interface DeepLink {
  kind: SessionKind;
  /** The id of a run or simulation. */
  id: string;
  query: URLSearchParams;
}

/**
 * Adds the pages that the deep links of results lead to (spec 2.4, 2.5): a session of a run or
 * simulation, or the run itself if the link names no session.
 */
export function addDeepLinkRoutes({ app, findReader }: Pages, options: DeepLinkOptions): void {
  const paths = { simulation: '/simulation/:id', production: '/production-eval/:id' } as const;
  for (const kind of ['simulation', 'production'] as const) {
    app.get<{ Params: { id: string } }>(paths[kind], async (request, reply) => {
      const reader = await findReader(request);
      const link = { kind, id: request.params.id, query: readQuery(request) };
      const show = link.query.has('sessionId') ? showSession : showRun;
      return sendAnswer(reply, await show(options, reader, link));
    });
  }
}

async function showRun(
  options: DeepLinkOptions,
  reader: Reader,
  { kind, id, query }: DeepLink,
): Promise<Answer> {
  const { context, ref } = await findRun(options, reader, { kind, id });
  const page = await loadRunPage(options, ref, query);
  if (!page) throw unknownRun(kind);
  return renderRunPage(page, context);
}

/** Shows a session if it belongs to the run or simulation that the link names. */
async function showSession(
  { store }: DeepLinkOptions,
  { context, findOwner, listOwners }: Reader,
  { kind, id, query }: DeepLink,
): Promise<Answer> {
  const session = await findSession(store, await listOwners(), query.get('sessionId') ?? '');
  if (session?.kind !== kind || findParent(session) !== id) {
    return { status: 404, page: renderMissingSessionPage(context) };
  }
  const { ownerId } = session;
  // The links of the page name the owner if the pages would show another one by default.
  const isShown = (await findOwner()) === ownerId;
  const owner = isShown ? context.owner : await store.owners.findName(ownerId);
  using _held = await holdTurns(store, session);
  return renderSessionPage(await loadSessionPage(store, session, query), { ...context, owner });
}

/** Returns the id of the run or simulation of a session, unless that was deleted. */
const findParent = ({ kind, run, simulation }: Session): string | undefined =>
  kind === 'production' ? run?.id : simulation?.deleted ? undefined : simulation?.id;

async function findSession(
  { sessions }: Store,
  ownerIds: readonly string[],
  id: string,
): Promise<Session | undefined> {
  for (const ownerId of ownerIds) {
    const session = await sessions.find(ownerId, id);
    if (session) return session;
  }
  return undefined;
}
