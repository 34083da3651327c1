/** `POST /v1/traces`: how large a body may be (spec 7, 8). */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Check } from '../../../engine/checks/check.ts';
import { checkRefused, requirePlainAccepted } from '../../../engine/checks/responses.ts';
import { dropInstead, respondInstead, type When } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { requireIntrusiveRun } from '../findings.ts';
import type { TracesStep } from '../steps.ts';
import { isStep } from '../transcript.ts';
import { emptyTraceResponse, intrusiveOnly } from '../transforms.ts';
import {
  acceptsLike,
  hasType,
  isGzip,
  LOST_SPANS,
  noTraces,
  refuseTraces,
  traces,
} from './trace-requests.ts';
import { INGEST_BODY_BYTES_MAX } from '../../../../src/contract/index.ts';

/** Returns whether a step sends a body over the limit, as it is or after it is inflated. */
export const isLargeBodyStep = (step: string): boolean =>
  largeBodySteps.some((name) => name === step);

const refusedSteps = ['over 10 MB', 'over 10 MB in chunks'] as const satisfies TracesStep[];

const largeBodySteps: readonly TracesStep[] = [...refusedSteps, 'inflates to over 10 MB'];

const TOO_LARGE_HINT = {
  accepted: 'Count the bytes as they arrive and stop reading after 10 MB.',
  crashed:
    'Respond with 413 as soon as the body is too large, and send the response before you close the connection.',
};

const isTooLarge: When = ({ body }) => body.length > INGEST_BODY_BYTES_MAX;

export const traceSizes: Subject = {
  requirements: withDefaults(
    { observability: 'provoked', probes: ['service/limits'] },
    {
      'SERVICE-023': {
        rule: '`POST /v1/traces` refuses a body larger than 10 MB with 413.',
        section: '7',
        statements: ['4.1.9', '7.a5', '8.a1'],
        reason: 'The status tells the sender to export smaller batches.',
        check: requirePlainAccepted(
          (plain, { step }) => step === 'over 10 MB in chunks' && isStep(plain, 'traces', 'old'),
          isAccepted,
          checkRefused(
            'traces',
            refusedSteps,
            413,
            requireIntrusiveRun(noTraces),
            Object.fromEntries(refusedSteps.map((step) => [step, TOO_LARGE_HINT])),
          ),
        ),
        mutants: {
          'any-size': {
            description: 'Accepts bodies of any size.',
            transform: respondInstead(traces(isTooLarge), () => emptyTraceResponse),
            ...intrusiveOnly,
          },
          'any-size-in-chunks': {
            description: 'Reads the size of a body only from Content-Length.',
            transform: respondInstead(
              traces(
                (request) =>
                  isTooLarge(request) && request.headers['transfer-encoding'] !== undefined,
              ),
              () => emptyTraceResponse,
            ),
            ...intrusiveOnly,
          },
          'too-large-400': {
            ...refuseTraces('Refuses large bodies with 400.', isTooLarge),
            ...intrusiveOnly,
          },
          'too-large-dropped': {
            description: 'Drops the connection when a body is large.',
            transform: dropInstead(traces(isTooLarge)),
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-024': {
        rule: '`POST /v1/traces` accepts a body just under 10 MB, and gzip that inflates to 3 MB.',
        section: '8',
        statements: ['4.1.4', '8.a1'],
        reason: LOST_SPANS,
        // A service without protobuf fails another requirement.
        check: nameBodies(
          acceptsLike(
            ['under 10 MB', 'protobuf under 10 MB', 'gzip of 3 MB'],
            (step) => [plainStepOf(step)],
            requireIntrusiveRun(noTraces),
          ),
        ),
        mutants: {
          'one-megabyte-of-protobuf': {
            ...refuseTraces(
              'Refuses protobuf bodies over 1 MB.',
              (request) => hasType('application/x-protobuf')(request) && request.body.length > 1e6,
              413,
            ),
            ...intrusiveOnly,
          },
          'one-megabyte-of-gzip': {
            ...refuseTraces(
              'Refuses gzip that inflates to more than 1 MB.',
              (request) => isGzip(request) && inflate(request).length > INFLATED_MAX,
              413,
            ),
            ...intrusiveOnly,
          },
          'gzip-cut': {
            description: 'Reads only the first megabyte of gzip.',
            transform: cutInflated,
            ...intrusiveOnly,
          },
          'five-megabytes': {
            ...refuseTraces(
              'Refuses bodies over 5 MB.',
              ({ body }) => body.length > 5_000_000,
              413,
            ),
            ...intrusiveOnly,
          },
        },
      },
    },
  ),
};

/** What the bodies of steps are. */
const sizes: ReadonlyMap<string, string> = new Map([
  ['under 10 MB', 'JSON of just under 10 MB'],
  ['protobuf under 10 MB', 'protobuf of just under 10 MB'],
  ['gzip of 3 MB', 'gzip that inflates to 3 MB'],
] satisfies [TracesStep, string][]);

const SIZE_HINT = 'Accept bodies up to 10 MB, compressed or not, in both formats.';

/** Says which body was refused in the findings of a check. */
function nameBodies(check: Check): Check {
  return {
    ...check,
    judge: (evidence, transcript) =>
      check.judge(evidence, transcript).map((finding) => {
        const step = evidence.find(({ id }) => id === finding.exchange)?.step ?? '';
        const expected = `${finding.expected} to ${sizes.get(step) ?? step}`;
        return { ...finding, expected, hint: SIZE_HINT };
      }),
  };
}

/** Returns the step of a plain request with the same format as a large one. */
function plainStepOf(step: string): 'json' | 'protobuf' | 'gzip' {
  if (step === 'gzip of 3 MB') return 'gzip';
  return step === 'under 10 MB' ? 'json' : 'protobuf';
}

/** How much of a body two mutants inflate. */
const INFLATED_MAX = 1_000_000;

/** Returns the inflated body of a request; nothing if it is not gzip. */
function inflate({ bytes }: ProxyRequest): Buffer {
  try {
    return gunzipSync(bytes ?? '');
  } catch {
    return Buffer.alloc(0);
  }
}

/** Cuts what a gzip body inflates to. */
function cutInflated(): Transform {
  return async (request, forward) => {
    const inflated = isGzip(request) ? inflate(request) : Buffer.alloc(0);
    if (inflated.length <= INFLATED_MAX) return forward(request);
    return forward({ ...request, bytes: gzipSync(inflated.subarray(0, INFLATED_MAX)) });
  };
}
