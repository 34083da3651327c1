import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  unjudgedAs,
  explainNoValidResponse,
  outcomeFinding,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { requirePlainAccepted } from '../../../engine/checks/responses.ts';
import {
  type Exchange,
  PREFLIGHT,
  type Transcript,
  isAccepted,
  isRateLimited,
} from '../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import { isStep } from '../steps.ts';
import {
  conversationIdOf,
  isConversationAccepted,
  lastAccepted,
  sessionsOf,
} from '../transcript.ts';
import type { idRequirements } from './requirements.ts';

type IdName = 'case' | 'other case' | 'reserved' | 'slash';

const isPlainTraces = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'json');
const isPlainClose = (exchange: Exchange): boolean => isStep(exchange, 'end', 'close json');

const isFirstClose = (exchange: Exchange): boolean =>
  isAccepted(exchange) && isObject(exchange.json) && exchange.json['already_closed'] !== true;

/** Judges unusual ids only if a conversation with a plain id was accepted and closed. */
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
        (exchange) => exchange.endpoint === 'traces' && !isAccepted(exchange),
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

function findWrongClose(close: Exchange, transcript: Transcript, hint: string): Finding[] {
  const id = conversationIdOf(close);
  if (!isConversationAccepted(id, transcript)) return [];
  if (!isAccepted(close) || !isObject(close.json)) {
    return [outcomeFinding(close, `a 2xx response, because ${formatValue(id)} was sent`, hint)];
  }
  if (close.json['already_closed'] === true) {
    const expected = 'absent or false, because it is the first close';
    return [{ ...wrongValue(close, '/already_closed', expected), hint }];
  }
  if (!returnsPlainId(transcript) || close.json['conversation_id'] === id) return [];
  return [{ ...wrongValue(close, '/conversation_id', formatValue(id)), hint }];
}

/** If even a plain id is returned wrongly, another requirement reports it. */
function returnsPlainId({ exchanges }: Transcript): boolean {
  const plain = exchanges.find(isPlainClose);
  return !plain || resolvePointer(plain.json, '/conversation_id') === conversationIdOf(plain);
}

/** Finds scored conversations that are not listed under their id although others of the probe are. */
function findUnlisted(closes: readonly Exchange[], transcript: Transcript): Finding[] {
  const page = lastAccepted(transcript, 'production', 'ids');
  if (!page) return [];
  const listed = new Set(sessionsOf(page).map((session) => session['source_session_id']));
  const isListed = (close: Exchange): boolean => listed.has(conversationIdOf(close));
  const isScored = ({ json }: Exchange): boolean =>
    Number(resolvePointer(json, '/evaluations_queued') ?? 0) > 0;
  const allCloses = transcript.exchanges.filter(
    (exchange) =>
      exchange.probe === page.probe && exchange.endpoint === 'end' && isAccepted(exchange),
  );
  if (!allCloses.some(isListed)) return [];
  return closes
    .filter((close) => isScored(close) && !isListed(close))
    .map((close) =>
      wrongValue(
        page,
        '/items',
        `${formatValue(conversationIdOf(close))} listed by its id`,
        'not listed',
      ),
    );
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
        const expected = 'absent or false, because only its own key can close it';
        return ownClose && resolvePointer(ownClose.json, '/already_closed') === true
          ? [wrongValue(ownClose, '/already_closed', expected)]
          : [];
      }),
    unjudged: requireControlApi(
      unjudgedAs('not_observed', 'No owner tried to close a conversation of another owner.'),
    ),
  };
}

/** The checks of conversation ids and their owners. */
export const idChecks = {
  'SERVICE-065': closesById(
    ['case', 'other case'],
    'Compare ids byte by byte. Some databases ignore case when they compare text.',
  ),
  'SERVICE-066': closesById(
    ['reserved', 'slash'],
    'Split the path at its slashes before you decode the id, and decode it only once.',
  ),
  'SERVICE-067': closesOnlyForOwner(),
} satisfies Record<keyof typeof idRequirements, Check>;
