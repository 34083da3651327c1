/** The rules for responses to any request. */
import { isMessage, type MessageName } from '../../../src/contract/index.ts';
import { Violation } from '../engine/target.ts';
import type { Response } from './connection.ts';
import type { Request } from './requests.ts';

/** What the rules of a server say. */
export interface ResponseRules {
  /** The body of errors. */
  errorShape: MessageName;
  /** Whether a 5xx is one that the server announces, such as an injected fault. */
  isAnnounced: (response: Response) => boolean;
  /** Returns what else is wrong with a response; nothing if it is right. */
  findProblems?: (request: Request, response: Response) => string[];
}

/** Markup that only hostile text has. */
const FOREIGN_MARKUP = /<img|<base|<meta http-equiv="refresh/i;

/** Checks a response. @throws Violation. */
export function checkResponse(
  rules: ResponseRules,
  request: Request,
  response: Response | undefined,
): void {
  const fail = (problem: string): never => {
    const text = response?.body.toString('utf8').slice(0, 300) ?? '';
    const { method, path } = request;
    const status = response ? ` responded with ${response.status}` : '';
    throw new Violation(`${method} ${path.slice(0, 200)}${status}: ${problem}. ${text}`);
  };
  if (!response) return fail('the connection was closed without a response');
  const { status, headers, body } = response;
  const type = headers['content-type'] ?? '';
  const isRetry = status === 503 && headers['retry-after'] !== undefined;
  if (status >= 500 && !isRetry && !rules.isAnnounced(response)) fail('a 5xx');
  const isHtml = type.startsWith('text/html');
  if (isHtml && FOREIGN_MARKUP.test(body.toString('utf8'))) fail('text is shown as markup');
  const isHead = request.method === 'HEAD';
  if (status >= 400 && !isHead && !isHtml && type !== 'text/event-stream') {
    if (!type.startsWith('application/json')) fail(`an error of type ${type || 'nothing'}`);
    const isShaped = isMessage(rules.errorShape, parse(body));
    if (!isShaped && !rules.isAnnounced(response)) fail(`not a ${rules.errorShape}`);
  }
  const [problem] = rules.findProblems?.(request, response) ?? [];
  if (problem !== undefined) fail(problem);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
