/** What "Fix first" says about a sandbox that reads requests, or writes responses, in a wrong way. */
import t from 'tap';
import {
  always,
  isError,
  replaceParts,
  respondInstead,
  type When,
} from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { check } from '../../conformance/index.ts';
import { defectOf, testFixFirst, type FixFirstCase } from '../support/conformance/fix-first.ts';
import { changeText, createErrorResponse } from '../support/sandboxes/distortions.ts';
import { withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';

/** Refuses some POST requests as if their body were not JSON. */
const refuseAsInvalid = (when: When): TransformFactory =>
  respondInstead(
    (request) => request.method === 'POST' && when(request),
    () =>
      createErrorResponse(
        400,
        'The body is not valid JSON.',
        'invalid_request_error',
        'bad_request',
      ),
  );

/** Returns how deeply arrays and objects are nested. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;

/** Prints errors as Python prints a dictionary. */
const printErrors = changeText(
  (body) => {
    const { error } = JSON.parse(body) as { error?: { type: string; code: string } };
    return `{'error': {'message': 'No.', 'type': '${error?.type}', 'code': '${error?.code}'}}`;
  },
  always,
  isError,
);

const cases: readonly FixFirstCase[] = [
  {
    title: 'bodies of which only the beginning is read',
    defect: refuseAsInvalid(({ body }) => Buffer.byteLength(body) > 8_192),
    says: /^POST \/v1\/chat\/completions and POST \/users: bodies of \d+,\d+ bytes or more get 400 with "The body is not valid JSON\." \(\d+ responses, e\.g\. [^)]+\); \d+,\d+ bytes are read\. Read the whole body/,
    never: /Accept every request/,
  },
  {
    title: 'a body that is read by characters',
    defect: refuseAsInvalid(({ body }) => /[\u0080-\uffff]/.test(body)),
    says: /^POST \/v1\/chat\/completions and POST \/users: requests with characters outside ASCII get 400 with "The body is not valid JSON\." .*\. Content-Length counts bytes: /,
    never: /Accept every request/,
  },
  {
    title: 'a parser with a limit of depth',
    defect: refuseAsInvalid(({ json }) => depthOf(json) > 4),
    says: /^POST \/v1\/chat\/completions and POST \/users: valid JSON gets 400 with "The body is not valid JSON\." .*\. Parse all of JSON: any depth/,
    never: /Accept every request/,
  },
  {
    title: 'errors as pages',
    defect: replaceParts(
      always,
      { headers: { 'content-type': 'text/html' }, body: '<html><h1>Error</h1></html>' },
      isError,
    ),
    says: /^POST \/v1\/chat\/completions and POST \/users: requests get 400 with an HTML page: "Error" .*Add an error handler that sends errors as JSON/,
    isOnly: true,
  },
  {
    title: 'errors in the form of Python',
    defect: printErrors,
    says: /^POST \/v1\/chat\/completions and POST \/users: the body is not JSON: a string in single quotes at byte offset 1 .*Encode the body with json\.dumps/,
    isOnly: true,
  },
  {
    title: 'deletions that get an empty 204',
    defect: defectOf('users/delete-204'),
    says: /^DELETE \/users\/\{user_id\}: a 204 has no body \(\d+ responses, e\.g\. exchange \d+ "[^"]+"\)\. Respond with 200 and one JSON object$/,
    isOnly: true,
  },
  {
    title: 'some malformed requests that get a server error',
    defect: defectOf('users/no-object-500'),
    says: /^POST \/users: also refuse "body an array", "body empty", and 3 more with 400 instead of 500, the type invalid_request_error, and the code bad_request$/,
    isOnly: true,
  },
];

for (const one of cases) testFixFirst(t, one);

void t.test('Fix first: chunks whose size is not hexadecimal', async (t) => {
  const { url: target } = await withSandboxDouble(t, {
    chat(response) {
      const head =
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked';
      response.socket?.end(`${head}\r\n\r\nsize\r\n{}\r\n0\r\n\r\n`);
    },
  });
  const { report } = await check({
    target,
    kitVersion: 'test',
    seed: 'chunks',
    areas: ['chat', 'health', 'users'],
  });
  const descriptions = report.causes.map(({ description }) => description);
  t.match(
    descriptions[0],
    /^POST \/v1\/chat\/completions: the body of a 200 can't be read to its end: .+ \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Let the HTTP library write the body: .* hexadecimal/,
  );
  // POST /users of the double accepts every body.
  t.notMatch(descriptions.join('\n'), /log of the sandbox|completions: validate the body/);
});
