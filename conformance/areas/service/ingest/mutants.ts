import type { RequirementId } from '../../../engine/requirement.ts';
import {
  always,
  instead,
  isAccepted,
  json,
  replaces,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import { hasKey, hasWrongKey } from '../edits.ts';
import {
  mutantsOf,
  type ProxyResponse,
  type Mutant,
  type Transform,
} from '../../../engine/mutants/mutant.ts';

const mutant = mutantsOf('service');

const traces = (when: When = always): When => to('traces', when);
const says =
  (text: string): When =>
  ({ body }) =>
    body.includes(text);
const typed =
  (type: string): When =>
  ({ headers }) =>
    headers['content-type'] === type;
const zipped: When = ({ headers }) => headers['content-encoding'] === 'gzip';
const plainJson: When = (asked) => typed('application/json')(asked) && !zipped(asked);
const wellFormed: When = ({ json: sent }) => sent !== undefined;

const no = (status: number): ProxyResponse => json(status, { message: 'No.' });
const EMPTY = json(200, {});

const refuses = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  when: When,
  status = 400,
): Mutant =>
  mutant(
    name,
    breaks,
    kills,
    instead(traces(when), () => no(status)),
  );

/** Refuses what it has seen before. */
function refusesAgain(): Transform {
  const seen = new Set<string>();
  return async (asked, forward) => {
    if (asked.endpoint !== 'traces' || !plainJson(asked)) return forward(asked);
    if (seen.has(asked.body)) return no(409);
    seen.add(asked.body);
    return forward(asked);
  };
}

const taking: Mutant[] = [
  refuses(
    'json-refused',
    'Takes no JSON.',
    'SERVICE-001',
    (asked) => plainJson(asked) && wellFormed(asked),
  ),
  refuses(
    'hex-refused',
    'Wants ids in base64.',
    'SERVICE-001',
    (asked) => plainJson(asked) && /"spanId":"[0-9a-f]{16}"/.test(asked.body),
  ),
  refuses(
    'json-500',
    'Breaks on JSON.',
    ['SERVICE-001', 'SERVICE-010', 'SERVICE-011'],
    (asked) =>
      [plainJson, wellFormed, hasKey, says('resourceSpans')].every((when) => when(asked)) &&
      !hasWrongKey(asked),
    500,
  ),
  refuses(
    'protobuf-refused',
    'Takes no protobuf.',
    'SERVICE-002',
    (asked) => typed('application/x-protobuf')(asked) && !zipped(asked),
    415,
  ),
  refuses('gzip-refused', 'Takes no gzip.', 'SERVICE-003', zipped, 415),
  refuses(
    'header-ignored',
    'Does not read X-Conversation-Id.',
    'SERVICE-004',
    ({ headers }) => headers['x-conversation-id'] !== undefined,
  ),
  mutant(
    'traces-202',
    'Takes traces with 202.',
    'SERVICE-005',
    replaces(traces(), { status: 202 }, isAccepted),
  ),
  mutant(
    'traces-204',
    'Takes traces with 204.',
    'SERVICE-005',
    replaces(traces(), { status: 204, body: '', headers: {} }, isAccepted),
  ),
  mutant(
    'partial-success',
    'Reports spans as rejected.',
    'SERVICE-006',
    replaces(traces(), { body: '{"partialSuccess":{"rejectedSpans":"1"}}' }, isAccepted),
  ),
  mutant(
    'traces-text',
    'Answers OK to traces.',
    'SERVICE-006',
    replaces(traces(), { body: 'OK' }, isAccepted),
  ),
  refuses(
    'nameless-refused',
    'Refuses spans without an operation name.',
    'SERVICE-007',
    says('GET /orders'),
  ),
  mutant('resent-refused', 'Refuses spans that it has.', 'SERVICE-008', refusesAgain),
  refuses('tools-refused', 'Knows no tools.', 'SERVICE-009', says('execute_tool')),
  refuses('errors-refused', 'Refuses failed spans.', 'SERVICE-009', says('"code":2')),
  refuses('wrappers-refused', 'Refuses wrappers.', 'SERVICE-009', says('invoke_agent')),
  mutant(
    'odd-500',
    'Breaks on a body that is not JSON.',
    'SERVICE-011',
    instead(
      traces((asked) => plainJson(asked) && !wellFormed(asked)),
      () => no(500),
    ),
  ),
  mutant(
    'odd-dropped',
    'Drops the connection when messages can not be read.',
    'SERVICE-011',
    () => async (asked, forward) =>
      traces(says('kvlistValue'))(asked) ? 'dropped' : forward(asked),
  ),
];

const lacksId: When = (asked) =>
  plainJson(asked) &&
  says('resourceSpans')(asked) &&
  says('gen_ai.operation.name')(asked) &&
  !says('gen_ai.conversation.id')(asked) &&
  asked.headers['x-conversation-id'] === undefined;
const otherType: When = ({ headers }) =>
  /^(text|application\/(xml|octet))/.test(headers['content-type'] ?? '');
const refusing: Mutant[] = [
  mutant(
    'no-id-taken',
    'Takes spans of no conversation.',
    'SERVICE-020',
    instead(traces(lacksId), () => EMPTY),
  ),
  refuses('no-id-422', 'Refuses spans of no conversation with 422.', 'SERVICE-020', lacksId, 422),
  mutant(
    'no-id-error',
    'Says error in place of message.',
    'SERVICE-021',
    instead(traces(lacksId), () => json(400, { error: 'No id.' })),
  ),
  mutant(
    'no-id-text',
    'Says in plain text that there is no id.',
    'SERVICE-021',
    instead(traces(lacksId), () => ({ ...no(400), body: 'No id.' })),
  ),
  mutant(
    'any-type-taken',
    'Takes any content type.',
    'SERVICE-022',
    instead(traces(otherType), () => EMPTY),
  ),
  refuses('other-type-400', 'Refuses other content types with 400.', 'SERVICE-022', otherType),
  refuses('xml-406', 'Refuses XML with 406.', 'SERVICE-022', typed('application/xml'), 406),
];

/** Mutants of `POST /v1/traces`. */
export const serviceIngestMutants: readonly Mutant[] = [...taking, ...refusing];
