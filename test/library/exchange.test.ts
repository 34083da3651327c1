/** `validateExchange` judges one exchange like a check, without false alarms. */
import t, { type Test } from 'tap';
import {
  check,
  startAgent,
  startService,
  validateExchange,
  type Exchange,
  type ExchangeRecord,
} from '../../library/index.ts';

const chat = { method: 'POST', path: '/v1/chat/completions' };
const chatRequest = { ...chat, body: { messages: [{ role: 'user', content: 'Hi.' }] } };
const reply = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
};
const userRequest = { method: 'POST', path: '/users', body: { user_id: 'user_1' } };
const error = (code: string, type: string) => ({ error: { message: 'No.', type, code } });

/** Exchanges and the ids of their findings. */
const judged: [title: string, exchange: Exchange, ids: string[]][] = [
  ['a reply', { request: chatRequest, response: { status: 200, body: reply } }, []],
  [
    'a reply as text, with a URL',
    {
      request: { ...chatRequest, path: 'https://example.com/agent/v1/chat/completions?a=b' },
      response: { status: 200, body: JSON.stringify(reply) },
    },
    [],
  ],
  ['no content', chatWith({ role: 'assistant', content: null }), ['CHAT-024']],
  ['a wrong role', chatWith({ role: 'bot', content: 'Hi.' }), ['CHAT-023']],
  ['not JSON', { request: chatRequest, response: { status: 200, body: 'Hi.' } }, ['CHAT-002']],
  [
    'a valid request refused',
    {
      request: chatRequest,
      response: { status: 400, body: error('bad_request', 'invalid_request_error') },
    },
    ['CHAT-002'],
  ],
  [
    'a malformed request refused',
    {
      request: { ...chat, body: { messages: 'Hi.' } },
      response: { status: 400, body: error('bad_request', 'invalid_request_error') },
    },
    [],
  ],
  [
    'a refusal without the error shape',
    { request: { ...chat, body: {} }, response: { status: 400, body: { detail: 'No.' } } },
    ['CHAT-070'],
  ],
  ['a missing key', { request: chatRequest, response: { status: 401, body: {} } }, []],
  [
    'a rate limit',
    {
      request: chatRequest,
      response: {
        status: 429,
        headers: { 'Retry-After': '1' },
        body: error('rate_limit_exceeded', 'rate_limit_error'),
      },
    },
    [],
  ],
  [
    'a created user',
    {
      request: userRequest,
      response: {
        status: 201,
        body: { user_id: 'user_1', created_at: '2026-11-20T09:30:00Z', status: 'active' },
      },
    },
    [],
  ],
  [
    'a duplicate user',
    {
      request: userRequest,
      response: { status: 409, body: error('user_exists', 'duplicate_user_error') },
    },
    [],
  ],
  [
    'a user that does not exist',
    { request: { method: 'DELETE', path: '/users/user_1' }, response: { status: 404, body: {} } },
    [],
  ],
];

function chatWith(message: object): Exchange {
  return { request: chatRequest, response: { status: 200, body: { choices: [{ message }] } } };
}

void t.test('an exchange fails exactly the requirements that it breaks', (t) => {
  for (const [title, exchange, ids] of judged) {
    const failed = validateExchange(exchange).filter(({ verdict }) => verdict === 'fail');
    t.same([...new Set(failed.map(({ id }) => id))], ids, title);
  }
  t.end();
});

void t.test('a page of results without its list fails at the place of the list', (t) => {
  const findings = validateExchange({
    request: { method: 'GET', path: '/api/prod-evaluations/sessions/?limit=5' },
    response: { status: 200, body: { total: 0, skip: 0, limit: 5 } },
  });
  t.ok(findings.some(({ verdict, pointer }) => verdict === 'fail' && pointer === '/items'));
  t.end();
});

void t.test('a finding has the rule, the place, and the repair', (t) => {
  const [finding] = validateExchange(chatWith({ role: 'assistant', content: 7 }));
  t.match(finding, {
    id: 'CHAT-024',
    verdict: 'fail',
    section: '2.8',
    rule: /content` is a string/,
    pointer: '/choices/0/message/content',
    expected: 'a string',
    received: '7',
    repair: 'POST /v1/chat/completions: make choices[].message.content a string',
  });
  t.end();
});

void t.test('a slow response warns only if its time is given', (t) => {
  const exchange = { request: chatRequest, response: { status: 200, body: reply } };
  const slow = validateExchange({ ...exchange, durationMs: 6_000 });
  t.ok(slow.length > 0);
  t.ok(slow.every(({ verdict }) => verdict === 'warn'));
  t.same(validateExchange({ ...exchange, durationMs: 100 }), []);
  t.end();
});

void t.test('headers and bodies can have the forms of common clients', (t) => {
  const bytes = new TextEncoder().encode(JSON.stringify(reply));
  const headers = [
    new Headers({ 'Content-Type': 'application/json' }),
    { 'Content-Type': 'application/json', 'X-List': ['a', 'b'], 'X-None': undefined },
    undefined,
  ];
  for (const each of headers) {
    t.same(
      validateExchange({
        request: chatRequest,
        response: { status: 200, headers: each, body: bytes },
      }),
      [],
    );
  }
  const invalid = Uint8Array.of(0x7b, 0xff, 0x7d);
  t.ok(
    validateExchange({ request: chatRequest, response: { status: 200, body: invalid } }).length > 0,
  );
  t.end();
});

void t.test('an incomplete exchange or an unknown route is a TypeError', (t) => {
  const wrong: [value: unknown, message: RegExp][] = [
    [undefined, /^validateExchange: The options must be an object, got nothing\.$/],
    [{ request: chat }, /response must be an object, got nothing/],
    [{ request: chat, response: {} }, /response\.status must be an integer from 100 to 599/],
    [{ request: { method: 'GET' }, response: { status: 200 } }, /request\.path must be a path/],
    [
      { request: chat, response: { status: 200, bdy: '' } },
      /Unknown option "response\.bdy"\. Did you mean body\?/,
    ],
    [
      { request: { method: 'GET', path: '/v1/models' }, response: { status: 200 } },
      /GET \/v1\/models is not a route of the interface\. Expected one of POST \/v1\/chat/,
    ],
  ];
  for (const [value, message] of wrong) {
    t.throws(() => validateExchange(value as Exchange), { name: 'TypeError', message });
  }
  t.end();
});

void t.test(
  'the message about an object of fetch, an unread body, or a promise says what to pass',
  (t) => {
    const response = new Response('{}');
    const wrong: [value: unknown, message: string][] = [
      [
        { request: chat, response },
        'response is a Response of fetch, whose body is not read yet. Pass { status: response.status, headers: response.headers, body: await response.text() }.',
      ],
      [
        { request: new Request('http://127.0.0.1:1/health'), response: { status: 200 } },
        'request is a Request of fetch, whose body is not read yet. Pass { method: request.method, path: request.url, headers: request.headers, body }.',
      ],
      [
        { request: chat, response: Promise.resolve(response) },
        'response is a promise. Did you forget await?',
      ],
      [
        { request: chat, response: { status: 200, body: Promise.resolve({}) } },
        'response.body is a promise. Did you forget await?',
      ],
      [Promise.resolve({}), 'The argument is a promise. Did you forget await?'],
      ...[response.body, new Blob(['{}'])].map((body): [unknown, string] => [
        { request: chat, response: { status: 200, body } },
        'response.body must be text, bytes, or a JSON value, got a stream. Read it first, for example with await response.text().',
      ]),
      [
        { request: chat, response: { status: 200, body: () => undefined } },
        'response.body must be text, bytes, or a JSON value, got a function.',
      ],
    ];
    for (const [value, message] of wrong) {
      t.throws(() => validateExchange(value as Exchange), {
        name: 'TypeError',
        message: `validateExchange: ${message}`,
      });
    }
    t.end();
  },
);

void t.test('the parts of a response of fetch are judged as the message says', async (t) => {
  const response = Response.json(reply);
  const { status, headers } = response;
  const body = await response.clone().text();
  t.same(validateExchange({ request: chatRequest, response: { status, headers, body } }), []);
  const bytes = await response.arrayBuffer();
  t.same(
    validateExchange({ request: chatRequest, response: { status, headers, body: bytes } }),
    [],
  );
});

/** Judges each recorded exchange on its own, and returns the findings that fail. */
function judgeAlone(exchanges: readonly ExchangeRecord[]): string[] {
  return exchanges.flatMap(({ step, request, response }) => {
    // Only the beginning of a large body is recorded.
    if (!response || request.bodyBytes !== undefined) return [];
    const { bodyBase64, ...sent } = request;
    const body = bodyBase64 === undefined ? sent.body : Buffer.from(bodyBase64, 'base64');
    return validateExchange({ request: { ...sent, body }, response })
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ id, received }) => `${step}: ${id} (${received})`);
  });
}

async function recordCheck(
  t: Test,
  options: Parameters<typeof check>[0],
): Promise<ExchangeRecord[]> {
  const exchanges: ExchangeRecord[] = [];
  const report = await check({ ...options, onExchange: (each) => exchanges.push(each) });
  t.equal(report.verdict, 'conforming');
  return exchanges;
}

void t.test('no exchange of a conforming sandbox has a finding', async (t) => {
  const agent = await startAgent();
  t.teardown(() => agent.stop());
  const exchanges = await recordCheck(t, { url: agent.url, areas: ['chat', 'health', 'users'] });
  const routes = exchanges.filter(({ endpoint }) => endpoint !== 'elsewhere');
  const known = routes.filter(({ request: { path, method } }) =>
    /^(POST \/v1\/chat\/completions|GET \/health|POST \/users|DELETE \/users\/[^/]+)$/.test(
      `${method} ${path}`,
    ),
  );
  t.ok(known.length > 100, `${known.length} exchanges`);
  t.same(judgeAlone(known), []);
});

void t.test('no accepted exchange of a conforming service has a finding', async (t) => {
  const service = await startService();
  t.teardown(() => service.stop());
  const { url, apiKey } = service;
  const options = { url, apiKey, areas: ['service'], intrusive: false } as const;
  const exchanges = await recordCheck(t, options);
  const known = exchanges.filter(
    ({ endpoint, response }) =>
      ['traces', 'end', 'simulations', 'production'].includes(endpoint) &&
      response !== undefined &&
      response.status < 300,
  );
  t.ok(known.length > 20, `${known.length} exchanges`);
  t.same(judgeAlone(known), []);
});
