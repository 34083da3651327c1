/** `POST /v1/traces`: requests that the service must refuse (spec 4.1, 7). */
import { isObject } from '../../../../src/platform/json.ts';
import { checkEach, unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import { checkRefused } from '../../../engine/checks/responses.ts';
import {
  changeResponse,
  editBody,
  jsonResponse,
  respondInstead,
  set,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type MutantEntry, type Subject } from '../../../engine/requirement.ts';
import { bodyFinding, requirePlainRight } from '../findings.ts';
import { hasTurnPerSpan, onceTurnsAreListed } from '../results/sent-turns.ts';
import { emptyTraceResponse, refusal } from '../transforms.ts';
import {
  contains,
  hasType,
  isPlainJson,
  noTraces,
  refuseTraces,
  traces,
} from './trace-requests.ts';
import { isStep } from '../transcript.ts';

/** Content types that the service refuses, which are also the names of the steps. */
export const otherTypes = [
  'text/plain',
  'application/octet-stream',
  'application/xml',
  // They begin or end like JSON, but are other formats.
  'application/json-seq',
  'application/ld+json',
] as const;

/** The step of a trace request without a content type. */
export const NO_TYPE = 'no content type';

const hasOtherType: When = ({ headers }) =>
  /^(text|application\/(xml|octet))/.test(headers['content-type'] ?? '');
const lacksConversationId: When = (request) =>
  isPlainJson(request) &&
  contains('resourceSpans')(request) &&
  contains('gen_ai.operation.name')(request) &&
  !contains('gen_ai.conversation.id')(request) &&
  request.headers['x-conversation-id'] === undefined;

const respondsTo = (when: When, description: string, response: ProxyResponse): MutantEntry => ({
  description,
  transform: respondInstead(traces(when), () => response),
});

const NO_TYPE_HINT = {
  accepted: 'Require a content type, because the format of the body is unknown without it.',
  crashed: 'Check that Content-Type is there before you read it, and respond with 415.',
};

export const refusedTraces: Subject = {
  requirements: withDefaults(
    { section: '7', observability: 'provoked', probes: ['service/refusals'] },
    {
      'SERVICE-020': {
        rule: '`POST /v1/traces` refuses spans without a conversation id with 400.',
        statements: ['2.1.3', '4.1.9', '7.a1'],
        reason: 'The spans would belong to no conversation, and the sender would not find out.',
        // Spans that the header of their request does not reach have no id, either.
        check: requirePlainRight(
          [onceTurnsAreListed(hasTurnPerSpan('header'))],
          checkRefused('traces', ['no id'], 400, noTraces, {
            'no id': {
              accepted:
                'Check that every span has gen_ai.conversation.id, unless X-Conversation-Id is sent, before you store any of them.',
              crashed:
                'Look for gen_ai.conversation.id in every span and for the header X-Conversation-Id before you use the id, and respond with 400 if both are missing.',
            },
          }),
        ),
        mutants: {
          'no-id-taken': respondsTo(
            lacksConversationId,
            'Accepts spans without a conversation id.',
            emptyTraceResponse,
          ),
          'no-id-422': refuseTraces(
            'Refuses spans without a conversation id with 422.',
            lacksConversationId,
            422,
          ),
        },
      },
      'SERVICE-021': {
        rule: 'The 400 response to spans without a conversation id is a JSON object with `message`.',
        statements: ['7.a2'],
        reason: 'The message tells the customer how to fix the instrumentation.',
        check: hasMessage(),
        mutants: {
          'no-id-error': respondsTo(
            lacksConversationId,
            'Returns error instead of message when the conversation id is missing.',
            jsonResponse(400, { error: 'No id.' }),
          ),
          'no-id-text': respondsTo(
            lacksConversationId,
            'Returns plain text when the conversation id is missing.',
            { ...refusal(400), body: 'No id.' },
          ),
        },
        legal: {
          'message-object': {
            description: 'Returns an object as the message of a 400 response.',
            transform: changeResponse(traces(), (response, request) =>
              response.status === 400
                ? editBody(response, request, set('/message', { text: 'Refused.' }))
                : response,
            ),
          },
        },
      },
      'SERVICE-022': {
        rule: '`POST /v1/traces` refuses content types other than JSON and protobuf with 415.',
        statements: ['4.1.9', '7.a7'],
        reason: 'The sender would believe that the service read the body.',
        check: refusesOtherTypes(),
        mutants: {
          'any-type-taken': respondsTo(
            hasOtherType,
            'Accepts every content type.',
            emptyTraceResponse,
          ),
          'other-type-400': refuseTraces('Refuses other content types with 400.', hasOtherType),
          'xml-406': refuseTraces('Refuses XML with 406.', hasType('application/xml'), 406),
          'json-sequence-taken': respondsTo(
            hasType('application/json-seq'),
            'Accepts every content type that begins with application/json.',
            emptyTraceResponse,
          ),
          'linked-data-taken': respondsTo(
            hasType('application/ld+json'),
            'Accepts every content type that ends with json.',
            emptyTraceResponse,
          ),
        },
      },
      'SERVICE-186': {
        level: 'should',
        rule: '`POST /v1/traces` refuses a body without a content type with 415.',
        statements: ['4.1.3', '7.a7'],
        reason: 'The service can only guess the format of the body.',
        check: checkRefused('traces', [NO_TYPE], 415, noTraces, { [NO_TYPE]: NO_TYPE_HINT }),
        mutants: {
          'no-type-taken': respondsTo(
            ({ headers, body }) => headers['content-type'] === undefined && body !== '',
            'Accepts a body without a content type.',
            emptyTraceResponse,
          ),
        },
      },
    },
  ),
};

function hasMessage(): Check {
  return checkEach(
    (exchange) => isStep(exchange, 'traces', 'no id') && exchange.response?.status === 400,
    (exchange) => {
      const message = isObject(exchange.json) ? exchange.json['message'] : undefined;
      return message !== undefined && message !== null
        ? []
        : [bodyFinding(exchange, '/message', 'a JSON object with message')];
    },
    unjudgedAs('not_observed', 'No trace request was refused because it lacks a conversation id.'),
  );
}

function refusesOtherTypes(): Check {
  const hint = {
    accepted:
      'Check Content-Type first: only application/json and application/x-protobuf are supported.',
    crashed: 'Check Content-Type before you read the body, and respond with 415.',
  };
  const hints = Object.fromEntries(otherTypes.map((type) => [type, hint]));
  return checkRefused('traces', otherTypes, 415, noTraces, hints);
}
