/** Pages that come instead of JSON are recognized, and quoted in one line. */
import t from 'tap';
import { describePage, findHtmlPage } from '../../../conformance/engine/transcript/html-page.ts';
import { findOwnMessage } from '../../../conformance/engine/transcript/own-message.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';

const exchangeWith = (status: number, body: string, type = 'text/html'): Exchange =>
  toExchange({
    record: 'exchange',
    id: 1,
    probe: 'preflight',
    endpoint: 'chat',
    step: 'minimal',
    intent: 'valid',
    startedMs: 0,
    endedMs: 1,
    request: { method: 'POST', path: '/v1/chat/completions', headers: {}, body: '{}' },
    response: { status, headers: { 'content-type': type }, body },
  });

const titled = (title: string, body = ''): string =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body>${body}</body></html>`;

const pages: readonly [status: number, body: string, description: string, cure: RegExp][] = [
  [
    403,
    titled('403 Forbidden', '<h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p>'),
    `an HTML page (Django's CSRF check): "403 Forbidden: CSRF verification failed. Request aborted"`,
    /@csrf_exempt/,
  ],
  [
    422,
    titled(
      'Action Controller: Exception caught',
      '<h1>ActionController::InvalidAuthenticityToken</h1><h2>Can&#39;t verify CSRF token authenticity.</h2>',
    ),
    `an HTML page (Rails' CSRF check): "Action Controller: Exception caught: Can't verify CSRF token authenticity"`,
    /skip_forgery_protection/,
  ],
  [419, titled('Page Expired'), `an HTML page (Laravel's CSRF check): "Page Expired"`, /api\.php/],
  [
    400,
    titled('Bad Request', '<h1>Bad Request</h1><p>The CSRF token is missing.</p>'),
    'an HTML page (a CSRF check): "Bad Request"',
    /bearer key, and no cookie/,
  ],
  [
    200,
    titled('Example SSO', '<h1>Sign in</h1><form><input type="password"></form>'),
    'an HTML page (a login page): "Example SSO: Sign in"',
    /without a login/,
  ],
  [
    413,
    '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.24.0</center>',
    `an HTML page (nginx's error page): "413 Request Entity Too Large"`,
    /client_max_body_size/,
  ],
  [
    504,
    "<html><body><h1>504 Gateway Time-out</h1>\nThe server didn't respond in time.\n</body></html>",
    `an HTML page (a proxy's error page): "504 Gateway Time-out"`,
    /timeout of the proxy/,
  ],
  [
    503,
    '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>',
    `an HTML page (HAProxy's error page): "503 Service Unavailable"`,
    /logs of both/,
  ],
  [
    400,
    titled(
      'Error',
      '<pre>SyntaxError: Unexpected end of JSON input<br> &nbsp; &nbsp;at JSON.parse</pre>',
    ),
    `an HTML page (Express's error page): "Error: SyntaxError: Unexpected end of JSON input"`,
    /error handler/,
  ],
  [
    400,
    '<html><body><h1>Whitelabel Error Page</h1><div>There was an unexpected error (type=Bad Request, status=400).</div></body></html>',
    `an HTML page (Spring's whitelabel error page): "type=Bad Request, status=400"`,
    /error handler/,
  ],
  [
    404,
    '<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not found on the server.</p>',
    `an HTML page (Flask's error page): "404 Not Found"`,
    /serves this route/,
  ],
  [
    500,
    '<br />\n<b>Fatal error</b>:  Uncaught TypeError: count() in /var/www/chat.php:7',
    'an HTML page (a message of PHP): "Fatal error: Uncaught TypeError: count() in /var/www/chat.php:7"',
    /display_errors to Off/,
  ],
  [502, titled('Service error'), 'an HTML page: "Service error"', /error handler/],
];

void t.test('an HTML page is named by the framework, proxy, or check that sent it', (t) => {
  for (const [status, body, description, cure] of pages) {
    const page = findHtmlPage(exchangeWith(status, body));
    t.equal(page && describePage(page), description);
    t.match(page?.cure, cure, description);
  }
  t.end();
});

void t.test('JSON, plain text, and JSON after a notice of PHP are not HTML pages', (t) => {
  t.equal(findHtmlPage(exchangeWith(200, '{"choices":[]}')), undefined, 'JSON as text/html');
  t.equal(findHtmlPage(exchangeWith(500, 'Internal Server Error', 'text/plain')), undefined);
  t.equal(findHtmlPage(exchangeWith(200, '<br />\n<b>Notice</b>: x\n{"choices":[1]}')), undefined);
  t.end();
});

void t.test("the sandbox's own message, in each place where frameworks put it", (t) => {
  const bodies: [body: string, message: string | undefined][] = [
    ['{"error":{"message":"No model.","type":"t","code":null}}', 'No model.'],
    [
      '{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}',
      'body.messages: Field required',
    ],
    ['{"detail":"Not authenticated"}', 'Not authenticated'],
    ['{"error":"messages: wrong type"}', 'messages: wrong type'],
    ['{"type":"about:blank","title":"Bad Request","detail":"No user.","status":400}', 'No user.'],
    ['{"errors":[{"message":"First"},{"message":"Second"}]}', 'First'],
    ['upstream connect error\nor disconnect', 'upstream connect error or disconnect'],
    ['{"ok":false}', undefined],
    ['', undefined],
  ];
  for (const [body, message] of bodies) {
    t.equal(findOwnMessage(exchangeWith(400, body, 'application/json')), message, body);
  }
  t.equal(findOwnMessage(exchangeWith(200, '{"message":"Hello"}', 'application/json')), undefined);
  t.end();
});
