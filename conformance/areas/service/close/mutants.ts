import { valueAt } from '../../../../src/contract/index.ts';
import {
  changes,
  drop,
  instead,
  isAccepted,
  json,
  onAccepted,
  replaces,
  set,
  to,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant } from '../../../engine/mutants/mutant.ts';
import { type Item } from '../edits.ts';
import type { RequirementId } from '../../../engine/requirement.ts';

const mutant = mutantsOf('service');
const end = to('end');

const closed = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  ...edits: Edit[]
): Mutant => mutant(name, breaks, kills, onAccepted('end', ...edits));

/** Edits close responses that say something of a field. */
const where =
  (pointer: string, is: (value: unknown) => boolean, edit: Edit): Edit =>
  (body, asked) => {
    if (is(valueAt(body, pointer))) edit(body, asked);
  };

const isFirst = (body: Item): boolean => body['already_closed'] === undefined;
const first =
  (edit: Edit): Edit =>
  (body, asked) => {
    if (isFirst(body)) edit(body, asked);
  };
const repeated =
  (edit: Edit): Edit =>
  (body, asked) => {
    if (!isFirst(body)) edit(body, asked);
  };

const EVERY_CLOSE: readonly RequirementId[] = [
  'SERVICE-040',
  'SERVICE-045',
  'SERVICE-105',
  'SERVICE-106',
];

const answers: Mutant[] = [
  mutant(
    'end-204',
    'Closes with an empty 204.',
    EVERY_CLOSE,
    replaces(end, { status: 204, headers: {}, body: '' }, isAccepted),
  ),
  mutant(
    'end-text',
    'Closes with the word OK.',
    EVERY_CLOSE,
    replaces(end, { body: 'OK' }, isAccepted),
  ),
  mutant(
    'end-not-there',
    'Has no end call.',
    EVERY_CLOSE,
    instead(end, () => json(404, { message: 'No.' })),
  ),
  closed(
    'conversation-id-missing',
    'Does not say what it closed.',
    'SERVICE-041',
    drop('/conversation_id'),
  ),
  closed(
    'conversation-id-other',
    'Gives an id of its own.',
    'SERVICE-041',
    set('/conversation_id', 'conv-1'),
  ),
  closed('status-closed', 'Says closed.', 'SERVICE-042', set('/status', 'closed')),
  closed('status-missing', 'Says no status.', 'SERVICE-042', drop('/status')),
  closed('run-missing', 'Names no run.', 'SERVICE-043', drop('/run')),
  closed('run-null', 'Makes the run null.', 'SERVICE-043', set('/run', null)),
  closed('queued-text', 'Gives the count as text.', 'SERVICE-044', set('/evaluations_queued', '2')),
  closed('queued-missing', 'Gives no count.', 'SERVICE-044', drop('/evaluations_queued')),
  closed('repeat-not-told', 'Does not tell a repeat.', 'SERVICE-045', drop('/already_closed')),
  closed(
    'repeat-false',
    'Says false of a repeat.',
    'SERVICE-045',
    repeated(set('/already_closed', false)),
  ),
  mutant(
    'repeat-409',
    'Refuses a repeat.',
    'SERVICE-045',
    changes(end, (answer) =>
      answer.body.includes('already_closed') ? json(409, { message: 'No.' }) : answer,
    ),
  ),
  closed(
    'first-told-as-repeat',
    'Calls every close a repeat.',
    'SERVICE-046',
    set('/already_closed', true),
  ),
  mutant(
    'unknown-200',
    'Closes what it does not know.',
    'SERVICE-048',
    changes(end, (answer) =>
      answer.status === 404 ? json(200, { status: 'evaluating' }) : answer,
    ),
  ),
  mutant(
    'unknown-400',
    'Refuses unknown conversations with 400.',
    'SERVICE-048',
    replaces(end, { status: 400 }, ({ status }) => status === 404),
  ),
  closed(
    'queues-less',
    'Queues one eval of two.',
    'SERVICE-049',
    first(where('/evaluations_queued', (count) => count === 2, set('/evaluations_queued', 1))),
  ),
  {
    ...closed(
      'queues-six',
      'Queues six evals.',
      ['SERVICE-049', 'SERVICE-050'],
      first(where('/evaluations_queued', (count) => count === 2, set('/evaluations_queued', 6))),
    ),
    // The judge waits for as many evaluations.
    clockFactor: 20,
  },
  closed(
    'queues-none-as-two',
    'Queues evals that nobody configured.',
    'SERVICE-051',
    first(where('/evaluations_queued', (count) => count === 0, set('/evaluations_queued', 2))),
  ),
  closed(
    'queues-deleted',
    'Queues an eval that was deleted.',
    'SERVICE-053',
    first(where('/evaluations_queued', (count) => count === 1, set('/evaluations_queued', 2))),
  ),
];

/** Mutants of the close response. */
export const serviceCloseMutants: readonly Mutant[] = answers;
