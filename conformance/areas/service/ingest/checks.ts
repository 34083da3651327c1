import { serviceRefusalHints } from '../refusal-hints.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  isAccepted,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import type { serviceIngestRequirements } from './requirements.ts';
import { oncePlain, refused } from '../../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  noValidResponse,
  wrongOutcome,
  type Check,
} from '../../../engine/checks/check.ts';
import { putsOff, putsOffNoneBefore, saysWhen, takesAgain } from '../rate/checks.ts';
import { needsIntrusion } from '../reading.ts';

const statusOf = (one: Exchange): number => one.response?.status ?? 0;
const isTraces = (one: Exchange): boolean => one.endpoint === 'traces';
const unsent = noValidResponse('traces');

/** Steps that are judged by requirements of their own. */
const PROTOBUF = ['protobuf'];
const GZIP = ['gzip', 'gzip protobuf'];
const HEADER = ['header'];
const IGNORED = ['ignored', 'ignored alone'];
const RESENT = ['re-sent again'];
const OTHERS = ['tools', 'failed', 'wrapper'];
const LARGE = ['under 10 MB'];
const TOGETHER = ['two ids'];
const CHARSET = ['charset'];
const IDS = ['case', 'other case', 'reserved', 'slash'];
const special = [
  TOGETHER,
  CHARSET,
  IDS,
  PROTOBUF,
  GZIP,
  HEADER,
  IGNORED,
  RESENT,
  OTHERS,
  LARGE,
].flat();

/** Valid trace requests of some steps must be taken; what the answer holds is judged elsewhere. */
function taken(isStep: (step: string) => boolean, unjudged: Check['unjudged'] = unsent): Check {
  return checkEach(
    (one) => isTraces(one) && one.intent === 'valid' && isStep(one.step) && !isRateLimited(one),
    (one) => (isAccepted(one) ? [] : [wrongOutcome(one, 'a 2xx answer')]),
    unjudged,
  );
}

/** Judged where a plain trace request in JSON is taken: else that is the cause. */
const besidePlain = (steps: readonly string[], plain: readonly string[] = ['json', 'old']): Check =>
  oncePlain(
    (one) => isTraces(one) && plain.includes(one.step),
    isAccepted,
    taken((step) => steps.includes(step)),
  );

/** The body of an accepted trace request: nothing, or an object with nothing in it. */
function emptyResponse(): Check {
  const isEmpty = ({ response, json }: Exchange): boolean =>
    response?.body === '' || (isObject(json) && Object.keys(json).length === 0);
  return checkEach(
    (one) => isTraces(one) && one.intent === 'valid' && isAccepted(one),
    (one) =>
      isEmpty(one)
        ? []
        : [
            {
              exchange: one.id,
              pointer: '',
              expected: 'an empty ExportTraceServiceResponse: {} or no bytes',
              received: JSON.stringify((one.response?.body ?? '').slice(0, 60)),
            },
          ],
    unsent,
  );
}

const SERVICE = ['traces', 'end', 'production', 'simulations'];

/** No request of an intent gets a server error, or no whole answer. */
function unbroken(intent: Exchange['intent'], unjudged: Check['unjudged']): Check {
  return checkEach(
    (one) => SERVICE.includes(one.endpoint) && one.intent === intent && !isRateLimited(one),
    (one) =>
      one.failure || statusOf(one) >= 500
        ? [wrongOutcome(one, 'an answer that is no server error')]
        : [],
    unjudged,
  );
}

function messageOf400(): Check {
  return checkEach(
    (one) => isTraces(one) && one.step === 'no id' && statusOf(one) === 400,
    (one) =>
      isObject(one.json) && one.json['message'] !== undefined && one.json['message'] !== null
        ? []
        : [
            {
              exchange: one.id,
              pointer: '/message',
              expected: 'a JSON object with message',
              received: JSON.stringify((one.response?.body ?? '').slice(0, 60)),
            },
          ],
    notJudged('not_observed', 'No trace request was refused for want of a conversation id.'),
  );
}

/** Requests without the right key are refused, where they are taken with it. */
function keyWanted(step: string): Check {
  const checks = (['traces', 'end', 'production', 'simulations'] as const).map((endpoint) =>
    refused(endpoint, [step], undefined, noValidResponse(endpoint), serviceRefusalHints),
  );
  return {
    evidence: (transcript) => checks.flatMap((check) => check.evidence(transcript)),
    judge: (evidence, transcript) =>
      checks.flatMap((check) => {
        const own = check.evidence(transcript);
        return check.judge(
          evidence.filter((one) => own.includes(one) && !isSentElsewhere(one, transcript)),
          transcript,
        );
      }),
    unjudged: unsent,
  };
}

/** A redirect, say to a login, serves nothing: a refusal, unless the spans are there all the same. */
function isSentElsewhere(one: Exchange, { exchanges }: Transcript): boolean {
  if (statusOf(one) < 300 || statusOf(one) >= 400) return false;
  if (!isTraces(one)) return true;
  const isKept = exchanges.some(
    (other) => other.step === `close ${one.step}` && isAccepted(other) && isObject(other.json),
  );
  return !isKept;
}

/** The checks of `POST /v1/traces` and of keys, one for each requirement. */
export const serviceIngestChecks = {
  'SERVICE-001': taken((step) => !special.includes(step)),
  'SERVICE-002': besidePlain(PROTOBUF),
  'SERVICE-003': oncePlain(
    (one, { step }) => isTraces(one) && one.step === (step === 'gzip' ? 'json' : 'protobuf'),
    isAccepted,
    taken((step) => GZIP.includes(step)),
  ),
  'SERVICE-004': besidePlain(HEADER),
  'SERVICE-005': checkEach(
    (one) => isTraces(one) && one.intent === 'valid' && isAccepted(one),
    (one) => (statusOf(one) === 200 ? [] : [wrongOutcome(one, '200')]),
    unsent,
  ),
  'SERVICE-006': emptyResponse(),
  'SERVICE-007': besidePlain(IGNORED),
  'SERVICE-008': besidePlain(RESENT, ['re-sent']),
  'SERVICE-009': besidePlain(OTHERS),
  'SERVICE-010': unbroken('valid', notJudged('blocked', 'No request was answered.')),
  'SERVICE-011': unbroken('open', notJudged('blocked', 'No odd request was answered.')),
  'SERVICE-012': besidePlain(CHARSET, ['control']),
  'SERVICE-020': refused('traces', ['no id'], 400, unsent, serviceRefusalHints),
  'SERVICE-021': messageOf400(),
  'SERVICE-022': refused(
    'traces',
    ['text/plain', 'application/octet-stream', 'application/xml'],
    415,
    unsent,
    serviceRefusalHints,
  ),
  'SERVICE-023': refused('traces', ['over 10 MB'], 413, needsIntrusion(unsent), serviceRefusalHints),
  'SERVICE-024': taken((step) => LARGE.includes(step), needsIntrusion(unsent)),
  'SERVICE-026': putsOff(),
  'SERVICE-027': saysWhen(),
  'SERVICE-028': putsOffNoneBefore(),
  'SERVICE-029': keyWanted('none key'),
  'SERVICE-030': keyWanted('wrong key'),
  'SERVICE-031': takesAgain(),
} satisfies Record<keyof typeof serviceIngestRequirements, Check>;
