/** What "Fix first" says about valid requests that a sandbox refuses, and about users that it forgets. */
import t from 'tap';
import { errorResponse } from '../../conformance/areas/sandbox-responses.ts';
import {
  isSuccess,
  jsonResponse,
  replaceParts,
  respondInstead,
  to,
} from '../../conformance/engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../conformance/engine/mutants/requests.ts';
import { check, type CheckResult } from '../../conformance/index.ts';
import { resolvePointer, type Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { reportOnDefect, type FixFirstCase } from '../support/conformance/fix-first.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import { refusal, reply, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

interface Case extends Pick<FixFirstCase, 'title' | 'says' | 'never' | 'example'> {
  defect: TransformFactory;
}

/** Refuses chat requests because of a key in `metadata`, with the words of Go. */
const refuseKeys =
  (isRefused: (key: string, nth: number) => boolean): TransformFactory =>
  () => {
    let nth = 0;
    return async (request, forward) => {
      const metadata = resolvePointer(request.json, '/metadata');
      if (request.endpoint !== 'chat' || !isObject(metadata)) return forward(request);
      nth += 1;
      const refused = Object.keys(metadata).find((key) => isRefused(key, nth));
      if (refused === undefined) return forward(request);
      return errorResponse(400, 'bad_request', `json: unknown field ${JSON.stringify(refused)}`);
    };
  };

const acceptOf = ({ headers }: ProxyRequest): string | undefined => headers['accept'];

/** Refuses requests that have the header Accept, or lack it. */
const refuseAccept = (
  endpoint: Endpoint,
  isRefused: (accept: string | undefined) => boolean,
): TransformFactory =>
  respondInstead(
    to(endpoint, (request) => isRefused(acceptOf(request))),
    () => errorResponse(406, 'bad_request', 'Not acceptable.'),
  );

/** Creates every user, and knows none afterward. */
const forgetUsers: TransformFactory = () => async (request, forward) => {
  if (request.endpoint === 'delete') {
    return errorResponse(404, 'bad_request', `${userIdOf(request)} is unknown.`);
  }
  const id = stringAt('user_id', request) ?? '';
  if (request.endpoint !== 'create' || !/^\w{1,64}$/.test(id)) return forward(request);
  const at = '2026-01-01T00:00:00Z';
  return jsonResponse(201, { user_id: id, created_at: at, status: 'active' });
};

const KNOWN_KEYS = ['scenario_id', 'persona', 'time_of_day'];

const cases: readonly Case[] = [
  {
    title: 'a decoder that refuses unknown fields',
    defect: refuseKeys((key) => !KNOWN_KEYS.includes(key)),
    says: /^POST \/v1\/chat\/completions: unknown fields are refused \(`.+\): 400 with "json: unknown field .+" \(\d+ responses, e\.g\. exchange \d+ "[^"]+"\)\. Accept all fields .*: in Go, decode without DisallowUnknownFields$/,
    never: /valid requests get/,
    example: { message: /^json: unknown field "/ },
  },
  {
    title: 'a field that is called unknown in some requests, and accepted in others',
    defect: refuseKeys((key, nth) => key === 'persona' && nth % 3 === 0),
    says: /^POST \/v1\/chat\/completions: valid requests get 400 with "json: unknown field \\"persona\\"" /,
    never: /unknown fields are refused/,
  },
  {
    title: 'a health check that requires the header Accept',
    defect: refuseAccept('health', (accept) => accept === undefined),
    says: /^GET \/health: requests without the header Accept get 406 \(\d+ responses, e\.g\. exchange \d+ "plain"\), and 200 with Accept: application\/json \(exchange \d+\)\. Send JSON whether or not/,
  },
  {
    title: 'a health check that refuses the header Accept',
    defect: refuseAccept('health', (accept) => accept === 'application/json'),
    says: /^GET \/health: requests with Accept: application\/json get 406 \(exchange \d+ "with Accept"\), and 200 without the header Accept \(exchange \d+\)\. Send JSON whether or not/,
    example: { requirement: 'HEALTH-006' },
  },
  {
    title: 'a health check that sends a page to browsers',
    defect: replaceParts(
      to('health', (request) => acceptOf(request) === undefined),
      { headers: { 'content-type': 'text/html' }, body: '<html><title>healthy</title></html>' },
    ),
    says: /^GET \/health: requests without the header Accept get 200 with an HTML page: "healthy" \(\d+ responses, e\.g\. exchange \d+ "plain"\), and 200 with Accept: application\/json \(exchange \d+\)\. Send JSON whether or not/,
  },
  {
    title: 'a health check that requires a key',
    defect: respondInstead(to('health'), () => errorResponse(401, 'bad_request', 'No key.')),
    says: /^GET \/health: a key is demanded: 401 with "No key\." \(\d+ responses, e\.g\. exchange \d+ "plain"\)\. Exclude this route from authentication/,
    example: { requirement: 'HEALTH-005' },
  },
  {
    title: 'an unhealthy sandbox that sends an error',
    defect: respondInstead(to('health'), () => ({
      ...errorResponse(500, 'health_check_failed', 'No database.'),
      status: 503,
    })),
    says: /^GET \/health: the body of a 503 is an error, not a health report \(\d+ responses, e\.g\. exchange \d+ "plain"\)\. Send \{"status": "unhealthy", /,
    never: /make status|a value/,
  },
  {
    title: 'a chat route that requires the header Accept',
    defect: refuseAccept('chat', (accept) => accept === undefined),
    says: /^POST \/v1\/chat\/completions: requests without the header Accept get 406 \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Send JSON whether or not/,
    never: /valid requests get|instead of 406/,
  },
  {
    title: 'replies that are an array of texts',
    defect: replaceParts(to('chat'), { body: '["Hello","Goodbye"]' }, isSuccess),
    says: /^POST \/v1\/chat\/completions: the body is not a JSON object, but an array: \["Hello","Goodbye"\] \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Send one JSON object$/,
    never: /valid requests get/,
    example: { received: 'an array: ["Hello","Goodbye"]' },
  },
  {
    title: 'a health report that is a string',
    defect: replaceParts(to('health'), { body: '"healthy"' }),
    says: /^GET \/health: the body is not a JSON object, but a string: "healthy" \(\d+ responses, /,
    example: { received: '200 with a string: "healthy"' },
  },
  {
    title: 'users that no later request knows',
    defect: forgetUsers,
    says: /: the sandbox forgets users: it creates the same user twice, and deletions get 404 with "sim_user_\w+ is unknown\." .*State per request or per process\?/,
  },
];

for (const { title, defect, says, never, example } of cases) {
  void t.test(`Fix first: ${title}`, async (t) => {
    const target = await withDistortion(t, await startTextAgent(t), defect);
    const { report } = await check({
      target,
      kitVersion: 'test',
      seed: 'requests',
      areas: ['chat', 'health', 'users'],
    });
    const descriptions = report.causes.map(({ description }) => description);
    t.match(descriptions[0], says);
    if (never) t.notMatch(descriptions.join('\n'), never);
    if (example) t.match(report.causes[0]?.example, example);
  });
}

void t.test('a key that is accepted only after bearer, or without a word, is named', async (t) => {
  const apiKey = 'the-key-of-the-sandbox';
  const checkWith = async (scheme: string): Promise<CheckResult> => {
    const isRefused = ({ endpoint, headers }: ProxyRequest): boolean =>
      endpoint !== 'health' && headers['authorization'] !== `${scheme}${apiKey}`;
    const refuse = respondInstead(isRefused, () =>
      errorResponse(401, 'bad_request', 'Unauthorized.'),
    );
    const target = await withDistortion(t, await startTextAgent(t), refuse);
    return check({
      target,
      apiKey,
      kitVersion: 'test',
      seed: 'scheme',
      areas: ['chat', 'health', 'users'],
    });
  };
  for (const scheme of ['bearer ', '']) {
    const { report, transcript } = await checkWith(scheme);
    t.match(report.blockedBy, {
      id: 'key_refused',
      message: `The sandbox refuses the key in "Authorization: Bearer KEY" with 401, and accepts it in "Authorization: ${scheme}KEY".`,
      cure: /^Accept the key after the word Bearer/,
    });
    t.notMatch(JSON.stringify(transcript), apiKey);
  }
});

void t.test('a header name that is compared in its case is named', async (t) => {
  for (const name of ['Authorization', 'AUTHORIZATION']) {
    const { url } = await withSandboxDouble(t, {
      chat(response, request) {
        const isKnown = response.req.rawHeaders.includes(name);
        (isKnown ? reply('Done.') : refusal(401, 'unauthorized'))(response, request);
      },
    });
    const { report } = await check({
      target: url,
      apiKey: 'the-key-of-the-sandbox',
      kitVersion: 'test',
      seed: 'case',
      areas: ['chat', 'health', 'users'],
    });
    t.match(report.blockedBy, {
      id: 'key_refused',
      message: `The sandbox refuses the key in the header "authorization" with 401, and accepts it in "${name}".`,
      cure: /^Ignore the case of header names/,
    });
  }
});

void t.test('Fix first: a key that expires during the run', async (t) => {
  const apiKey = 'the-key-of-the-sandbox';
  const expire: TransformFactory = () => {
    let keyed = 0;
    return async (request, forward) => {
      const isKeyed = request.headers['authorization'] === `Bearer ${apiKey}`;
      if (!isKeyed || ++keyed <= 30) return forward(request);
      return errorResponse(401, 'bad_request', 'The token has expired.');
    };
  };
  const { causes } = await reportOnDefect(t, expire, { apiKey });
  const descriptions = causes.map(({ description }) => description);
  t.match(
    descriptions[0],
    /^POST \/v1\/chat\/completions, POST \/users, and DELETE \/users\/\{user_id\}: the key is refused from exchange \d+ "[^"]+" on, after \d+ accepted requests: 401 with "The token has expired\." \(\d+ responses\)\. Accept the key for the whole run/,
  );
  t.notMatch(descriptions.join('\n'), /Accept every request|instead of 401/);
});
