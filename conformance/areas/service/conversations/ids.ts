/** Ids of conversations that are easy to confuse: by case, by encoding, and by owner (spec 2.1, 4.2, 5). */
import {
  formatValue,
  resolvePointer,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  type Check,
  explainNoValidResponse,
  type Finding,
  outcomeFinding,
  unjudgedAs,
} from '../../../engine/checks/check.ts';
import { requirePlainAccepted } from '../../../engine/checks/responses.ts';
import {
  chain,
  changeRequest,
  changeResponse,
  editAccepted,
  isSuccess,
  jsonResponse,
  respondInstead,
  to,
  withBody,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  PREFLIGHT,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { queuesEvals } from '../close/evidence.ts';
import { refusesUnknown } from '../close/unknown-conversations.ts';
import { requireAll, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { findChangedId, noteIfUnscored } from '../results/unlisted.ts';
import { sessionsIn } from '../results-api.ts';
import { traces } from '../traces/trace-requests.ts';
import {
  conversationIdOf,
  isReadAfterDrain,
  isStep,
  lastAccepted,
  sessionsOf,
} from '../transcript.ts';
import { conversationIdIn, refusal, fastClock, hasValidKey, onPages } from '../transforms.ts';

type IdName = 'case' | 'other case' | 'reserved' | 'slash' | 'long';

const isPlainTraces = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'json');
const isPlainClose = (exchange: Exchange): boolean => isStep(exchange, 'end', 'close json');

const isFirstClose = (exchange: Exchange): boolean =>
  isAccepted(exchange) && isObject(exchange.json) && exchange.json['already_closed'] !== true;

const hasEncodedId: When = ({ endpoint, path }) => endpoint === 'end' && path.includes('%');
const hasLongId: When = ({ path, body }) => /a{64}/.test(path + body);

export const conversationIds: Subject = {
  requirements: withDefaults(
    {
      reason:
        'Turns would be scored as part of another conversation, or the conversation could never be closed.',
      observability: 'provoked',
      probes: ['service/ids'],
    },
    {
      'SERVICE-065': {
        rule: 'Conversation ids that differ only in case identify different conversations.',
        statements: ['2.1.1', '4.2.2'],
        probes: ['service/ids', 'service/refusals'],
        check: requireAll(
          closesById(
            ['case', 'other case'],
            'Compare ids byte by byte. Some databases ignore case when they compare text.',
          ),
          requirePlainRight(
            [refusesUnknown('unknown', 'unknown again')],
            refusesUnknown('known id in other case'),
          ),
        ),
        mutants: {
          'ids-folded': {
            description: 'Ignores the case of ids.',
            transform: foldRequestIds,
            ...fastClock,
          },
          'ids-told-folded': {
            description: 'Returns ids in lower case.',
            transform: editAccepted('end', (body) => {
              body['conversation_id'] = foldIds(String(body['conversation_id']));
            }),
          },
          'known-in-other-case': {
            description: 'Ignores the case of an id that it does not know.',
            transform: respondInstead(
              to('end', ({ path }) => path.includes('/SK-')),
              ({ path }) => jsonResponse(200, { conversation_id: path, status: 'evaluating' }),
            ),
          },
        },
      },
      'SERVICE-066': {
        rule: '`POST /v1/sessions/{id}/end` accepts ids with encoded spaces, colons, slashes, percent signs, and non-ASCII letters, ids with a `+`, encoded or not, and an id of 100 characters unless `POST /v1/traces` refuses it.',
        section: '4.2',
        statements: ['2.1.1', '4.2.2'],
        check: closesById(
          ['reserved', 'slash', 'long'],
          'Split the path at its slashes before you decode the id, and decode it only once.',
        ),
        mutants: {
          'encoded-ids-unknown': {
            description: 'Does not decode the id in the path.',
            transform: respondInstead(hasEncodedId, () => refusal(404)),
          },
          'slash-unknown': {
            description: 'Treats an encoded slash as a path separator.',
            transform: respondInstead(
              ({ path }) => path.includes('%2F'),
              () => refusal(404),
            ),
          },
          'ids-cut': {
            description: 'Keeps only the first 32 characters of ids.',
            transform: editAccepted('end', (body) => {
              body['conversation_id'] = String(body['conversation_id']).slice(0, 32);
            }),
          },
          'colon-unknown': {
            description: 'Reads an id only up to a colon.',
            transform: respondInstead(
              to('end', ({ path }) => path.includes('%3A')),
              () => refusal(404),
            ),
          },
          'plus-as-space': {
            description: 'Reads a plus sign in the path as a space.',
            transform: changeRequest(to('end'), (request) => ({
              ...request,
              path: request.path.replaceAll('+', '%20'),
            })),
          },
          'unusual-ids-unlisted': {
            description: 'Does not list conversations whose ids have a space.',
            transform: hideIdsWith(' '),
            ...fastClock,
          },
          'ids-decoded-twice': { description: 'Decodes ids twice.', transform: decodeTwice },
          'ids-told-encoded': {
            description: 'Returns ids in their encoded form.',
            transform: changeResponse(hasEncodedId, (response, request) => {
              if (!isSuccess(response)) return response;
              const body = JSON.parse(response.body) as object;
              const encodedId = request.path.split('/')[3];
              return { ...response, body: JSON.stringify({ ...body, conversation_id: encodedId }) };
            }),
          },
        },
        legal: {
          'long-ids-refused': {
            description: 'Refuses conversation ids of more than 64 characters.',
            transform: chain(
              respondInstead(traces(hasLongId), () => refusal(400)),
              respondInstead(to('end', hasLongId), () => refusal(404)),
            ),
          },
          'unscored-unlisted': {
            description: 'Does not list a conversation whose evals ended without an outcome.',
            transform: hideIdsWith('?'),
            ...fastClock,
          },
        },
      },
      'SERVICE-067': {
        rule: 'A key cannot close a conversation of another owner.',
        statements: ['5.a3'],
        reason:
          'Later spans are not scored, so any customer could cut off the conversations of others.',
        check: closesOnlyForOwner(),
        mutants: {
          'closes-of-others': {
            description: 'Closes conversations of other owners.',
            transform: closeForOthers(true),
          },
          'says-closed-to-others': {
            description: 'Pretends to close conversations of other owners.',
            transform: closeForOthers(false),
          },
        },
      },
    },
  ),
};

/**
 * Judges unusual ids only if a conversation with a plain id was accepted and closed. The specification
 * does not limit the length of ids, so a service may refuse the spans of a long one.
 */
function closesById(names: readonly IdName[], hint: string): Check {
  const closeSteps = names.map((name) => `close ${name}` as const);
  const check: Check = {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          !isRateLimited(exchange) &&
          (isStep(exchange, 'traces', ...names) || isStep(exchange, 'end', ...closeSteps)),
      ),
    judge(evidence, transcript) {
      const refused = evidence.find(
        (exchange) =>
          exchange.endpoint === 'traces' && exchange.intent === 'valid' && !isAccepted(exchange),
      );
      if (refused) return [outcomeFinding(refused, 'a 2xx response')];
      const closes = evidence.filter(({ endpoint }) => endpoint === 'end');
      const findings = closes.flatMap((close) => findWrongClose(close, transcript, hint));
      return findings.length > 0 ? findings : findUnlisted(closes, transcript);
    },
    unjudged: explainNoValidResponse('end'),
  };
  return requirePlainAccepted(
    isPlainTraces,
    isAccepted,
    requirePlainAccepted(isPlainClose, isFirstClose, check),
  );
}

/** Returns whether the service accepted the spans of a conversation. */
const hasSpans = (id: string | undefined, { exchanges }: Transcript): boolean =>
  exchanges.some(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      conversationIdOf(exchange) === id &&
      isAccepted(exchange) &&
      !rejectsSpans(exchange),
  );

/** Returns whether a response with a 2xx status reports rejected spans, as OTLP allows. */
function rejectsSpans({ json }: Exchange): boolean {
  const rejected = resolvePointer(json, '/partialSuccess/rejectedSpans') ?? 0;
  return rejected !== 0 && rejected !== '0';
}

const RETURNED_ID_HINT = 'Return the id as the spans have it: decoded once, in the same case.';

/** Advises on an id that comes back in another form. */
function findReturnedHint(id: string, returned: unknown): string {
  if (typeof returned !== 'string' || returned.length === 0) return RETURNED_ID_HINT;
  if (id.startsWith(returned)) {
    return `Keep ids whole: this one is cut after ${returned.length} characters.`;
  }
  const [from, to] = [Array.from(id), Array.from(returned)];
  const at = from.findIndex((character, index) => character !== to[index]);
  const [sent = '', found = ''] = [from[at], to[at]];
  return id.length === returned.length && sent.toLowerCase() !== found.toLowerCase()
    ? `Keep every character of an id: ${formatValue(sent)} became ${formatValue(found)}.`
    : RETURNED_ID_HINT;
}

function findWrongClose(close: Exchange, transcript: Transcript, hint: string): Finding[] {
  const id = conversationIdOf(close);
  if (!hasSpans(id, transcript)) return [];
  if (!isAccepted(close) || !isObject(close.json)) {
    const expected = `a 2xx response, because ${formatValue(id)} was sent`;
    return [outcomeFinding(close, expected, findPlusHint(close, transcript) ?? hint)];
  }
  if (close.json['already_closed'] === true) {
    const expected = 'absent or false, because it is the first close';
    return [{ ...wrongValue(close, '/already_closed', expected), hint }];
  }
  if (!returnsPlainId(transcript) || close.json['conversation_id'] === id) return [];
  const returnedHint = findReturnedHint(id ?? '', close.json['conversation_id']);
  return [{ ...wrongValue(close, '/conversation_id', formatValue(id)), hint: returnedHint }];
}

/** Advises on a plus sign in the path if the other id with one, which is encoded, is known. */
function findPlusHint({ request }: Exchange, transcript: Transcript): string | undefined {
  const isPlusAlone =
    request.path.includes('+') && lastAccepted(transcript, 'end', 'close reserved');
  return isPlusAlone
    ? 'Split the path at its slashes before you decode the id, and decode only its escapes: a + in a path is a plus sign, and stands for a space only in a query.'
    : undefined;
}

/** If even a plain id is returned wrongly, another requirement reports it. */
function returnsPlainId({ exchanges }: Transcript): boolean {
  const plain = exchanges.find(isPlainClose);
  return !plain || resolvePointer(plain.json, '/conversation_id') === conversationIdOf(plain);
}

/**
 * Finds scored conversations that are not listed under their id, if the page lists another id of the
 * run that was never sent, or if no eval is queued anymore. Otherwise the service may still score.
 */
function findUnlisted(closes: readonly Exchange[], transcript: Transcript): Finding[] {
  const page = lastAccepted(transcript, 'production', 'ids');
  if (!page) return [];
  const listed = sessionsOf(page).map((session) => session['source_session_id']);
  const sent = new Set(transcript.exchanges.map(conversationIdOf));
  const changed = findChangedId(page, transcript);
  // If no session has the id that was sent, another requirement reports it.
  const isAnyListed = listed.some((other) => typeof other === 'string' && sent.has(other));
  if (!isAnyListed || (changed === undefined && !isReadAfterDrain(page, transcript))) return [];
  const unlisted = closes.filter(
    (each) => queuesEvals(each) && !listed.includes(conversationIdOf(each)),
  );
  return unlisted.map((each) => {
    const expected = `${formatValue(conversationIdOf(each))} listed by its id`;
    const seen = changed === undefined ? '' : `, but ${formatValue(changed)}`;
    const finding = wrongValue(page, '/items', expected, `not listed${seen}`);
    return noteIfUnscored(finding, { page, all: closes, unlisted }, transcript);
  });
}

/** If unknown conversations can be closed or plain ones can't, other requirements report it. */
function isCloseBroken({ exchanges }: Transcript): boolean {
  const plain = exchanges.filter(isPlainClose);
  const unknown = exchanges.find(
    ({ endpoint, probe }) => endpoint === 'end' && probe === PREFLIGHT,
  );
  return (
    (unknown !== undefined && isAccepted(unknown)) ||
    (plain.length > 0 && !plain.some(isFirstClose))
  );
}

/** Requires that another owner cannot close a conversation. */
function closesOnlyForOwner(): Check {
  const findOwnClose = ({ exchanges }: Transcript): Exchange | undefined =>
    exchanges.find((exchange) => isStep(exchange, 'end', 'close own') && isAccepted(exchange));
  return {
    evidence: (transcript) =>
      findOwnClose(transcript) && !isCloseBroken(transcript)
        ? transcript.exchanges.filter(
            (exchange) =>
              isStep(exchange, 'end', 'close of another') &&
              exchange.response &&
              !isRateLimited(exchange),
          )
        : [],
    judge: (evidence, transcript) =>
      evidence.flatMap((foreignClose) => {
        if (isAccepted(foreignClose)) {
          const expected = '404, because the conversation belongs to another owner';
          return [outcomeFinding(foreignClose, expected)];
        }
        const ownClose = findOwnClose(transcript);
        const expected = 'absent or false, because only a key of its owner can close it';
        return ownClose && resolvePointer(ownClose.json, '/already_closed') === true
          ? [wrongValue(ownClose, '/already_closed', expected)]
          : [];
      }),
    unjudged: requireControlApi(
      unjudgedAs('not_observed', 'No owner tried to close a conversation of another owner.'),
    ),
  };
}

/** Hides conversations whose ids have a character. */
function hideIdsWith(character: string): TransformFactory {
  return onPages('production', (page) => {
    const listed = sessionsIn(page);
    const items = listed.filter(({ source_session_id: id }) => !String(id).includes(character));
    // Pages of a longer list keep its total.
    if (items.length < listed.length) Object.assign(page, { items, total: items.length });
  });
}

/** Makes ids of the run equal that differ only in the case of their suffix. */
function foldIds(text: string): string {
  return text.replaceAll(
    /(sk-[a-z0-9]{8}-[a-z0-9]{8}-)ab/gi,
    (_all, prefix: string) => `${prefix}ab`,
  );
}

function foldRequestIds(): Transform {
  return async (request, forward) => {
    const path = foldIds(request.path);
    const body = foldIds(request.body);
    const isSame = path === request.path && body === request.body;
    return forward(isSame ? request : { ...withBody(request, body), path });
  };
}

function decodeTwice(): Transform {
  return async (request, forward) => {
    const [, id] = /^\/v1\/sessions\/([^/]*)\/end$/.exec(request.path) ?? [];
    if (id === undefined || !hasEncodedId(request)) return forward(request);
    const decoded = encodeURIComponent(decodeURIComponent(decodeURIComponent(id)));
    return forward({ ...request, path: `/v1/sessions/${decoded}/end` });
  };
}

/** Accepts end calls for conversations of other owners; really closes them or only says so. */
function closeForOthers(isReallyClosed: boolean): TransformFactory {
  return () => {
    const keyById = new Map<string, string>();
    return async (request, forward) => {
      const { endpoint, headers, body, path } = request;
      const id = conversationIdIn(endpoint === 'traces' ? body : path);
      const isStored = hasValidKey(request) && body.includes('gen_ai.operation.name');
      if (endpoint === 'traces' && isStored && id !== undefined) {
        keyById.set(id, headers[SERVICE_API_KEY_HEADER] ?? '');
      }
      const response = await forward(request);
      const ownKey = keyById.get(id ?? '');
      if (endpoint !== 'end' || response.status !== 404 || ownKey === undefined) return response;
      if (isReallyClosed) {
        return forward({ ...request, headers: { ...headers, [SERVICE_API_KEY_HEADER]: ownKey } });
      }
      return jsonResponse(200, {
        conversation_id: id,
        status: 'evaluating',
        run: 'Any',
        evaluations_queued: 0,
      });
    };
  };
}
