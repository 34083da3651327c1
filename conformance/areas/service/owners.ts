/** Which owner a request of a run belongs to, and which sessions are known to belong to whom. */
import { listAt, resolvePointer } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import type { ResultsObject } from './results-api.ts';
import { findUpload, sentSpans, sessionsOf } from './transcript.ts';

/** Returns the owner whose key a request had; that of the run's own key without a control API. */
export const ownerOf = ({ owner = 'main' }: Exchange): string => owner;

/** The owners of what the run sent, uploaded, and seeded. */
interface KnownOwners {
  /** By conversation id, which two owners can share. */
  conversations: ReadonlyMap<unknown, ReadonlySet<string>>;
  /** By the name of the simulation. */
  simulations: ReadonlyMap<unknown, ReadonlySet<string>>;
}

const findKnownOwners = computeOnce((transcript: Transcript): KnownOwners => {
  const conversations = new Map<unknown, Set<string>>();
  const simulations = new Map<unknown, Set<string>>();
  const addOwner = (owners: Map<unknown, Set<string>>, key: unknown, owner: string): void => {
    owners.set(key, (owners.get(key) ?? new Set()).add(owner));
  };
  for (const exchange of transcript.exchanges) {
    if (exchange.endpoint === 'traces' && isAccepted(exchange)) {
      for (const { attributes } of sentSpans(exchange)) {
        const id =
          attributes['gen_ai.conversation.id'] ?? exchange.request.headers['x-conversation-id'];
        addOwner(conversations, id, ownerOf(exchange));
      }
    }
    const owner = exchange.step === 'many' ? 'paged' : 'main';
    if (exchange.endpoint !== 'admin' || !['make main', 'many'].includes(exchange.step)) continue;
    for (const simulation of listAt(exchange.sent, '/simulations')) {
      addOwner(simulations, resolvePointer(simulation, '/name'), owner);
    }
    for (const run of listAt(exchange.sent, '/runs')) {
      for (const session of listAt(run, '/sessions')) {
        addOwner(conversations, resolvePointer(session, '/source_session_id'), owner);
      }
    }
  }
  const uploadId = findUpload(transcript)?.['session_id'];
  if (uploadId !== undefined) addOwner(conversations, uploadId, 'main');
  return { conversations, simulations };
});

/** Returns whether a listed session is known to belong to an owner other than that of the page. */
export function isForeign(session: ResultsObject, page: Exchange, transcript: Transcript): boolean {
  const { conversations, simulations } = findKnownOwners(transcript);
  const owners =
    page.endpoint === 'production'
      ? conversations.get(session['source_session_id'])
      : simulations.get(session['simulation']);
  return owners !== undefined && !owners.has(ownerOf(page));
}

/** Returns the response to another owner's request with the same URL that a page repeats. */
export const findSharedResponse = (page: Exchange, transcript: Transcript): Exchange | undefined =>
  transcript.exchanges.find(
    (other) =>
      ownerOf(other) !== ownerOf(page) &&
      other.request.path === page.request.path &&
      other.startedMs <= page.endedMs &&
      other.response !== undefined &&
      other.response.body === page.response?.body &&
      findForeignIndex(other, transcript) < 0,
  );

/** Returns the index of the first session of another owner on a page; -1 if there is none. */
export const findForeignIndex = (page: Exchange, transcript: Transcript): number =>
  sessionsOf(page).findIndex((session) => isForeign(session, page, transcript));
