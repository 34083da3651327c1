import {
  chain,
  changeResponse,
  jsonResponse,
  editAccepted,
  replaceParts,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import type { ResultsObject } from '../results-api.ts';
import { onSessions, variant } from '../transforms.ts';

const end = to('end');

/** Moves the date of a run name to the front. */
const moveDateFirst = (body: ResultsObject): void => {
  body['run'] = String(body['run']).replace(/^(.*) (\d{4}-\d\d-\d\d)$/, '$2 $1');
};

/** Legal variants of closing a conversation. */
export const closeVariants: readonly Variant[] = [
  variant(
    'end-201',
    'Returns 201 to end calls.',
    replaceParts(end, { status: 201 }, ({ status }) => status === 200),
  ),
  variant(
    'end-first-false',
    'Returns already_closed: false on the first end call.',
    editAccepted('end', (body) => {
      body['already_closed'] ??= false;
    }),
  ),
  variant(
    'end-repeat-count',
    'Returns the original evaluations_queued on a repeated end call.',
    editAccepted('end', (body) => {
      if (body['already_closed'] === true) body['evaluations_queued'] = 2;
    }),
  ),
  variant(
    'end-repeat-brief',
    'Returns only already_closed and conversation_id on a repeated end call.',
    changeResponse(end, (response) => {
      if (!response.body.includes('already_closed')) return response;
      const { conversation_id: id } = JSON.parse(response.body) as ResultsObject;
      return jsonResponse(200, { already_closed: true, conversation_id: id });
    }),
  ),
  variant(
    'end-unscored',
    'Returns status closed and no run when nothing is queued.',
    editAccepted('end', (body) => {
      if (body['evaluations_queued'] !== 0) return;
      body['status'] = 'closed';
      Reflect.deleteProperty(body, 'run');
    }),
  ),
  variant(
    'run-date-first',
    'Puts the date before the base name of the run.',
    chain(editAccepted('end', moveDateFirst), onSessions('production', moveDateFirst)),
  ),
];
