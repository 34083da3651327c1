/** The key of the service (spec 5): without it, every endpoint refuses. */
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { explainNoValidResponse, type Check } from '../../../engine/checks/check.ts';
import {
  checkAccepted,
  checkRefused,
  requirePlainAccepted,
} from '../../../engine/checks/responses.ts';
import { serviceEndpoints } from '../../../engine/checks/route-names.ts';
import type { BadKey } from '../../../engine/probe.ts';
import {
  jsonResponse,
  respondInstead,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type DistortionEntry, type Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  hasKey,
  hasLongerKey,
  hasValidKey,
  hasWrongKey,
  refusal,
  isUnauthorized,
  not,
} from '../transforms.ts';
import { isStep } from '../transcript.ts';

/** The step of a read whose header with the key has its name in upper case. */
export const UPPER_CASE_HEADER = 'header in upper case';

const refuseWith = (description: string, response: ProxyResponse): DistortionEntry => ({
  description,
  transform: respondInstead(isUnauthorized, () => response),
});

const acceptedHints: Readonly<Record<BadKey, string>> = {
  none: 'Require the API key header before anything else, on every path of the interface.',
  wrong:
    'Look the API key up before anything else, on every path of the interface, and refuse unknown ones.',
  longer: 'Compare the whole API key, not only its beginning.',
  shorter: 'Compare the whole API key, and refuse one that is only a part of it.',
  'other case':
    'Compare the API key byte by byte. Some databases ignore case when they compare text.',
};

const CRASHED_HINT =
  'Check the API key before anything else, and respond with 401 or 403 if it is missing or unknown.';

export const keys: Subject = {
  requirements: withDefaults(
    {
      section: '5',
      reason: 'Anyone could write conversations into the account or read them.',
      probes: ['service/keys'],
    },
    {
      'SERVICE-029': {
        rule: 'The service refuses requests without the API key header.',
        statements: ['4.1.2', '4.2.3', '5.a1'],
        check: refusesKey('none'),
        mutants: acceptAtEach('without-key', 'Accepts requests without a key.', not(hasKey)),
      },
      'SERVICE-030': {
        rule: 'The service refuses requests with an unknown API key.',
        statements: ['5.a1'],
        check: refusesKey('wrong'),
        mutants: acceptAtEach('any-key', 'Accepts any key.', hasWrongKey),
      },
      'SERVICE-177': {
        rule: 'The service refuses a key that only begins with a valid one.',
        statements: ['5.a1'],
        observability: 'provoked',
        check: refusesKey('longer'),
        mutants: acceptAtEach('longer-key', 'Compares only the start of a key.', hasLongerKey),
      },
      'SERVICE-183': {
        rule: 'The service refuses a key that is only the beginning of a valid one.',
        statements: ['5.a1'],
        reason: 'A key could be guessed character by character.',
        observability: 'provoked',
        check: refusesKey('shorter'),
        mutants: {
          'shorter-key': {
            description: 'Accepts the beginning of a key.',
            transform: acceptLike((key, known) => known.startsWith(key)),
          },
        },
      },
      'SERVICE-184': {
        level: 'should',
        rule: 'The service refuses a key in another case.',
        statements: ['5.a1'],
        reason: 'A key that ignores case is easier to guess.',
        observability: 'provoked',
        check: refusesKey('other case'),
        mutants: {
          'key-in-any-case': {
            description: 'Ignores the case of keys.',
            transform: acceptLike((key, known) => known.toLowerCase() === key.toLowerCase()),
          },
        },
      },
      'SERVICE-185': {
        rule: 'The name of the API key header may have any case.',
        statements: ['5.a1'],
        reason: 'HTTP clients and proxies change the case of header names.',
        observability: 'provoked',
        check: requirePlainAccepted(
          (exchange) => isStep(exchange, 'production', 'keys'),
          isAccepted,
          checkAccepted(
            'production',
            (step) => step === UPPER_CASE_HEADER,
            explainNoValidResponse('production'),
          ),
        ),
        mutants: {
          'header-case': {
            description: 'Reads the key only from a header in lower case.',
            // The header names that a mutant sees are in lower case.
            transform: respondInstead(
              ({ path }) => path.endsWith('/sessions/?limit=1'),
              () => refusal(401),
            ),
          },
        },
      },
    },
  ),
  mutants: {
    'redirected-and-kept': {
      description: 'Redirects unauthorized callers but stores their spans.',
      kills: ['SERVICE-029', 'SERVICE-030', 'SERVICE-177'],
      transform: redirectAndKeep,
    },
  },
  legal: {
    'keys-403': refuseWith('Refuses keys with 403 and an empty body.', {
      status: 403,
      headers: {},
      body: '',
    }),
    'keys-404': refuseWith(
      'Hides every route from unauthorized callers.',
      jsonResponse(404, { detail: 'Not Found' }),
    ),
    'keys-to-login': refuseWith('Redirects unauthorized callers to a login page.', {
      status: 302,
      headers: { location: '/login' },
      body: '',
    }),
  },
};

/** Requires refusals without the right key, on each endpoint that accepts the right key. */
function refusesKey(key: BadKey): Check {
  const step = `${key} key` as const;
  const hint = { accepted: acceptedHints[key], crashed: CRASHED_HINT };
  const checks = serviceEndpoints.map((endpoint) =>
    checkRefused(endpoint, [step], undefined, explainNoValidResponse(endpoint), { [step]: hint }),
  );
  return {
    evidence: (transcript) => checks.flatMap((check) => check.evidence(transcript)),
    judge: (evidence, transcript) =>
      checks.flatMap((check) => {
        const judged = check.evidence(transcript);
        return check.judge(
          evidence.filter(
            (exchange) => judged.includes(exchange) && !isRefusedByRedirect(exchange, transcript),
          ),
          transcript,
        );
      }),
    unjudged: explainNoValidResponse('traces'),
  };
}

/** A redirect, such as to a login page, is a refusal unless the service kept the spans anyway. */
function isRefusedByRedirect(exchange: Exchange, { exchanges }: Transcript): boolean {
  const status = exchange.response?.status ?? 0;
  if (status < 300 || status >= 400) return false;
  if (exchange.endpoint !== 'traces') return true;
  const isKept = exchanges.some(
    (end) =>
      end.endpoint === 'end' &&
      end.step === `close ${exchange.step}` &&
      isAccepted(end) &&
      isObject(end.json),
  );
  return !isKept;
}

/** Creates a mutant for each endpoint, which accepts the requests there. */
function acceptAtEach(
  name: string,
  description: string,
  when: When,
): Record<string, DistortionEntry> {
  // A body that every endpoint could return for an accepted request.
  const acceptance = jsonResponse(200, {
    items: [],
    total: 0,
    skip: 0,
    limit: 50,
    conversation_id: 'any',
    status: 'evaluating',
  });
  return Object.fromEntries(
    serviceEndpoints.map((endpoint) => [
      `${endpoint}-${name}`,
      { description, transform: respondInstead(to(endpoint, when), () => acceptance) },
    ]),
  );
}

/** Accepts reads with a key that the service refuses, if it resembles a key that it accepted before. */
function acceptLike(isAlike: (key: string, known: string) => boolean): TransformFactory {
  return () => {
    const known = new Set<string>();
    return async (request, forward) => {
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      const response = await forward(request);
      if (response.status < 400) known.add(key);
      const isAccepted =
        response.status === 401 &&
        request.endpoint === 'production' &&
        key !== '' &&
        [...known].some((other) => isAlike(key, other));
      return isAccepted ? jsonResponse(200, { items: [], total: 0, skip: 0, limit: 50 }) : response;
    };
  };
}

/** Redirects trace requests without the right key, and stores their spans under the last valid key. */
function redirectAndKeep(): Transform {
  let lastKey = '';
  return async (request, forward) => {
    const isValid = hasValidKey(request);
    if (isValid) lastKey = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    if (request.endpoint !== 'traces' || isValid) return forward(request);
    const headers = { ...request.headers, [SERVICE_API_KEY_HEADER]: lastKey };
    await forward({ ...request, headers });
    return { status: 302, headers: { location: '/login' }, body: '' };
  };
}
