/** Closes, and what the checks read from the responses to them. */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { checkEach, explainNoValidResponse, type Check } from '../../../engine/checks/check.ts';
import { checkAccepted, requirePlainAccepted } from '../../../engine/checks/responses.ts';
import { editAccepted, type Edit } from '../../../engine/mutants/combinators.ts';
import type { DistortionEntry } from '../../../engine/requirement.ts';
import { type Exchange, isAccepted, type Transcript } from '../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import type { EndStep, ResultsStep, TracesStep } from '../steps.ts';
import {
  conversationIdOf,
  hasControlApi,
  isConversationAccepted,
  isStep,
  lastAccepted,
  sessionsById,
} from '../transcript.ts';

/** Why no close was judged. */
export const notClosed = explainNoValidResponse('end');

/** The conversation that is closed after newer ones. */
export const CLOSED_LAST = 'closed last';
/** Its topic, which identifies it to mutants. */
export const CLOSED_LAST_SUBJECT = 'late parcel';
/** The conversation whose spans arrive at the same moment, and so do its end calls. */
export const CLOSED_TWICE = 'closed twice';
/** The protobuf request whose conversation id is only in the header. */
export const HEADER_AS_PROTOBUF = 'header as protobuf';
/** The conversation that is closed only at the end of the run, and the end call for it. */
export const LEFT_OPEN = 'left open';
export const CLOSE_OF_LEFT_OPEN = `close ${LEFT_OPEN}`;
/** Its topic, which identifies it to mutants. */
export const LEFT_OPEN_SUBJECT = 'parcel unsent';
/** The trace request of another owner with the ids that the backlog uses later. */
export const SAME_ID = 'same ids of another owner';
/** The conversation of spans that are ignored, and the end call for it. */
export const IGNORED_ALONE = 'ignored alone';
export const CLOSE_OF_IGNORED = `close ${IGNORED_ALONE}`;
/** The end call after the service has closed a conversation by itself. */
export const CLOSE_OF_IDLE = 'close idle';
/** The step of a repeated end call with another key of the same owner. */
export const CLOSE_WITH_SECOND_KEY = 'close with second key';
/** The step of two end calls that are sent at the same moment. */
export const CONCURRENT_CLOSE_STEP = 'close at the same moment';
/** The topic of that conversation, which identifies it to mutants. */
export const CLOSED_TWICE_SUBJECT = 'parcel pair';
/** Closes of conversations that are closed already, or that another end call may close. */
export const laterCloses: readonly EndStep[] = [
  'close bare again',
  CLOSE_OF_IDLE,
  'close late again',
  CLOSE_OF_LEFT_OPEN,
  CLOSE_WITH_SECOND_KEY,
  CONCURRENT_CLOSE_STEP,
];
/** Closes of conversations that were not sent as plain JSON. */
export const encodedCloses: readonly EndStep[] = [
  'close protobuf',
  'close gzip',
  'close gzip protobuf',
  'close gzip in parts',
  `close ${CLOSED_LAST}`,
];
/** Closes that the requirements of ids judge. */
export const idCloses: readonly EndStep[] = [
  'close case',
  'close other case',
  'close reserved',
  'close slash',
  'close own',
  'close backlog',
];

export const isClosed = (exchange: Exchange): boolean =>
  exchange.endpoint === 'end' &&
  exchange.intent === 'valid' &&
  isAccepted(exchange) &&
  isObject(exchange.json);
export const isFirstClose = (exchange: Exchange): boolean =>
  isClosed(exchange) && !isStep(exchange, 'end', 'close again', ...laterCloses, ...idCloses);
export const queuedOf = ({ json }: Exchange): unknown =>
  resolvePointer(json, '/evaluations_queued');
/** Returns whether a close queued evals. The number may be of any type. */
export const queuesEvals = (close: Exchange): boolean => {
  const queued = queuedOf(close);
  return typeof queued === 'number' && queued > 0;
};
export const runOf = ({ json }: Exchange): unknown => resolvePointer(json, '/run');

/** First closes that queue evals. The specification does not describe the others completely. */
export const isScoringClose = (exchange: Exchange): boolean =>
  isFirstClose(exchange) && queuedOf(exchange) !== 0;

/** A mutant or variant that edits the responses to successful end calls. */
export const editCloses = (description: string, edit: Edit): DistortionEntry => ({
  description,
  transform: editAccepted('end', edit),
});

const IGNORED_HINT =
  'Ignore only the spans without gen_ai.operation.name, and store the others of the request.';

/** Requires a JSON object for end calls whose spans were accepted. */
export function closes(matches: (exchange: Exchange) => boolean): Check {
  const check = checkAccepted('end', () => true, notClosed);
  return {
    ...check,
    judge: (evidence, transcript) => {
      const ids = evidence
        .filter((exchange) => isStep(exchange, 'end', 'close ignored'))
        .map(({ id }) => id);
      return check
        .judge(evidence, transcript)
        .map((finding) =>
          ids.includes(finding.exchange) ? { ...finding, hint: IGNORED_HINT } : finding,
        );
    },
    evidence: (transcript) =>
      check
        .evidence(transcript)
        .filter(
          (exchange) =>
            matches(exchange) && isConversationAccepted(conversationIdOf(exchange), transcript),
        ),
  };
}

/** Judges special closes only if plain ones are accepted: otherwise those are the cause. */
export function requirePlainClose(check: Check): Check {
  return requirePlainAccepted(
    (exchange) => isStep(exchange, 'end', 'close json', 'close old'),
    isClosed,
    check,
  );
}

/** Requires a value in the close responses of some steps, in runs with a control API. */
export function closesWith(
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

/** Requires a conversation to be, or not to be, on the last page of its owner that a step read. */
export function lists(
  sentStep: TracesStep,
  pageStep: ResultsStep,
  isListed: boolean,
  unjudged: Check['unjudged'],
  hint?: string,
): Check {
  return checkEach(
    (page, transcript) =>
      page === lastAccepted(transcript, 'production', pageStep) &&
      isObject(page.json) &&
      transcript.exchanges.some((sent) => sent.step === sentStep && isAccepted(sent)),
    (page, { exchanges }) => {
      const sent = exchanges.find((exchange) => isStep(exchange, 'traces', sentStep));
      const id = sent && conversationIdOf(sent);
      const describe = (isThere: boolean): string => (isThere ? 'listed' : 'not listed');
      const isThere = sessionsById(page, id).length > 0;
      if (isThere === isListed) return [];
      const expected = `${formatValue(id)} ${describe(isListed)}`;
      const finding = wrongValue(page, '/items', expected, describe(isThere));
      return [hint === undefined ? finding : { ...finding, hint }];
    },
    unjudged,
  );
}
