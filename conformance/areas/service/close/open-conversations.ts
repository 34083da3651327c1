/** Conversations that no client has ended (spec 3.1). */
import {
  formatValue,
  resolvePointer,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import { checkEach, outcomeFinding, type Check } from '../../../engine/checks/check.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { isRateLimited } from '../../../engine/transcript/reading.ts';
import { requirePlainRight, wrongValue } from '../findings.ts';
import { conversationIdOf, isConversationAccepted, isStep, sessionsById } from '../transcript.ts';
import { conversationIdIn, refusal } from '../transforms.ts';
import { doesNotMarkFirstClose } from './already-closed.ts';
import {
  CLOSE_OF_LEFT_OPEN,
  isClosed,
  LEFT_OPEN_SUBJECT,
  notClosed,
  requirePlainClose,
} from './evidence.ts';

export const openConversations: Subject = {
  requirements: {
    'SERVICE-181': {
      rule: 'A conversation without an end call stays open: it has no results, and the first end call closes it.',
      section: '3.1',
      statements: ['2.3.7', '3.1.4', '3.1.6', '3.1.8'],
      reason: 'Turns that arrive after the close would not be scored.',
      observability: 'provoked',
      probes: ['service/production'],
      check: requirePlainClose(requirePlainRight([doesNotMarkFirstClose()], staysOpen())),
      mutants: {
        'closes-by-itself': {
          description: 'Closes a conversation although no client has ended it.',
          transform: closeByItself,
        },
        'forgets-open': {
          description: 'Forgets a conversation that is open for some seconds.',
          transform: forgetOpen,
        },
      },
    },
  },
};

const STAYS_OPEN_HINT =
  'Close a conversation only on its end call, or after 24 hours without spans.';

/** Requires that a conversation was neither closed nor scored before its only end call. */
function staysOpen(): Check {
  return checkEach(
    (exchange, transcript) =>
      isStep(exchange, 'end', CLOSE_OF_LEFT_OPEN) &&
      exchange.response !== undefined &&
      !isRateLimited(exchange) &&
      isConversationAccepted(conversationIdOf(exchange), transcript),
    (close, { exchanges }) => {
      const id = conversationIdOf(close);
      if (!isClosed(close)) {
        const expected = `a 2xx response, because ${formatValue(id)} was sent and not closed`;
        return [outcomeFinding(close, expected)];
      }
      const page = exchanges.find(
        (exchange) => exchange.id < close.id && sessionsById(exchange, id).length > 0,
      );
      if (page) {
        const expected = `no results of ${formatValue(id)} before its end call`;
        return [{ ...wrongValue(page, '/items', expected, 'listed'), hint: STAYS_OPEN_HINT }];
      }
      if (resolvePointer(close.json, '/already_closed') !== true) return [];
      const expected = 'absent or false, because it is the first end call';
      return [{ ...wrongValue(close, '/already_closed', expected), hint: STAYS_OPEN_HINT }];
    },
    notClosed,
  );
}

/** Ends a conversation as soon as its spans have arrived. */
function closeByItself(): Transform {
  return async (request, forward) => {
    const response = await forward(request);
    if (request.endpoint !== 'traces' || !request.body.includes(LEFT_OPEN_SUBJECT)) return response;
    const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    await forward({
      endpoint: 'end',
      method: 'POST',
      body: '',
      json: undefined,
      path: `/v1/sessions/${conversationIdIn(request.body) ?? ''}/end`,
      headers: { [SERVICE_API_KEY_HEADER]: key },
      connection: request.connection,
    });
    return response;
  };
}

/** Responds with 404 to the end call of the conversation that was open for longest. */
function forgetOpen(): Transform {
  let openId: string | undefined;
  return async (request, forward) => {
    const { endpoint, body, path } = request;
    if (endpoint === 'traces' && body.includes(LEFT_OPEN_SUBJECT)) openId = conversationIdIn(body);
    const isForgotten = endpoint === 'end' && openId !== undefined && path.includes(openId);
    return isForgotten ? refusal(404) : forward(request);
  };
}
