import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { prefersHtml } from '../../../http-kit/pages.ts';
import { html } from '../../../report-kit/html.ts';
import { RequestError, toRequestError } from '../../requests/errors.ts';
import { FORM_BYTES_MAX } from './forms.ts';
import { EVENT_STREAM_TYPE, formatEnd } from './live.ts';
import { renderServicePage, sendPage, servicePageHeaders, UNKNOWN_READER } from './page-frame.ts';
import { pathOf, renderSignInPage } from './sign-in.ts';

/**
 * Makes a scope show its errors as pages to browsers, and as the end of a live part of a page. Programs
 * get them as JSON.
 * @param logServerError Called for each error that became a 5xx page and was not thrown on purpose.
 */
export function showErrorsAsPages(
  scope: FastifyInstance,
  logServerError: (method: string, error: unknown) => void,
): void {
  scope.setErrorHandler((error, request, reply) => {
    const problem = toPageError(error);
    // Live parts of pages would repeat a request that is answered with an error.
    const isLive = request.headers.accept === EVENT_STREAM_TYPE;
    const end = isLive ? formatEnd(problem) : undefined;
    if (end !== undefined) {
      void reply.headers(servicePageHeaders).type(EVENT_STREAM_TYPE).send(end);
      return;
    }
    // The server's own handler logs what it responds to.
    if (!sendErrorPage(request, reply, problem)) throw error;
    if (problem.status >= 500 && error !== problem) logServerError(request.method, error);
  });
}

/** Words the error of a form that is too large for the person who sent it. */
function toPageError(error: unknown): RequestError {
  const problem = toRequestError(error);
  if (problem.code !== 'too_large' || error instanceof RequestError) return problem;
  const message = `A form may have at most ${FORM_BYTES_MAX / 1_048_576} MiB. Choose a smaller file.`;
  return new RequestError('too_large', message);
}

/** Responds with a page if the request prefers one; otherwise it returns false. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: RequestError,
): boolean {
  if (!prefersHtml(request.headers.accept ?? '')) return false;
  const { status, headers, message, code } = problem;
  void sendPage(
    reply.code(status).headers(headers),
    code === 'unauthorized' ? renderSignInPage(pathOf(request)) : renderErrorPage(status, message),
  );
  return true;
}

const TITLES: Partial<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Not supported here',
  413: 'The form is too large',
};

/** Renders the page about a request that failed. */
export function renderErrorPage(status: number, message: string): string {
  const title = TITLES[status] ?? 'The request failed';
  return renderServicePage(
    {
      title,
      main: html`<h1>${title}</h1>
        <p>${message}</p>
        <p><a href="/">Go to the overview</a></p>`,
    },
    UNKNOWN_READER,
  );
}
