/** The response to `POST /v1/sessions/{id}/end` (spec 2.3, 4.2). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import {
  drop,
  isSuccess,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { RequirementId, Subject } from '../../../engine/requirement.ts';
import { fieldsOf, missing } from '../../fields.ts';
import { needsScores, wrongValue } from '../findings.ts';
import type { EndStep } from '../steps.ts';
import { conversationIdOf, isStep } from '../transcript.ts';
import { refusal } from '../transforms.ts';
import {
  closes,
  editCloses,
  encodedCloses,
  idCloses,
  isClosed,
  isFirstClose,
  isScoringClose,
  laterCloses,
  notClosed,
} from './evidence.ts';

const end = to('end');

/** Closes that other requirements judge than the one for a plain close. */
const specialCloses: readonly EndStep[] = [
  'close again',
  'close header',
  'close attribute and header',
  'close first of two',
  'close second of two',
  ...encodedCloses,
  ...laterCloses,
  ...idCloses,
];

const closed = {
  endpoint: 'end',
  message: 'ClosedConversation',
  noun: 'close response',
  unjudged: needsScores('No close response queued any evals.'),
} as const;
const fieldOfScoringClose = fieldsOf({ ...closed, filter: isScoringClose });
const fieldOfFirstClose = fieldsOf({ ...closed, filter: isFirstClose });

const everyClose: readonly RequirementId[] = ['SERVICE-040'];

export const closeResponse: Subject = {
  requirements: {
    'SERVICE-040': {
      rule: '`POST /v1/sessions/{id}/end` without a body returns a JSON object with a 2xx status for a known conversation.',
      section: '4.2',
      statements: ['1.9', '3.1.4', '4.2.1', '4.2.2', '4.2.3', '4.2.4', '4.2.5', '9.1'],
      reason: 'The conversation would be scored only after 24 hours without activity.',
      probes: ['service/conversations'],
      check: closes((exchange) => !isStep(exchange, 'end', ...specialCloses)),
    },
    'SERVICE-041': {
      rule: '`conversation_id` in the close response is the id of the closed conversation.',
      statements: ['2.3.1', '2.3.2', '4.2.2'],
      reason: 'A client that closes many conversations cannot match the responses to them.',
      check: returnsConversationId(),
      mutants: {
        'conversation-id-missing': editCloses('Omits conversation_id.', drop('/conversation_id')),
        'conversation-id-other': editCloses(
          'Returns an internal id as conversation_id.',
          set('/conversation_id', 'conv-1'),
        ),
      },
    },
    'SERVICE-042': fieldOfScoringClose('/status', {
      rule: '`status` in the close response is `evaluating`.',
      statements: ['2.3.3', '3.1.5'],
      reason: 'Clients wait for results only if they read this status.',
      wrong: {
        'status-closed': ['Returns status closed.', 'closed'],
        'status-missing': ['Omits status.', missing],
      },
    }),
    'SERVICE-043': fieldOfScoringClose('/run', {
      rule: '`run` in the close response is a string.',
      statements: ['2.3.4'],
      reason: 'Clients use the run name to filter the results.',
      wrong: {
        'run-missing': ['Omits run.', missing],
        'run-null': ['Returns null as run.', null],
      },
    }),
    'SERVICE-044': fieldOfFirstClose('/evaluations_queued', {
      rule: '`evaluations_queued` in the close response is an integer of 0 or more.',
      statements: ['2.3.6'],
      reason: 'Clients wait until this many evaluations are in the results.',
      wrong: {
        'queued-text': ['Returns evaluations_queued as a string.', '2'],
        'queued-missing': ['Omits evaluations_queued.', missing],
      },
    }),
  },
  mutants: {
    'end-204': {
      description: 'Returns an empty 204 response to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { status: 204, headers: {}, body: '' }, isSuccess),
    },
    'end-text': {
      description: 'Returns the text OK to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { body: 'OK' }, isSuccess),
    },
    'end-not-there': {
      description: 'Does not implement end calls.',
      kills: everyClose,
      transform: respondInstead(end, () => refusal(404)),
    },
  },
  legal: {
    'end-201': {
      description: 'Returns 201 to end calls.',
      transform: replaceParts(end, { status: 201 }, ({ status }) => status === 200),
    },
    'end-unscored': editCloses(
      'Returns status closed and no run when nothing is queued.',
      (body) => {
        if (body['evaluations_queued'] !== 0 || body['already_closed'] === true) return;
        body['status'] = 'closed';
        Reflect.deleteProperty(body, 'run');
      },
    ),
  },
};

function returnsConversationId(): Check {
  return checkEach(
    (exchange) => isClosed(exchange) && !isStep(exchange, 'end', ...idCloses),
    (exchange) => {
      const id = conversationIdOf(exchange);
      if (resolvePointer(exchange.json, '/conversation_id') === id) return [];
      return [wrongValue(exchange, '/conversation_id', formatValue(id))];
    },
    notClosed,
  );
}
