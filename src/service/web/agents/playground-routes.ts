import { findDocument } from '../../operations/documents.ts';
import {
  beginConversation,
  sayTo,
  toUpload,
  type PlaygroundDeps,
} from '../../operations/playground.ts';
import { storeTranscript, type TranscriptOptions } from '../../operations/transcripts.ts';
import { goTo, type Pages } from '../frame/pages.ts';
import { linkToSession } from '../sessions/session-links.ts';
import { readPlayground, renderPlaygroundPage } from './playground-page.ts';

/** What conversations with agents read and store. */
export interface PlaygroundOptions extends Omit<PlaygroundDeps, 'store'>, TranscriptOptions {
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Adds the page where a person chats with an agent. */
export function addPlaygroundRoutes({ page, form }: Pages, options: PlaygroundOptions): void {
  const { store, stopping: signal } = options;
  page('/agents/:id/chat', async ({ ownerId, context, params }) => {
    const agent = await findDocument(store, ownerId, 'agent', params.id);
    return renderPlaygroundPage({ agent, conversation: beginConversation() }, context);
  });
  form('/agents/:id/chat', async ({ ownerId, context, params, form: sent }) => {
    const agent = await findDocument(store, ownerId, 'agent', params.id);
    const { conversation, line, problem } = readPlayground(sent);
    if (problem !== undefined) {
      const content = { agent, conversation, line, problem };
      return { status: 400, page: renderPlaygroundPage(content, context) };
    }
    const where = { ownerId, agentId: agent.id, signal };
    const continued = await sayTo(options, where, conversation, line);
    return renderPlaygroundPage({ agent, conversation: continued }, context);
  });
  form('/agents/:id/chat/score', async ({ ownerId, context, params, form: sent }) => {
    const agent = await findDocument(store, ownerId, 'agent', params.id);
    const { conversation } = readPlayground(sent);
    const { id } = await storeTranscript(options, ownerId, toUpload(conversation, agent.name));
    const session = await store.sessions.find(ownerId, id);
    const location = session && linkToSession(session, context);
    return location === undefined
      ? goTo(context, '/sessions', { kind: 'production' })
      : { status: 303, location };
  });
}
