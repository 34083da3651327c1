import { serviceRefusalHints } from '../refusal-hints.ts';
import { brief, liveEvalsMax, valueAt } from '../../../../src/contract/index.ts';
import type { serviceCloseRequirements } from './requirements.ts';
import { answered, refused } from '../../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  noValidResponse,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import {
  conversationIdOf,
  hasControl,
  isSent,
  sessionsOf,
  lastOf,
  needsControl,
  needsIntrusion,
  resultsOf,
  seedOf,
} from '../reading.ts';
import { shape } from '../../../engine/checks/shape.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, type Transcript, isAccepted } from '../../../engine/transcript/reading.ts';

const notClosed = noValidResponse('end');
const REPEATED = ['close again'];
const BYTES = ['close protobuf', 'close gzip', 'close gzip protobuf'];
const LATER = ['close bare again', 'close idle'];
const TOGETHER = ['close first of two', 'close second of two'];
/** Closes by which ids are told apart: judged by themselves. */
const IDS = ['close case', 'close other case', 'close reserved', 'close slash', 'close own'];
const special = [...REPEATED, ...BYTES, ...LATER, ...TOGETHER, ...IDS, 'close header'];

const isClosed = (one: Exchange): boolean =>
  one.endpoint === 'end' && one.intent === 'valid' && isAccepted(one) && isObject(one.json);
const isFirst = (one: Exchange): boolean =>
  isClosed(one) && ![...REPEATED, ...LATER, ...IDS].includes(one.step);
const queuedOf = (one: Exchange): unknown => valueAt(one.json, '/evaluations_queued');
const runOf = (one: Exchange): unknown => valueAt(one.json, '/run');

/** First closes that queue something: what the others answer is not said in full. */
const isScored = (one: Exchange): boolean => isFirst(one) && queuedOf(one) !== 0;

/** End calls for conversations whose spans were taken must be answered with an object. */
function ended(isStep: (step: string) => boolean): Check {
  const judged = answered('end', isStep, notClosed);
  return {
    ...judged,
    evidence: (transcript) =>
      judged.evidence(transcript).filter((one) => isSent(conversationIdOf(one), transcript)),
  };
}

const field = (place: string, on: (one: Exchange) => boolean): Check =>
  shape({
    message: 'ClosedConversation',
    answers: on,
    at: [place],
    absent: notJudged('not_observed', 'No conversation was closed for which evals were queued.'),
  });

/** A finding about one value of a close response. */
const wrong = (one: Exchange, pointer: string, expected: string): Finding[] => [
  { exchange: one.id, pointer, expected, received: brief(valueAt(one.json, pointer)) },
];

const onSteps = (
  steps: readonly string[],
  is: (one: Exchange, transcript: Transcript) => boolean,
  pointer: string,
  expected: string,
): Check =>
  checkEach(
    (one, transcript) =>
      isClosed(one) &&
      steps.includes(one.step) &&
      // Where it has the wrong type, that is what is wrong.
      typeof valueAt(one.json, pointer) === (pointer === '/run' ? 'string' : 'number') &&
      hasControl(transcript),
    (one, transcript) => (is(one, transcript) ? [] : wrong(one, pointer, expected)),
    needsControl(notClosed),
  );

/** How many evals were configured for an owner. */
function configured(transcript: Transcript, owner: string): number {
  const ids = valueAt(seedOf(transcript, owner), '/settings/evals');
  return Array.isArray(ids) ? ids.length : 0;
}

function queuesAll(): Check {
  return checkEach(
    (one, transcript) =>
      isFirst(one) &&
      one.probe === 'service/conversations' &&
      typeof queuedOf(one) === 'number' &&
      hasControl(transcript),
    (one, transcript) => {
      const count = configured(transcript, 'main');
      return queuedOf(one) === count ? [] : wrong(one, '/evaluations_queued', String(count));
    },
    needsControl(notClosed),
  );
}

/** The runs of two closed conversations, compared. */
function comparedRuns(steps: [string, string], areAlike: boolean): Check {
  const both = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (one) => isScored(one) && steps.includes(one.step) && typeof runOf(one) === 'string',
    );
  return {
    evidence: (transcript) => (both(transcript).length === 2 ? both(transcript) : []),
    judge([one, other]) {
      if (!one || !other || (runOf(one) === runOf(other)) === areAlike) return [];
      const than = `${brief(runOf(one))} of exchange ${one.id}`;
      return wrong(other, '/run', areAlike ? than : `another run than ${than}`);
    },
    unjudged: notJudged('not_observed', 'No two conversations were closed that evals score.'),
  };
}

/** What is listed under the id of a conversation that was closed twice. */
function scoredOnce(): Check {
  const idOf = ({ exchanges }: Transcript): string | undefined => {
    const again = exchanges.find((one) => isClosed(one) && one.step === 'close again');
    return again && conversationIdOf(again);
  };
  const listed = (page: Exchange, id: string | undefined) =>
    sessionsOf(page).filter((item) => item['source_session_id'] === id);
  return {
    evidence(transcript) {
      const id = idOf(transcript);
      // Where it is scored once more, it may be listed at one time and not at another.
      const pages = [lastOf(transcript, 'production', 'whole'), resultsOf(transcript)];
      const page = pages.find((one) => one && listed(one, id).length > 0);
      return page && id !== undefined ? [page] : [];
    },
    judge(evidence, transcript) {
      return evidence.flatMap((page): Finding[] => {
        const items = listed(page, idOf(transcript));
        const outcomes = valueAt(items[0], '/eval_outcomes');
        const names = Array.isArray(outcomes)
          ? outcomes.map((outcome) => valueAt(outcome, '/eval_name'))
          : [];
        if (items.length === 1 && new Set(names).size === names.length) return [];
        return [
          {
            exchange: page.id,
            pointer: '/items',
            expected: 'one session, with one outcome for each eval',
            received: `${items.length} sessions, outcomes of ${brief(names)}`,
          },
        ];
      });
    },
    unjudged: notJudged('not_observed', 'No conversation that was closed twice is listed.'),
  };
}

/** A conversation of an owner is, or is not, in a page. */
function listedIn(
  step: string,
  sentAs: string,
  isThere: boolean,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (one, transcript) =>
      one.endpoint === 'production' &&
      one.step === step &&
      isAccepted(one) &&
      isObject(one.json) &&
      transcript.exchanges.some((sent) => sent.step === sentAs && isAccepted(sent)),
    (one, { exchanges }) => {
      const sent = exchanges.find((other) => other.endpoint === 'traces' && other.step === sentAs);
      const id = sent && conversationIdOf(sent);
      const found = sessionsOf(one).some((item) => item['source_session_id'] === id);
      if (found === isThere) return [];
      const received = found ? 'is listed' : 'is not listed';
      const expected = `${brief(id)} ${isThere ? 'listed' : 'not listed'}`;
      return [{ exchange: one.id, pointer: '/items', expected, received }];
    },
    unjudged,
  );
}

const idleUnseen = needsIntrusion(
  needsControl(
    notJudged('not_observed', 'It takes a control API whose clock can be moved on by a day.'),
  ),
);

/** Judged where the clock of the service was moved on. */
function onceMoved(check: Check): Check {
  const isMoved = ({ exchanges }: Transcript): boolean =>
    exchanges.filter((one) => one.endpoint === 'admin' && one.step === 'clock').every(isAccepted);
  return {
    ...check,
    evidence: (transcript) => (isMoved(transcript) ? check.evidence(transcript) : []),
  };
}

const repeats = answered('end', (step) => REPEATED.includes(step), notClosed);

/** The checks of `POST /v1/sessions/{conversation_id}/end`, one for each requirement. */
export const serviceCloseChecks = {
  'SERVICE-040': ended((step) => !special.includes(step)),
  'SERVICE-041': checkEach(
    (one) => isClosed(one) && !IDS.includes(one.step),
    (one) =>
      valueAt(one.json, '/conversation_id') === conversationIdOf(one)
        ? []
        : wrong(one, '/conversation_id', brief(conversationIdOf(one))),
    notClosed,
  ),
  'SERVICE-042': field('/status', isScored),
  'SERVICE-043': field('/run', isScored),
  'SERVICE-044': field('/evaluations_queued', isFirst),
  'SERVICE-045': {
    evidence: (transcript) =>
      repeats.evidence(transcript).filter((one) => isSent(conversationIdOf(one), transcript)),
    judge: (evidence, transcript) => [
      ...repeats.judge(evidence, transcript),
      ...evidence
        .filter((one) => isClosed(one) && valueAt(one.json, '/already_closed') !== true)
        .flatMap((one) => wrong(one, '/already_closed', 'true')),
    ],
    unjudged: notClosed,
  },
  'SERVICE-046': checkEach(
    isFirst,
    (one) =>
      valueAt(one.json, '/already_closed') === true
        ? wrong(one, '/already_closed', 'nothing, or false')
        : [],
    notClosed,
  ),
  'SERVICE-047': scoredOnce(),
  'SERVICE-048': refused('end', ['unknown'], 404, notClosed, serviceRefusalHints),
  'SERVICE-049': queuesAll(),
  'SERVICE-050': checkEach(
    (one) => isFirst(one) && typeof queuedOf(one) === 'number',
    (one) =>
      Number(queuedOf(one)) <= liveEvalsMax
        ? []
        : wrong(one, '/evaluations_queued', `${liveEvalsMax} at most`),
    notClosed,
  ),
  'SERVICE-051': onSteps(['close bare'], (one) => queuedOf(one) === 0, '/evaluations_queued', '0'),
  'SERVICE-052': listedIn('bare', 'bare', false, needsControl(notClosed)),
  'SERVICE-053': onSteps(
    ['close deleted'],
    (one, transcript) => queuedOf(one) === configured(transcript, 'deleted') - 1,
    '/evaluations_queued',
    'one less than is configured',
  ),
  'SERVICE-054': comparedRuns(['close old', 'close json'], false),
  'SERVICE-055': comparedRuns(['close protobuf', 'close gzip'], true),
  'SERVICE-056': onSteps(
    ['close old', 'close json'],
    (one) => String(runOf(one)).includes('Live traces'),
    '/run',
    'a name that holds "Live traces"',
  ),
  'SERVICE-057': onSteps(
    ['close named'],
    (one, transcript) => {
      const base = valueAt(seedOf(transcript, 'named'), '/settings/run_name');
      const run = String(runOf(one));
      return run.includes(String(base)) && run.length > String(base).length;
    },
    '/run',
    'the base name, and a date',
  ),
  'SERVICE-058': onceMoved(listedIn('after 24 hours', 'idle', true, idleUnseen)),
  'SERVICE-059': onceMoved(listedIn('after 23 hours', 'idle', false, idleUnseen)),
  'SERVICE-105': ended((step) => step === 'close header'),
  'SERVICE-106': ended((step) => BYTES.includes(step)),
} satisfies Record<keyof typeof serviceCloseRequirements, Check>;
