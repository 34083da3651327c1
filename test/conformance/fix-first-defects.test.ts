/** What "Fix first" says about a defect, and the finding that shows it. */
import t from 'tap';
import { editChat } from '../../conformance/areas/sandbox-responses.ts';
import {
  always,
  drop,
  editErrors,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  type When,
} from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../conformance/engine/mutants/requests.ts';
import {
  check,
  terminalReport,
  htmlReport,
  junitReport,
  markdownReport,
} from '../../conformance/index.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import {
  reportOnDefect,
  testFixFirst,
  type FixFirstCase,
} from '../support/conformance/fix-first.ts';
import {
  CHAT,
  changeBody,
  changeText,
  createErrorResponse,
  isBadRequest,
  isChat,
  isUsers,
  renameKeys,
  toCamel,
  withDistortion,
} from '../support/sandboxes/distortions.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

/** Responds to some requests with a page in place of the sandbox. */
const showInstead = (when: When, status: number, body: string): TransformFactory =>
  respondInstead(when, () => ({ status, headers: { 'content-type': 'text/html' }, body }));

/** Refuses every chat request, because a parameter of another interface is missing. */
const demand = (parameter: string): TransformFactory =>
  respondInstead(isChat, () =>
    createErrorResponse(400, `you must provide ${parameter}`, 'invalid_request_error', null),
  );

const isNotHealth: When = ({ path }) => path !== '/health';

/** Sends each request about users to the next of two sandboxes that share no users. */
const twoProcesses: TransformFactory = () => {
  const known = [new Set<string>(), new Set<string>()];
  let nth = 0;
  return async (request, forward) => {
    const users = known[nth++ % 2] ?? new Set();
    if (request.method === 'DELETE' && !users.delete(userIdOf(request))) {
      return createErrorResponse(404, 'No such user.', 'invalid_request_error', 'not_found');
    }
    if (request.path === '/users') users.add(stringAt('user_id', request) ?? '');
    return forward(request);
  };
};

/** Sends each chat request of a user to the next of two sandboxes, of which one doesn't know the user. */
const chatPerProcess: TransformFactory = () => {
  let nth = 0;
  return async (request, forward) =>
    !isChat(request) || !stringAt('user_id', request) || nth++ % 2 === 0
      ? forward(request)
      : createErrorResponse(400, 'Unknown user.', 'invalid_request_error', 'bad_request');
};

/** Compares only the beginning of ids. */
const cutIds: TransformFactory = () => {
  const known = new Set<string>();
  const at = '2026-01-01T00:00:00Z';
  return async (request, forward) => {
    const isDeletion = request.method === 'DELETE';
    const id = isDeletion ? userIdOf(request) : (stringAt('user_id', request) ?? '');
    const start = id.slice(0, 10);
    if (isDeletion) {
      return known.delete(start)
        ? jsonResponse(200, { user_id: id, deleted_at: at, status: 'deleted' })
        : createErrorResponse(404, '', 'duplicate_user_error', 'not_found');
    }
    if (request.path !== '/users' || !/^\w{1,64}$/.test(id)) return forward(request);
    if (known.has(start)) {
      return createErrorResponse(409, '', 'duplicate_user_error', 'user_exists');
    }
    known.add(start);
    return jsonResponse(201, { user_id: id, created_at: at, status: 'active' });
  };
};

/** Refuses every creation after the eighth because the user exists. */
const fullTable: TransformFactory = () => {
  let creations = 0;
  return async (request, forward) => {
    const id = stringAt('user_id', request) ?? '';
    const isCreation = request.path === '/users' && /^\w{4,64}$/.test(id);
    return isCreation && ++creations > 8
      ? createErrorResponse(409, 'The user exists.', 'duplicate_user_error', 'user_exists')
      : forward(request);
  };
};

const DJANGO_CSRF =
  '<!DOCTYPE html><html><head><title>403 Forbidden</title></head><body><h1>Forbidden <span>(403)</span></h1>' +
  '<p>CSRF verification failed. Request aborted.</p></body></html>';
const NGINX_502 =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>';
const DJANGO_DEBUG =
  '<!DOCTYPE html><html><head><title>TypeError at /v1/chat/completions</title></head><body><h1>TypeError\n at /v1/chat/completions</h1>' +
  '<pre class="exception_value">argument of type &#x27;NoneType&#x27; is not iterable</pre>' +
  '<p>You’re seeing this error because you have <code>DEBUG = True</code> in your Django settings file.</p></body></html>';
const PHP_WARNING =
  '<br />\n<b>Warning</b>:  Undefined array key "user_id" in <b>/var/www/chat.php</b> on line <b>12</b><br />\n';

const cases: readonly FixFirstCase[] = [
  {
    title: 'a CSRF check in front of /users',
    defect: showInstead(isUsers, 403, DJANGO_CSRF),
    says: /^POST \/users.*: requests get 403 with an HTML page \(Django's CSRF check\): "403 Forbidden: CSRF verification failed\. Request aborted" .*@csrf_exempt/,
    never: /error handler/,
    example: { message: '403 Forbidden: CSRF verification failed. Request aborted' },
  },
  {
    title: 'a gateway that fails for one form of request',
    defect: showInstead(
      (request) => isChat(request) && request.body.includes('"system"'),
      502,
      NGINX_502,
    ),
    says: /^POST \/v1\/chat\/completions: requests get 502 with an HTML page \(nginx's error page\): "502 Bad Gateway" .* see the logs of both$/,
    example: { requirement: 'CHAT-010' },
  },
  {
    title: 'the debug page of a framework',
    defect: replaceParts(
      isChat,
      { status: 500, headers: { 'content-type': 'text/html' }, body: DJANGO_DEBUG },
      isBadRequest,
    ),
    says: /requests get 500 with an HTML page \(Django's debug page\): "TypeError at \/v1\/chat\/completions: argument of type 'NoneType' is not iterable" .*Find this error in the log/,
  },
  {
    title: 'a message of PHP before the reply',
    defect: changeText((body) => PHP_WARNING + body, isChat),
    says: /the body is not JSON: PHP printed "Warning: Undefined array key \\"user_id\\" in \/var\/www\/chat\.php on line 12" before the JSON object .*set display_errors to Off/,
  },
  {
    title: 'a required parameter that the interface does not have',
    defect: demand('a model parameter'),
    says: /^POST \/v1\/chat\/completions: valid requests get 400 with "you must provide a model parameter" \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Accept every request/,
    example: { received: '400 (you must provide a model parameter)' },
  },
  {
    title: 'the right shape with a wrong status',
    defect: replaceParts(always, { status: 422 }, isBadRequest),
    says: /^POST \/v1\/chat\/completions and POST \/users: refuse malformed requests with 400 instead of 422$/,
    never: /error handler|validate the body/,
    example: { hint: /422/ },
  },
  {
    title: 'the right shape with an unknown code',
    defect: editErrors(isChat, set('/error/code', 'invalid_messages')),
    says: /^POST \/v1\/chat\/completions: send for 400 the type invalid_request_error and the code bad_request instead of invalid_request_error and invalid_messages$/,
    never: /error handler/,
    example: { requirement: 'CHAT-072', received: '"invalid_messages"' },
  },
  {
    title: 'names in camel case on all routes',
    defect: changeBody((body) => renameKeys(body, toCamel)),
    says: /found `userId`, the name is `user_id`; found `createdAt`, .*Send the names as the specification writes them, without a conversion to camel case$/,
    never: /make user_id/,
    example: { received: 'nothing: found `userId`; the name is `user_id`' },
  },
  {
    title: 'a nested name with another letter',
    defect: changeBody(
      (body) => renameKeys(body, (key) => (key === 'message' ? 'mesage' : key)),
      isChat,
    ),
    says: /^POST \/v1\/chat\/completions: found `mesage`, the name is `message`/,
    example: {
      requirement: 'CHAT-022',
      received: 'nothing: found `mesage`; the name is `message`',
    },
  },
  {
    title: 'tool calls under another name',
    defect: changeBody(
      (body) => renameKeys(body, (key) => (key === 'tool_calls' ? 'toolCalls' : key)),
      isChat,
    ),
    says: /^POST \/v1\/chat\/completions: found `toolCalls`, the name is `tool_calls`/,
    example: {
      requirement: 'CHAT-047',
      received: 'nothing: found `toolCalls`; the name is `tool_calls`',
    },
  },
  {
    title: 'names in kebab case',
    defect: changeBody((body) => renameKeys(body, (key) => key.replaceAll('_', '-')), isUsers),
    says: /found `user-id`, the name is `user_id`.*Send the names as the specification writes them$/,
  },
  {
    title: 'users that each process keeps for itself',
    defect: twoProcesses,
    says: /^DELETE \/users\/\{user_id\}: the sandbox knows a user in one request and not in the next: 404 with "No such user\." .*State per process\?/,
    example: {
      requirement: 'USERS-036',
      message: 'No such user.',
      received: /^404, then 200 to the same request \(exchange \d+\)$/,
    },
  },
  {
    title: 'users that only some chat requests find',
    defect: chatPerProcess,
    says: /^POST \/v1\/chat\/completions: the sandbox knows a user in one request and not in the next: 400 with "Unknown user\." .*State per process\?/,
    never: /valid requests get/,
  },
  {
    title: 'ids of which only the beginning counts',
    defect: cutIds,
    says: /the new user ((sim_user_\w{11})\w*) is refused because it exists, and (?!\1 )\2\w* is unknown afterward .*Compare whole ids/,
  },
  {
    title: 'new users that are refused as existing ones',
    defect: fullTable,
    says: /^POST \/users: new users are refused because they exist: 409 with "The user exists\." /,
    never: /respond to every valid request|valid requests get/,
    example: { received: '409 (The user exists.)' },
  },
];

for (const one of cases) testFixFirst(t, one);

void t.test('every report shows the example of a cause', async (t) => {
  const target = await withDistortion(t, await startTextAgent(t), demand('a model parameter'));
  const { report, transcript } = await check({
    target,
    kitVersion: 'test',
    seed: 'advice',
    areas: ['chat', 'health', 'users'],
  });
  const example = report.causes[1]?.example;
  t.match(example, {
    requirement: 'CHAT-071',
    pointer: '/error/code',
    expected: 'a string',
    received: 'null',
    message: 'you must provide a model parameter',
    curl: /^curl /,
    exchange: { request: `POST ${CHAT}`, outcome: '400' },
  });
  const expected = [/CHAT-071/, /a string/, /null/, /you must provide a model parameter/];
  const texts = {
    terminal: terminalReport(report, { style: plainStyle, width: 80 }),
    markdown: /### Fix first[^]*/.exec(markdownReport(report))?.[0] ?? '',
    html: /id="causes"[^]*?<\/ol>/.exec(htmlReport(report, transcript))?.[0] ?? '',
    junit: /<testcase[^>]*name="CHAT-071[^]*?<\/testcase>/.exec(junitReport(report))?.[0] ?? '',
  };
  for (const [format, text] of Object.entries(texts)) {
    for (const part of expected) t.match(text, part, format);
  }
  t.match(texts.junit, /Fix first: POST \/v1\/chat\/completions: make error\.code a string\./);
});

void t.test('the terminal shows a long message of the sandbox in full', async (t) => {
  const words = Array.from({ length: 60 }, (_, nth) => `word${nth}`).join(' ');
  const report = await reportOnDefect(t, demand(words));
  t.equal(report.causes[0]?.example?.message, `you must provide ${words}`);
  const text = terminalReport(report, { style: plainStyle, width: 80 });
  t.match(text.replaceAll(/\s+/g, ' '), ` message you must provide ${words} `);
  const tooLong = text.split('\n').filter((line) => line.length > 80 && !/^ +curl /.test(line));
  t.same(tooLong, []);
});

void t.test('a page in front of everything is the cause, not the key', async (t) => {
  const pages: [page: string, message: RegExp, cure: RegExp][] = [
    [DJANGO_CSRF, /gets 403 with an HTML page \(Django's CSRF check\)/, /@csrf_exempt/],
    [
      '<html><head><title>Just a moment...</title></head><body><script>window._cf_chl_opt={}</script></body></html>',
      /gets 403 with an HTML page \(Cloudflare's bot check\): "Just a moment"/,
      /Add a rule in Cloudflare/,
    ],
  ];
  for (const [page, message, cure] of pages) {
    const { blockedBy } = await reportOnDefect(t, showInstead(isNotHealth, 403, page));
    t.match(blockedBy, { id: 'refusal_page', message, cure });
  }
  const { blockedBy } = await reportOnDefect(
    t,
    respondInstead(isNotHealth, () =>
      createErrorResponse(401, 'The key has expired.', 'authentication_error', 'expired'),
    ),
  );
  t.match(blockedBy, { id: 'key_refused', message: /\(401: "The key has expired\."\)/ });
});

void t.test('optional fields with another name are a warning, not a failure', async (t) => {
  const report = await reportOnDefect(
    t,
    changeBody(
      (body) =>
        renameKeys(body, (key) => (/^(session_id|finish_reason)$/.test(key) ? toCamel(key) : key)),
      isChat,
    ),
  );
  t.equal(report.verdict, 'conforming');
  const row = rowOf(report, 'CHAT-039');
  t.match(row, {
    verdict: 'warn',
    pointer: '/choices/0/finish_reason',
    received: 'nothing: found `finishReason`; the name is `finish_reason`',
  });
  const echo = rowOf(report, 'CHAT-031');
  t.match(echo?.received, /^nothing: found `sessionId`/);
});

void t.test('CHAT-047 says that no reply names its tools', async (t) => {
  const report = await reportOnDefect(t, editChat(drop('/metadata')), {
    areas: ['chat'],
    prompts: ['Where is my order A-1001?'],
  });
  t.equal(rowOf(report, 'CHAT-041')?.verdict, 'pass');
  t.match(rowOf(report, 'CHAT-047'), {
    verdict: 'not_observed',
    reason: 'The replies with tool calls have no `metadata.tools_used`, which is optional.',
  });
});
