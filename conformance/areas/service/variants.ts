import { serviceApiKeyHeader } from '../../../src/contract/index.ts';
import {
  always,
  changes,
  edited,
  instead,
  isError,
  json,
  onAccepted,
  replaces,
  set,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import { variantsOf, type Variant } from '../../engine/mutants/mutant.ts';
import { serviceLateVariants } from './late/mutants.ts';
import { serviceRateVariants } from './rate/mutants.ts';
import { serviceSumVariants } from './sums/mutants.ts';
import { strangerVariants } from './other-services.ts';
import { asks, listOf, onItems, onPages, param, type Item } from './edits.ts';

const variant = variantsOf('service');

const traces = to('traces');
const isOfArea: When = ({ endpoint }) => endpoint !== undefined && endpoint !== 'admin';
const isRefusedKey: When = ({ headers, ...asked }) =>
  isOfArea({ headers, ...asked }) &&
  (headers[serviceApiKeyHeader] === undefined ||
    headers[serviceApiKeyHeader] === 'sandbox-kit-wrong-key');

const errors: Variant[] = [
  variant(
    'keys-403',
    'Refuses keys with 403 and no body.',
    instead(isRefusedKey, () => ({ status: 403, headers: {}, body: '' })),
  ),
  variant(
    'keys-404',
    'Shows nothing to who has no key.',
    instead(isRefusedKey, () => json(404, { detail: 'Not Found' })),
  ),
  variant(
    'error-bodies',
    'Has other bodies for all but the 400.',
    changes(isOfArea, (answer) =>
      isError(answer) && answer.status !== 400 ? { ...answer, body: 'no' } : answer,
    ),
  ),
  variant(
    'error-fields',
    'Says more with each error.',
    changes(isOfArea, (answer, asked) =>
      isError(answer) ? edited(answer, asked, set('/code', 7)) : answer,
    ),
  ),
  variant(
    'message-object',
    'Has an object for a message.',
    changes(traces, (answer, asked) =>
      answer.status === 400 ? edited(answer, asked, set('/message', { text: 'No.' })) : answer,
    ),
  ),
  variant(
    'odd-taken',
    'Takes queries that it can not read.',
    changes(
      (asked) => asked.endpoint === 'production',
      (answer) =>
        answer.status === 400 ? json(200, { items: [], total: 0, skip: 0, limit: 50 }) : answer,
    ),
  ),
];

const responses: Variant[] = [
  variant(
    'json-empty-body',
    'Answers JSON traces with no bytes.',
    replaces(traces, { body: '', headers: {} }, ({ status }) => status === 200),
  ),
  variant(
    'protobuf-json',
    'Answers all traces with {}.',
    replaces(traces, { body: '{}' }, ({ status }) => status === 200),
  ),
  variant(
    'end-201',
    'Closes with 201.',
    replaces(to('end'), { status: 201 }, ({ status }) => status === 200),
  ),
  variant(
    'end-first-false',
    'Says already_closed false of a first close.',
    onAccepted('end', (body) => {
      body['already_closed'] ??= false;
    }),
  ),
  variant(
    'end-repeat-count',
    'Repeats the first count.',
    onAccepted('end', (body) => {
      if (body['already_closed'] === true) body['evaluations_queued'] = 2;
    }),
  ),
  variant(
    'end-repeat-brief',
    'Says no more of a repeat than that it is one.',
    changes(to('end'), (answer) =>
      answer.body.includes('already_closed')
        ? json(200, { already_closed: true, conversation_id: conversationIn(answer.body) })
        : answer,
    ),
  ),
  variant(
    'end-unscored',
    'Says closed, and no run, where nothing is queued.',
    onAccepted('end', (body) => {
      if (body['evaluations_queued'] !== 0) return;
      body['status'] = 'closed';
      Reflect.deleteProperty(body, 'run');
    }),
  ),
  variant(
    'reads-206',
    'Answers reads with 206.',
    replaces(
      (asked) => asked.endpoint === 'production' || asked.endpoint === 'simulations',
      { status: 206 },
      ({ status }) => status === 200,
    ),
  ),
  variant(
    'extra-fields',
    'Sends fields that nobody knows.',
    changes(
      (asked) => isOfArea(asked) && asked.endpoint !== 'traces',
      (answer, asked) => edited(answer, asked, set('/request_id', 'r-1')),
    ),
  ),
];

const conversationIn = (body: string): unknown => (JSON.parse(body) as Item)['conversation_id'];

const zoned = (item: Item): void => {
  for (const key of ['started_at', 'ended_at'])
    item[key] = String(item[key]).replace('Z', '+00:00');
};

const results: Variant[] = [
  variant(
    'limit-echo-501',
    'Echoes the limit that was asked for, also over the cap.',
    onPages(
      'production',
      (page, asked) => {
        page['limit'] = Number(param(asked, 'limit'));
      },
      asks('limit'),
    ),
  ),
  variant('zone-offset', 'Gives times with an offset.', onItems('production', zoned)),
  variant(
    'outcome-passed',
    'Says passed and failed.',
    onItems('production', (item) => {
      for (const outcome of listOf(item, 'eval_outcomes'))
        outcome['outcome'] = `${String(outcome['outcome'])}ed`.replace('passed', 'success');
    }),
  ),
  variant(
    'eval-narrows',
    'Lists the outcomes alone that eval names.',
    onItems(
      'production',
      (item, asked) => {
        const name = (param(asked, 'eval') ?? '').toLowerCase();
        item['eval_outcomes'] = listOf(item, 'eval_outcomes').filter((one) =>
          String(one['eval_name']).toLowerCase().includes(name),
        );
      },
      asks('eval'),
    ),
  ),
  variant(
    'status-other',
    'Calls sessions done.',
    onItems('production', (item) => {
      item['status'] = 'done';
    }),
  ),
  variant(
    'extra-session-fields',
    'Tells more of a session.',
    onItems('simulations', (item) => {
      item['id'] = 7;
      item['simulation_id'] = null;
    }),
  ),
  variant(
    'turn-nulls',
    'Has null for what was not said, and numbers turns from 0.',
    onItems('simulations', (item) => {
      for (const [index, turn] of listOf(item, 'traces').entries())
        Object.assign(turn, { session_sequence: index, user_reason: null });
    }),
  ),
  variant(
    'no-slash-404',
    'Has no path without the slash at the end.',
    instead(
      ({ path }) => path === '/api/prod-evaluations/sessions',
      () => json(404, {}),
    ),
  ),
  variant('chunked', 'Sends bodies in chunks.', replaces(always, { framing: 'chunked' })),
];

/** Legal variants of the service. */
export const serviceVariants: readonly Variant[] = [
  ...errors,
  ...responses,
  ...results,
  ...serviceLateVariants,
  ...serviceRateVariants,
  ...serviceSumVariants,
  ...strangerVariants,
];
