import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { serviceIdRequirements } from './requirements.ts';
import { oncePlain } from '../../../engine/checks/responses.ts';
import {
  notJudged,
  noValidResponse,
  wrongOutcome,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { wrong } from '../results/page-checks.ts';
import { conversationIdOf, isSent, sessionsOf, lastOf, needsControl } from '../reading.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  type Exchange,
  PREFLIGHT,
  type Transcript,
  isAccepted,
  isRateLimited,
} from '../../../engine/transcript/reading.ts';

const isPlain = (one: Exchange): boolean => one.endpoint === 'traces' && one.step === 'json';
const isPlainEnd = (one: Exchange): boolean => one.endpoint === 'end' && one.step === 'close json';

const isFirstClose = (one: Exchange): boolean =>
  isAccepted(one) && isObject(one.json) && one.json['already_closed'] !== true;

/** Conversations with an id that is special, judged where one with a plain id is taken and closed. */
function closedByItsId(names: readonly string[], hint: string): Check {
  const judged: Check = {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (one) =>
          !isRateLimited(one) &&
          names.some(
            (name) =>
              (one.endpoint === 'traces' && one.step === name) ||
              (one.endpoint === 'end' && one.step === `close ${name}`),
          ),
      ),
    judge(evidence, transcript) {
      const refused = evidence.find((one) => one.endpoint === 'traces' && !isAccepted(one));
      if (refused) return [wrongOutcome(refused, 'a 2xx answer')];
      const ends = evidence.filter(({ endpoint }) => endpoint === 'end');
      const findings = ends.flatMap((one) => wronglyClosed(one, transcript, hint));
      return findings.length > 0 ? findings : listedOtherwise(ends, transcript);
    },
    unjudged: noValidResponse('end'),
  };
  return oncePlain(isPlain, isAccepted, oncePlain(isPlainEnd, isFirstClose, judged));
}

function wronglyClosed(one: Exchange, transcript: Transcript, hint: string): Finding[] {
  const id = conversationIdOf(one);
  if (!isSent(id, transcript)) return [];
  if (!isAccepted(one) || !isObject(one.json)) {
    return [wrongOutcome(one, `a 2xx answer: ${brief(id)} is known`, hint)];
  }
  if (valueAt(one.json, '/already_closed') === true) {
    return [{ ...wrong(one, '/already_closed', 'nothing, or false: it is the first'), hint }];
  }
  if (!sameIds(transcript) || valueAt(one.json, '/conversation_id') === id) return [];
  return [{ ...wrong(one, '/conversation_id', brief(id)), hint }];
}

/** Whether a plain conversation is told by its own id: else that is what is wrong. */
function sameIds(transcript: Transcript): boolean {
  const plain = transcript.exchanges.find(isPlainEnd);
  return !plain || valueAt(plain.json, '/conversation_id') === conversationIdOf(plain);
}

/** Where some of them are listed by their ids, so must all be that were closed. */
function listedOtherwise(ends: readonly Exchange[], transcript: Transcript): Finding[] {
  const page = lastOf(transcript, 'production', 'ids');
  if (!page) return [];
  const listed = new Set(sessionsOf(page).map((item) => item['source_session_id']));
  const all = transcript.exchanges.filter(
    (one) => one.probe === page.probe && one.endpoint === 'end' && isAccepted(one),
  );
  const isScored = (one: Exchange): boolean =>
    Number(valueAt(one.json, '/evaluations_queued') ?? 0) > 0;
  if (!all.some((one) => listed.has(conversationIdOf(one)))) return [];
  return ends
    .filter((one) => isScored(one) && !listed.has(conversationIdOf(one)))
    .map((one) =>
      wrong(page, '/items', `${brief(conversationIdOf(one))} under its own id`, 'none'),
    );
}

/** Where a plain close is not what it must be, or one of nothing is taken, that is what is wrong. */
function closesAnything({ exchanges }: Transcript): boolean {
  const plain = exchanges.filter(isPlainEnd);
  const unknown = exchanges.find(
    ({ endpoint, probe }) => endpoint === 'end' && probe === PREFLIGHT,
  );
  return (
    (unknown !== undefined && isAccepted(unknown)) ||
    (plain.length > 0 && !plain.some(isFirstClose))
  );
}

/** What one owner has sent, another one does not close. */
function closedByItsOwner(): Check {
  const own = ({ exchanges }: Transcript): Exchange | undefined =>
    exchanges.find((one) => one.endpoint === 'end' && one.step === 'close own' && isAccepted(one));
  return {
    evidence: (transcript) =>
      own(transcript) && !closesAnything(transcript)
        ? transcript.exchanges.filter(
            (one) => one.step === 'close of another' && one.response && !isRateLimited(one),
          )
        : [],
    judge: (evidence, transcript) =>
      evidence.flatMap((one) => {
        if (isAccepted(one)) return [wrongOutcome(one, '404: to this key it is unknown')];
        const closed = own(transcript);
        return closed && valueAt(closed.json, '/already_closed') === true
          ? [wrong(closed, '/already_closed', 'nothing, or false: no other key closes it')]
          : [];
      }),
    unjudged: needsControl(notJudged('not_observed', 'No conversation of two owners was closed.')),
  };
}

/** The checks of ids, one for each requirement. */
export const serviceIdChecks = {
  'SERVICE-065': closedByItsId(
    ['case', 'other case'],
    'Compare ids byte by byte: some databases take texts for the same that differ in case.',
  ),
  'SERVICE-066': closedByItsId(
    ['reserved', 'slash'],
    'Split the path at its slashes first; then decode the id, once.',
  ),
  'SERVICE-067': closedByItsOwner(),
} satisfies Record<keyof typeof serviceIdRequirements, Check>;
