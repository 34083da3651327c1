import { formatValue, LIVE_EVALS_MAX, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  checkEach,
  unjudgedAs,
  explainNoValidResponse,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { checkAccepted, checkRefused } from '../../../engine/checks/responses.ts';
import { checkShape } from '../../../engine/checks/shape.ts';
import { type Exchange, type Transcript, isAccepted } from '../../../engine/transcript/reading.ts';
import { requireControlApi, requireIntrusiveRun, wrongValue } from '../findings.ts';
import { isStep, type EndStep, type ResultsStep, type TracesStep } from '../steps.ts';
import {
  conversationIdOf,
  hasControlApi,
  isConversationAccepted,
  lastAccepted,
  lastPolledPage,
  seededEvalCount,
  sentSeed,
  sessionsById,
} from '../transcript.ts';
import type { closeRequirements } from './requirements.ts';

const notClosed = explainNoValidResponse('end');

/** Closes of conversations that were not sent as plain JSON. */
const encodedCloses: readonly EndStep[] = ['close protobuf', 'close gzip', 'close gzip protobuf'];
/** Closes of conversations that are closed already. */
const laterCloses: readonly EndStep[] = ['close bare again', 'close idle'];
/** Closes that the requirements of ids judge. */
const idCloses: readonly EndStep[] = [
  ...(['close case', 'close other case', 'close reserved', 'close slash', 'close own'] as const),
];
/** Closes that other requirements judge than the one for a plain close. */
const specialCloses: readonly EndStep[] = [
  ...(['close again', 'close header', 'close first of two', 'close second of two'] as const),
  ...encodedCloses,
  ...laterCloses,
  ...idCloses,
];

const isClosed = (exchange: Exchange): boolean =>
  exchange.endpoint === 'end' &&
  exchange.intent === 'valid' &&
  isAccepted(exchange) &&
  isObject(exchange.json);
const isFirstClose = (exchange: Exchange): boolean =>
  isClosed(exchange) && !isStep(exchange, 'end', 'close again', ...laterCloses, ...idCloses);
const queuedOf = ({ json }: Exchange): unknown => resolvePointer(json, '/evaluations_queued');
const runOf = ({ json }: Exchange): unknown => resolvePointer(json, '/run');

/** First closes that queue evals. The specification does not describe the others completely. */
const isScoringClose = (exchange: Exchange): boolean =>
  isFirstClose(exchange) && queuedOf(exchange) !== 0;

/** Requires a JSON object for end calls whose spans were accepted. */
function closes(matches: (exchange: Exchange) => boolean): Check {
  const check = checkAccepted('end', () => true, notClosed);
  return {
    ...check,
    evidence: (transcript) =>
      check
        .evidence(transcript)
        .filter(
          (exchange) =>
            matches(exchange) && isConversationAccepted(conversationIdOf(exchange), transcript),
        ),
  };
}

const hasField = (pointer: string, filter: (exchange: Exchange) => boolean): Check =>
  checkShape({
    message: 'ClosedConversation',
    filter,
    places: [pointer],
    unjudged: unjudgedAs('not_observed', 'No close response queued any evals.'),
  });

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

function marksRepeatedClose(): Check {
  const repeated = closes((exchange) => isStep(exchange, 'end', 'close again'));
  return {
    ...repeated,
    judge: (evidence, transcript) => [
      ...repeated.judge(evidence, transcript),
      ...evidence
        .filter(
          (exchange) =>
            isClosed(exchange) && resolvePointer(exchange.json, '/already_closed') !== true,
        )
        .map((exchange) => wrongValue(exchange, '/already_closed', 'true')),
    ],
  };
}

function doesNotMarkFirstClose(): Check {
  return checkEach(
    isFirstClose,
    (exchange) =>
      resolvePointer(exchange.json, '/already_closed') === true
        ? [wrongValue(exchange, '/already_closed', 'absent or false')]
        : [],
    notClosed,
  );
}

/** Requires a single session with unique evals for the conversation that is closed twice. */
function scoresOnce(): Check {
  const idOf = ({ exchanges }: Transcript): string | undefined => {
    const repeated = exchanges.find(
      (exchange) => isClosed(exchange) && isStep(exchange, 'end', 'close again'),
    );
    return repeated && conversationIdOf(repeated);
  };
  return {
    evidence(transcript) {
      const id = idOf(transcript);
      // While it is scored again, a service may hide the session, so either page is evidence.
      const pages = [lastAccepted(transcript, 'production', 'whole'), lastPolledPage(transcript)];
      const page = pages.find((candidate) => sessionsById(candidate, id).length > 0);
      return page && id !== undefined ? [page] : [];
    },
    judge: (evidence, transcript) =>
      evidence.flatMap((page): Finding[] => {
        const sessions = sessionsById(page, idOf(transcript));
        const outcomes = resolvePointer(sessions[0], '/eval_outcomes');
        const names = Array.isArray(outcomes)
          ? outcomes.map((outcome) => resolvePointer(outcome, '/eval_name'))
          : [];
        if (sessions.length === 1 && new Set(names).size === names.length) return [];
        const received = `${sessions.length} sessions with outcomes of ${formatValue(names)}`;
        return [wrongValue(page, '/items', 'one session with one outcome per eval', received)];
      }),
    unjudged: unjudgedAs('not_observed', 'No conversation that was closed twice is listed.'),
  };
}

/** Requires a value in the close responses of some steps, in runs with a control API. */
function closesWith(
  steps: readonly EndStep[],
  pointer: '/run' | '/evaluations_queued',
  isRight: (exchange: Exchange, transcript: Transcript) => boolean,
  expected: string,
): Check {
  // Values of the wrong type violate the requirements of the field.
  const type = pointer === '/run' ? 'string' : 'number';
  return checkEach(
    (exchange, transcript) =>
      isClosed(exchange) &&
      isStep(exchange, 'end', ...steps) &&
      typeof resolvePointer(exchange.json, pointer) === type &&
      hasControlApi(transcript),
    (exchange, transcript) =>
      isRight(exchange, transcript) ? [] : [wrongValue(exchange, pointer, expected)],
    requireControlApi(notClosed),
  );
}

function queuesAllEvals(): Check {
  return checkEach(
    (exchange, transcript) =>
      isFirstClose(exchange) &&
      exchange.probe === 'service/conversations' &&
      typeof queuedOf(exchange) === 'number' &&
      hasControlApi(transcript),
    (exchange, transcript) => {
      const count = seededEvalCount(transcript, 'main');
      if (queuedOf(exchange) === count) return [];
      return [wrongValue(exchange, '/evaluations_queued', String(count))];
    },
    requireControlApi(notClosed),
  );
}

function queuesFewEvals(): Check {
  return checkEach(
    (exchange) => isFirstClose(exchange) && typeof queuedOf(exchange) === 'number',
    (exchange) =>
      Number(queuedOf(exchange)) <= LIVE_EVALS_MAX
        ? []
        : [wrongValue(exchange, '/evaluations_queued', `at most ${LIVE_EVALS_MAX}`)],
    notClosed,
  );
}

/** Compares the runs of two conversations. */
function comparesRuns(steps: readonly [EndStep, EndStep], isSame: boolean): Check {
  const closesOf = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (exchange) =>
        isScoringClose(exchange) &&
        isStep(exchange, 'end', ...steps) &&
        typeof runOf(exchange) === 'string',
    );
  return {
    evidence: (transcript) => {
      const both = closesOf(transcript);
      return both.length === 2 ? both : [];
    },
    judge([first, second]) {
      if (!first || !second || (runOf(first) === runOf(second)) === isSame) return [];
      const firstRun = `${formatValue(runOf(first))} of exchange ${first.id}`;
      return [wrongValue(second, '/run', isSame ? firstRun : `a run other than ${firstRun}`)];
    },
    unjudged: unjudgedAs('not_observed', 'No two close responses queued evals.'),
  };
}

const hasConfiguredRunName = (exchange: Exchange, transcript: Transcript): boolean => {
  const base = String(resolvePointer(sentSeed(transcript, 'named'), '/settings/run_name'));
  const run = String(runOf(exchange));
  return run.includes(base) && run.length > base.length;
};

/** Requires a conversation to be, or not to be, on a page of its owner. */
function lists(
  sentStep: TracesStep,
  pageStep: ResultsStep,
  isListed: boolean,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (page, { exchanges }) =>
      isStep(page, 'production', pageStep) &&
      isAccepted(page) &&
      isObject(page.json) &&
      exchanges.some((sent) => sent.step === sentStep && isAccepted(sent)),
    (page, { exchanges }) => {
      const sent = exchanges.find((exchange) => isStep(exchange, 'traces', sentStep));
      const id = sent && conversationIdOf(sent);
      const describe = (isThere: boolean): string => (isThere ? 'listed' : 'not listed');
      const isThere = sessionsById(page, id).length > 0;
      if (isThere === isListed) return [];
      return [
        wrongValue(page, '/items', `${formatValue(id)} ${describe(isListed)}`, describe(isThere)),
      ];
    },
    unjudged,
  );
}

/** Judges idle conversations only if every request that advances the clock was accepted. */
function listsWhenIdle(pageStep: ResultsStep, isListed: boolean): Check {
  const check = lists(
    'idle',
    pageStep,
    isListed,
    requireIntrusiveRun(
      requireControlApi(
        unjudgedAs('not_observed', 'The check needs a control API that can advance the clock.'),
      ),
    ),
  );
  const isAdvanced = ({ exchanges }: Transcript): boolean =>
    exchanges.filter((exchange) => isStep(exchange, 'admin', 'clock')).every(isAccepted);
  return {
    ...check,
    evidence: (transcript) => (isAdvanced(transcript) ? check.evidence(transcript) : []),
  };
}

/** The checks of `POST /v1/sessions/{conversation_id}/end`. */
export const closeChecks = {
  'SERVICE-040': closes((exchange) => !isStep(exchange, 'end', ...specialCloses)),
  'SERVICE-041': returnsConversationId(),
  'SERVICE-042': hasField('/status', isScoringClose),
  'SERVICE-043': hasField('/run', isScoringClose),
  'SERVICE-044': hasField('/evaluations_queued', isFirstClose),
  'SERVICE-045': marksRepeatedClose(),
  'SERVICE-046': doesNotMarkFirstClose(),
  'SERVICE-047': scoresOnce(),
  'SERVICE-048': checkRefused('end', ['unknown'], 404, notClosed, {
    unknown: { accepted: 'Close only conversations that have spans, and return 404 for others.' },
  }),
  'SERVICE-049': queuesAllEvals(),
  'SERVICE-050': queuesFewEvals(),
  'SERVICE-051': closesWith(
    ['close bare'],
    '/evaluations_queued',
    (exchange) => queuedOf(exchange) === 0,
    '0',
  ),
  'SERVICE-052': lists('bare', 'bare', false, requireControlApi(notClosed)),
  'SERVICE-053': closesWith(
    ['close deleted'],
    '/evaluations_queued',
    (exchange, transcript) => queuedOf(exchange) === seededEvalCount(transcript, 'deleted') - 1,
    'one less than the number of configured evals',
  ),
  'SERVICE-054': comparesRuns(['close old', 'close json'], false),
  'SERVICE-055': comparesRuns(['close protobuf', 'close gzip'], true),
  'SERVICE-056': closesWith(
    ['close old', 'close json'],
    '/run',
    (exchange) => String(runOf(exchange)).includes('Live traces'),
    'a name that contains "Live traces"',
  ),
  'SERVICE-057': closesWith(
    ['close named'],
    '/run',
    hasConfiguredRunName,
    'the configured base name and a date',
  ),
  'SERVICE-058': listsWhenIdle('after 24 hours', true),
  'SERVICE-059': listsWhenIdle('after 23 hours', false),
  'SERVICE-105': closes((exchange) => isStep(exchange, 'end', 'close header')),
  'SERVICE-106': closes((exchange) => isStep(exchange, 'end', ...encodedCloses)),
} satisfies Record<keyof typeof closeRequirements, Check>;
