/** What "Fix first" says about valid requests that a sandbox refuses, and about users that it forgets. */
import t from 'tap';
import { check } from '../../conformance/index.ts';
import { resolvePointer } from '../../src/contract/index.ts';
import { isObject, parseJson } from '../../src/platform/json.ts';
import { testFixFirst, type FixFirstCase } from '../support/conformance/fix-first.ts';
import {
  changeBody,
  errorBody,
  idOf,
  isAccepted,
  isChat,
  withDefect,
  type Defect,
  type Message,
} from '../support/sandboxes/defective-layer.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

type ReceivedRequest = Parameters<ReturnType<Defect>>[0];

const JSON_TYPE = { 'content-type': 'application/json' };

const refuse = (request: ReceivedRequest, status: number, message: string): Promise<Message> =>
  Promise.resolve({
    ...{ ...request, status, headers: JSON_TYPE },
    body: errorBody(message, 'invalid_request_error', 'bad_request'),
  });

/** Refuses chat requests because of a key in `metadata`, with the words of Go. */
const refuseKeys =
  (isRefused: (key: string, nth: number) => boolean): Defect =>
  () => {
    let nth = 0;
    return (request, forward) => {
      const metadata = resolvePointer(parseJson(request.body), '/metadata');
      if (!isChat(request) || !isObject(metadata)) return forward();
      nth += 1;
      const refused = Object.keys(metadata).find((key) => isRefused(key, nth));
      return refused === undefined
        ? forward()
        : refuse(request, 400, `json: unknown field ${JSON.stringify(refused)}`);
    };
  };

/** Refuses requests to a path with 406 if they have the header Accept, or if they lack it. */
const refuseAccept =
  (path: string, isRefused: (accept: string | undefined) => boolean): Defect =>
  () =>
  (request, forward) =>
    request.path === path && isRefused(request.headers.accept)
      ? refuse(request, 406, 'Not acceptable.')
      : forward();

/** Creates every user, and knows none afterward. */
const forgetUsers: Defect = () => (request, forward) => {
  if (request.method === 'DELETE') {
    return refuse(request, 404, `${request.path.slice('/users/'.length)} is unknown.`);
  }
  const id = idOf(request);
  if (request.path !== '/users' || !/^\w{1,64}$/.test(id)) return forward();
  const created = { user_id: id, created_at: '2026-01-01T00:00:00Z', status: 'active' };
  const body = JSON.stringify(created);
  return Promise.resolve({ ...request, status: 201, headers: JSON_TYPE, body });
};

const KNOWN_KEYS = ['scenario_id', 'persona', 'time_of_day'];

const cases: readonly FixFirstCase[] = [
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
    defect: refuseAccept('/health', (accept) => accept === undefined),
    says: /^GET \/health: requests without the header Accept get 406 \(\d+ responses, e\.g\. exchange \d+ "plain"\), and 200 with Accept: application\/json \(exchange \d+\)\. Send JSON whether or not/,
  },
  {
    title: 'a health check that refuses the header Accept',
    defect: refuseAccept('/health', (accept) => accept === 'application/json'),
    says: /^GET \/health: requests with Accept: application\/json get 406 \(exchange \d+ "with Accept"\), and 200 without the header Accept \(exchange \d+\)\. Send JSON whether or not/,
    example: { requirement: 'HEALTH-006' },
  },
  {
    title: 'a chat route that requires the header Accept',
    defect: refuseAccept('/v1/chat/completions', (accept) => accept === undefined),
    says: /^POST \/v1\/chat\/completions: requests without the header Accept get 406 \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Send JSON whether or not/,
    never: /valid requests get|instead of 406/,
  },
  {
    title: 'replies that are an array of texts',
    defect: changeBody(
      () => ['Hello', 'Goodbye'],
      (message) => isAccepted(message) && isChat(message),
    ),
    says: /^POST \/v1\/chat\/completions: the body is not a JSON object, but an array: \["Hello","Goodbye"\] \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Send one JSON object$/,
    never: /valid requests get/,
    example: { received: 'an array: ["Hello","Goodbye"]' },
  },
  {
    title: 'a health report that is a string',
    defect: changeBody(
      () => 'healthy',
      ({ path }) => path === '/health',
    ),
    says: /^GET \/health: the body is not a JSON object, but a string: "healthy" \(\d+ responses, /,
    example: { received: '200 with a string: "healthy"' },
  },
  {
    title: 'users that no later request knows',
    defect: forgetUsers,
    says: /: the sandbox forgets users: it creates the same user twice, and deletions get 404 with "sim_user_\w+ is unknown\." .*State per request or per process\?/,
  },
];

for (const one of cases) testFixFirst(t, one);

void t.test('a key that is accepted only after bearer, or without a word, is named', async (t) => {
  const apiKey = 'the-key-of-the-sandbox';
  for (const scheme of ['bearer ', '']) {
    const defect: Defect = () => (request, forward) =>
      request.path === '/health' || request.headers.authorization === `${scheme}${apiKey}`
        ? forward()
        : refuse(request, 401, 'Unauthorized.');
    const target = await withDefect(t, await startTextAgent(t), defect);
    const { report, transcript } = await check({
      ...{ target, apiKey, kitVersion: 'test', seed: 'scheme' },
      areas: ['chat', 'health', 'users'],
    });
    t.match(report.blockedBy, {
      id: 'key_refused',
      message: `The sandbox refuses the key in "Authorization: Bearer KEY" with 401, and accepts it in "Authorization: ${scheme}KEY".`,
      cure: /^Accept the key after the word Bearer/,
    });
    t.notMatch(JSON.stringify(transcript), apiKey);
  }
});
