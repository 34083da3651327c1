/** A defect that spoils many responses is reported as one cause, with few failures besides. */
import t, { type Test } from 'tap';
import {
  always,
  chain,
  changeRequest,
  isError,
  isSuccess,
  jsonResponse,
  replaceParts,
  respondInstead,
  to,
  type When,
} from '../../conformance/engine/mutants/combinators.ts';
import type { ProxyResponse, TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { check, terminalReport } from '../../conformance/index.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { reportOnDefect } from '../support/conformance/fix-first.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { nightOnly } from '../support/nightly.ts';
import {
  CHAT,
  changeBody,
  changeText,
  createErrorResponse,
  isBadRequest,
  isChat,
  isUsers,
  withDistortion,
} from '../support/sandboxes/distortions.ts';
import { withPlainSandbox } from '../support/sandboxes/plain-sandbox.ts';
import {
  respondWith,
  withoutUsers,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

/** The most failed requirements that the cause of a defect may leave. */
const UNRELATED_MAX = 3;

interface Case {
  title: string;
  defect: TransformFactory;
  /** What the cause says. */
  says: RegExp;
  upstream?: 'plain';
  /** Which requirements fail (default: any). */
  fails?: RegExp;
  /** The most failed requirements that the cause leaves, if not {@link UNRELATED_MAX}. */
  unrelatedMax?: number;
  /** Another case has the same cause in a more common form. */
  isRare?: true;
}

const nginxPage = (status: number, title: string): ProxyResponse => ({
  status,
  headers: { 'content-type': 'text/html', server: 'nginx', 'retry-after': '0' },
  body: `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`,
});

/** Responds to every nth of the selected requests. */
const limit =
  (response: ProxyResponse, nth: number, isLimited: When): TransformFactory =>
  () => {
    let count = 0;
    return async (request, forward) =>
      isLimited(request) && ++count % nth === 0 ? response : forward(request);
  };

/** Responds to a chat request while another one is in flight. */
const failInOverlap =
  (response: ProxyResponse): TransformFactory =>
  () => {
    let inFlight = 0;
    return async (request, forward, clock) => {
      if (!isChat(request)) return forward(request);
      if (++inFlight > 1) {
        inFlight--;
        return response;
      }
      const forwarded = await forward(request);
      // Long enough for concurrent requests to arrive.
      await clock.sleep(20);
      inFlight--;
      return forwarded;
    };
  };

/** Caches by method and path: later requests get the first response, even with another body. */
const cachePosts =
  (headers: Record<string, string>): TransformFactory =>
  () => {
    const cache = new Map<string, Promise<ProxyResponse>>();
    return async (request, forward) => {
      const { method, path } = request;
      if (method !== 'POST') return forward(request);
      const isHit = cache.has(path);
      const stored = cache.get(path) ?? forward(request);
      cache.set(path, stored);
      const response = await stored;
      return { ...response, headers: { ...response.headers, ...(isHit && headers) } };
    };
  };

const redirect = (from: string, location: string): TransformFactory =>
  respondInstead(
    ({ path }) => path === from,
    () => ({ status: 307, headers: { location }, body: '' }),
  );

const isChatWithoutPrefix: When = ({ path }) => path === '/chat/completions';

const respondUnknown = (when: When): TransformFactory =>
  respondInstead(when, () => ({ status: 404, headers: {}, body: 'Not found' }));

/** Serves the chat route without its prefix. */
const addPrefix = changeRequest(isChatWithoutPrefix, (request) => ({ ...request, path: CHAT }));

const cases: readonly Case[] = [
  {
    title: 'errors with status 200',
    defect: replaceParts(always, { status: 200 }, isError),
    says: /^POST \/v1\/chat\/completions, POST \/users, and DELETE \/users\/\{user_id\}: errors are sent with status 200 \(\d+ responses, e\.g\. exchange \d+ "[^"]+"\)\. Send each error with its own status/,
    // Only refusals.
    fails: /-06\d$/,
  },
  {
    title: 'errors as a text with status 200, from a sandbox without ids',
    isRare: true,
    upstream: 'plain',
    defect: replaceParts(
      always,
      { status: 200, body: '{"success":false,"error":"Invalid request."}' },
      isError,
    ),
    says: /: errors are sent with status 200 /,
  },
  {
    title: 'replies that are errors with status 200',
    defect: replaceParts(
      isChat,
      { body: '{"error":{"message":"The model timed out.","type":"t","code":"c"}}' },
      isSuccess,
    ),
    says: /^POST \/v1\/chat\/completions: valid requests get an error with status 200: "The model timed out\." \(\d+ responses, e\.g\. exchange \d+ "minimal"\)\. Find this error in the log/,
  },
  {
    title: 'a proxy that caches by path',
    defect: cachePosts({ age: '3' }),
    says: /: different requests get the same response, as from a cache \(\d+ responses, e\.g\. .*, age: 3\)\. Turn off caches /,
  },
  {
    title: 'a proxy that caches without saying so',
    isRare: true,
    defect: cachePosts({}),
    // Which of two simultaneous creations is cached decides whether their requirement fails, too.
    unrelatedMax: UNRELATED_MAX + 1,
    says: /: different requests get the same response, as from a cache /,
  },
  {
    title: 'a proxy that limits requests with its own 429 page',
    defect: limit(nginxPage(429, '429 Too Many Requests'), 5, always),
    says: /^.*: requests are limited: 429 with "429 Too Many Requests" from nginx \(\d+ responses, e\.g\. .*\)\. Raise the limit of the proxy/,
  },
  {
    title: 'a gateway that limits requests with its own 429 JSON',
    isRare: true,
    defect: limit(
      jsonResponse(429, { message: 'API rate limit exceeded' }, { 'retry-after': '0' }),
      4,
      isUsers,
    ),
    says: /^POST \/users.*: requests are limited: 429 with "API rate limit exceeded"/,
  },
  {
    title: 'a proxy that limits requests with a 503 page',
    isRare: true,
    defect: limit(nginxPage(503, '503 Service Temporarily Unavailable'), 7, isChat),
    says: /^POST \/v1\/chat\/completions: requests are limited: 503 with "503 Service Temporarily Unavailable" from nginx /,
  },
  {
    title: 'a sandbox that fails when requests overlap',
    defect: failInOverlap(createErrorResponse(500, 'Busy.', 'internal_error', 'server_error')),
    says: /^POST \/v1\/chat\/completions: requests that overlap fail: 500 with "Busy\." \(\d+ responses, e\.g\. .*\); they succeed when they are sent again alone\. Look for state/,
  },
  {
    title: 'a body wrapped in data',
    defect: changeBody((body) => ({ success: true, data: body })),
    says: /^All routes: the body is wrapped in "data" \(\d+ responses, e\.g\. .*\)\. Send its fields at the top level$/,
  },
  {
    title: 'a user wrapped in user',
    isRare: true,
    upstream: 'plain',
    defect: changeBody((body) => ({ user: body }), isUsers),
    says: /^POST \/users and DELETE \/users\/\{user_id\}: the body is wrapped in "user" /,
  },
  {
    title: 'errors wrapped in detail',
    isRare: true,
    defect: changeBody((body) => ({ detail: body }), always, isError),
    says: /: the body is wrapped in "detail" /,
  },
  {
    title: 'a reply as JSON text in body',
    defect: changeBody((body) => ({ statusCode: 200, body: JSON.stringify(body) }), isChat),
    says: /^POST \/v1\/chat\/completions: the body is JSON text in "body" /,
  },
  {
    title: 'a reply in an array',
    defect: changeBody((body) => [body], isChat),
    says: /^POST \/v1\/chat\/completions: the body is in an array /,
  },
  {
    title: 'a redirect of /users to a path with a slash',
    defect: redirect('/users', '/users/'),
    says: /^POST \/users: requests are redirected with 307 to \/users\/ \(\d+ responses, e\.g\. .*\), and redirects are not followed\. Serve the path without a slash at its end$/,
  },
  {
    title: 'a redirect of /health',
    isRare: true,
    defect: redirect('/health', '/healthz'),
    says: /^GET \/health: requests are redirected with 307 to \/healthz /,
  },
  {
    title: 'a chat route without /v1',
    defect: chain(respondUnknown(isChat), addPrefix),
    says: /^POST \/v1\/chat\/completions: the path is unknown \(404\), but POST \/chat\/completions responds with 200 \(exchange \d+\)\. Add the prefix \/v1 to the route$/,
  },
  {
    title: 'an unknown chat route',
    isRare: true,
    defect: respondUnknown((request) => isChat(request) || isChatWithoutPrefix(request)),
    says: /^POST \/v1\/chat\/completions: the path is unknown \(404 for \d+ responses, e\.g\. exchange \d+ "minimal"\)\. Serve this route/,
  },
  {
    title: 'a server error for every malformed body, on all routes',
    defect: replaceParts(
      always,
      createErrorResponse(500, '', 'internal_error', 'server_error'),
      isBadRequest,
    ),
    says: /^POST \/v1\/chat\/completions and POST \/users: validate the body first/,
  },
  {
    title: 'NaN in replies',
    defect: changeText(
      (body) => body.replace(/\}$/, ',"metadata":{"agent_confidence":NaN}}'),
      isChat,
    ),
    upstream: 'plain',
    says: /^POST \/v1\/chat\/completions: the body is not JSON: NaN at byte offset 90 \(\d+ responses, e\.g\. .*\)\. JSON has only finite numbers: omit the field, or send a number$/,
  },
  {
    title: 'a byte order mark before the body of users',
    isRare: true,
    defect: changeText((body) => `\uFEFF${body}`, isUsers),
    says: /^POST \/users.*: the body is not JSON: a byte order mark \(BOM\) at byte offset 0 .*\. Send UTF-8 without a byte order mark$/,
  },
  {
    title: 'replies that are encoded twice',
    defect: changeText((body) => JSON.stringify(body), isChat),
    says: /^POST \/v1\/chat\/completions: the body is not JSON: .* it was encoded twice/,
  },
  {
    title: 'text after the health report',
    isRare: true,
    defect: changeText((body) => `${body}\n<!-- 3 ms -->`, to('health')),
    says: /^GET \/health: the body is not JSON: text after the JSON object at byte offset \d+: "<!-- 3 ms -->"/,
  },
];

async function reportOf(
  t: Test,
  { defect, upstream }: Pick<Case, 'defect' | 'upstream'>,
): Promise<CheckReport> {
  const url = upstream === 'plain' ? await withPlainSandbox(t) : await startTextAgent(t);
  return reportOnDefect(t, defect, { upstream: url, seed: 'one-cause' });
}

void t.test('a sandbox that always sends the same reply is not called a cache', async (t) => {
  const choices = [{ message: { role: 'assistant', content: 'Yes.' } }];
  const { url: target } = await withSandboxDouble(t, {
    ...withoutUsers,
    chat: respondWith(200, { chat_id: 'chat-1', choices }),
  });
  const { report } = await check({ target, kitVersion: 'test', seed: 'constant', areas: ['chat'] });
  t.match(report.causes, [
    { description: /^POST \/v1\/chat\/completions: validate the body first/ },
  ]);
  t.equal(report.causes.length, 1);
});

void t.test('no response is JSON: the one cause says why', async (t) => {
  const faults: [TransformFactory, RegExp, string][] = [
    [
      changeText((body) => `\uFEFF${body}`),
      /^No response is a JSON object: "\{.*" \(a byte order mark \(BOM\) at byte offset 0\)\.$/,
      'Send UTF-8 without a byte order mark.',
    ],
    [
      changeText((body) => body.replace(/\}$/, ',"load":NaN}')),
      /^No response is a JSON object: ".*" \(NaN at byte offset \d+\)\.$/,
      'JSON has only finite numbers: omit the field, or send a number.',
    ],
  ];
  for (const [defect, message, cure] of faults) {
    const { blockedBy, exitCode } = await reportOf(t, { defect });
    t.match({ blockedBy, exitCode }, { blockedBy: { id: 'not_json', message, cure }, exitCode: 3 });
  }
});

void t.test('JSON with the content type text/html is not called an HTML page', async (t) => {
  const { verdict, blockedBy } = await reportOf(t, {
    defect: replaceParts(always, { headers: { 'content-type': 'text/html' } }),
  });
  t.match({ verdict, blockedBy }, { verdict: 'conforming', blockedBy: undefined });
});

void t.test('a URL that ends in /v1 is recognized', async (t) => {
  const { report } = await check({
    target: `${await startTextAgent(t)}/v1`,
    kitVersion: 'test',
    seed: 'v1',
    areas: ['chat', 'health', 'users'],
  });
  t.match(report.blockedBy, {
    id: 'no_interface',
    cure: /^Remove \/v1 from the end of the URL\.$/,
  });
});

void t.test(
  'a sandbox with only a chat route without /v1 gets that as its one cause',
  async (t) => {
    const agent = await startTextAgent(t);
    const onlyChat = respondUnknown((request) => !isChatWithoutPrefix(request));
    const target = await withDistortion(t, agent, chain(onlyChat, addPrefix));
    const { report } = await check({ target, kitVersion: 'test', seed: 'only-chat' });
    t.match(report.blockedBy, {
      id: 'no_interface',
      cure: /^POST \/chat\/completions responds with 200: add the prefix \/v1 to this route\. /,
    });
  },
);

for (const one of cases) {
  void t.test(`one cause: ${one.title}`, one.isRare ? nightOnly() : {}, async (t) => {
    const report = await reportOf(t, one);
    const failed = idsWith(report, 'fail');
    t.ok(failed.length > 0, 'something fails');
    for (const id of failed) t.match(id, one.fails ?? /./, `${id} fails because of it`);
    const [cause] = report.causes;
    t.match(cause?.description, one.says);
    t.equal(
      report.causes.length,
      1,
      report.causes.map(({ description }) => description).join('\n'),
    );
    const unrelated = failed.filter((id) => !cause?.clears.includes(id));
    const { unrelatedMax = UNRELATED_MAX } = one;
    t.ok(unrelated.length <= unrelatedMax, `unrelated: ${unrelated.join()}`);
    t.comment(
      `${failed.length} failed, ${idsWith(report, 'blocked').length} blocked, ${report.causes.length} causes, ${unrelated.length} unrelated`,
    );
    const text = terminalReport(report, { style: plainStyle, width: 80 });
    t.match(text, /^Fix first\n {2}- /, 'the cause comes first');
    const explained = failed.filter((id) => cause?.clears.includes(id));
    const rows = [...text.matchAll(/^FAIL {2}(\S+)/gm)].map(([, id = '']) => id);
    t.same(
      rows,
      explained.length > 1 ? unrelated : failed,
      'the cause replaces the failures that it explains',
    );
    if (explained.length > 1) {
      t.match(text, /\n {4}example {3}[A-Z]+-\d+ [^]*\n {4}exchange {2}\d+ "/, 'with one example');
      const every = terminalReport(report, { style: plainStyle, width: 80, verbose: true });
      t.equal(every.match(/^FAIL /gm)?.length, failed.length, '--verbose shows each failure');
      t.match(text.replaceAll(/\s+/g, ' '), `each of the ${explained.length} failures with a`);
    }
    const tooLong = text.split('\n').filter((line) => line.length > 80 && !/^ +curl /.test(line));
    t.same(tooLong, [], 'fits into 80 columns');
  });
}
