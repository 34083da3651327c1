/** Services that show other turns than those that were sent. */
import type { ProxyRequest, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry } from '../../../engine/requirement.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { conversationIdIn, onSessions, spanIdsIn } from '../transforms.ts';

type TurnListEdit = (turns: ResultsObject[]) => ResultsObject[];

type TurnEdit = (turn: ResultsObject, index: number, turns: ResultsObject[]) => void;

/** A mutant that edits each turn. */
export const editTurns = (
  endpoint: ResultsEndpoint,
  description: string,
  edit: TurnEdit,
): MutantEntry => ({
  description,
  transform: onSessions(endpoint, (session) => objectsAt(session, 'traces').forEach(edit)),
});

/** A mutant that edits each turn of production sessions. */
export const editProductionTurns = (description: string, edit: TurnEdit): MutantEntry =>
  editTurns('production', description, edit);

/** Edits the turns of a session, if it shows them. */
export function editTurnsOf(session: ResultsObject, edit: TurnListEdit): void {
  if (Array.isArray(session['traces'])) session['traces'] = edit(objectsAt(session, 'traces'));
}

/** A mutant that edits the lists of turns. */
export const editTurnLists = (description: string, edit: TurnListEdit): MutantEntry => ({
  description,
  transform: onSessions('production', (session) => editTurnsOf(session, edit)),
});

/** Edits the turns of conversations with a trace request that matches. */
export function onTurnsOfRequests(
  matches: (request: ProxyRequest, knownIds: ReadonlySet<string>) => boolean,
  edit: TurnListEdit,
): TransformFactory {
  return (): Transform => {
    const knownIds = new Set<string>();
    const ids = new Set<string>();
    const editMatching = onSessions('production', (session) => {
      if (ids.has(String(session['source_session_id']))) editTurnsOf(session, edit);
    })();
    return async (request, forward, clock) => {
      if (request.endpoint === 'traces') {
        const id = conversationIdIn(request.body);
        if (id !== undefined && matches(request, knownIds)) ids.add(id);
        for (const spanId of spanIdsIn(request.body)) knownIds.add(spanId);
      }
      return editMatching(request, forward, clock);
    };
  };
}
