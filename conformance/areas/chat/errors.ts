/** The bodies of error responses to chat requests (spec 7). */
import { always, drop, type Edit, editErrors, set, to } from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import { failOnOddMetadata, HTML_ERROR, rateLimitOnce } from '../error-mutants.ts';
import { errorsOf } from '../errors.ts';

const { shape, strings, badRequest, rateLimit, serverError } = errorsOf({
  endpoint: 'chat',
  isRefused: always,
  isJudged: ({ endpoint }) => endpoint === 'chat',
  requests: 'chat request',
});

const sends = (description: string, ...edits: Edit[]): DistortionEntry => ({
  description,
  transform: editErrors(to('chat'), ...edits),
});

const probes = ['chat/refusals'];

export const errors: Subject = {
  requirements: {
    'CHAT-070': shape({
      statements: ['4.5.6', '7.b1'],
      probes,
      mutants: {
        'rate-limit-no-error': {
          description: 'Sends a 429 without `error`.',
          transform: rateLimitOnce('chat', { message: 'Too many requests' }),
        },
        'failure-html': {
          description: 'Sends a 500 with an HTML error page.',
          transform: failOnOddMetadata('chat', () => ({ status: 500, ...HTML_ERROR })),
        },
      },
    }),
    'CHAT-071': strings({
      statements: ['7.b1', '7.b2'],
      probes,
      mutants: {
        'error-no-code': sends('Omits `error.code`.', drop('/error/code')),
        'error-code-null': sends('Sends `error.code` as null.', set('/error/code', null)),
        'error-message-a-list': sends(
          'Sends `error.message` as an array.',
          set('/error/message', ['messages is missing']),
        ),
      },
    }),
    'CHAT-072': badRequest({ statements: ['4.5.6', '7.b3', '7.b4'], probes }),
    'CHAT-073': rateLimit({
      statements: ['4.5.6', '7.b6'],
      mutants: {
        'rate-limit-type': {
          description: 'Sends a 429 with its own error type.',
          transform: rateLimitOnce('chat', {
            error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
          }),
        },
      },
    }),
    'CHAT-074': serverError({
      statements: ['4.5.6', '7.b7'],
      mutants: {
        'failure-type': {
          description: 'Sends a 500 with the error type of a bad request.',
          transform: failOnOddMetadata('chat', () => ({
            ...errorResponse(400, 'bad_request'),
            status: 500,
          })),
        },
      },
    }),
  },
  legal: {
    'error-extra-fields': sends(
      'Adds unknown fields to its errors.',
      set('/error/param', 'messages'),
      set('/request_id', 'r-1'),
    ),
  },
};
