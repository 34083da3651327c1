import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { prefersHtml } from '../../../http-kit/pages.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { RequestError } from '../../requests/errors.ts';
import type { WorkQueue } from '../../requests/work-queue.ts';
import { renderErrorPage } from './errors.ts';
import { RESULT_PARAMETER, type FormResults } from './form-results.ts';
import type { LiveContent, LiveUpdates } from './live.ts';
import { linkTo, sendPage, type PageContext } from './page-frame.ts';
import type { Viewer, Viewers } from './viewer.ts';

/** The names of the parameters in the path of a route, such as `id` in `/agents/:id`. */
type ParameterOf<Path extends string> = string extends Path
  ? string
  : Path extends `${string}/:${infer Name}/${infer Rest}`
    ? Name | ParameterOf<`/${Rest}`>
    : Path extends `${string}/:${infer Name}`
      ? Name
      : never;

/** A request for a page, with the owner whose data it shows. */
export interface Visit<Parameter extends string = never> extends Viewer {
  params: Readonly<Record<Parameter, string>>;
  query: URLSearchParams;
}

/** A form that a reader sent who may change something. */
export interface SentForm<Parameter extends string = never> extends Visit<Parameter> {
  form: FormData;
}

/** What a request gets: a page, with its status unless that is 200, or the way to another page. */
export type Answer =
  string | { status: number; page: string } | { status: number; location: string };

/** Leads the browser to a page after a change; a reload then does not repeat the change. */
export const goTo = (
  context: PageContext,
  path: string,
  parameters?: Readonly<Record<string, string>>,
): Answer => ({ status: 303, location: linkTo(context, path, parameters) });

/** Reads the newest content of a live part of a page. */
type Load = () => Promise<LiveContent>;

/** Adds the routes of pages. The handlers neither authenticate requests nor send replies. */
export interface Pages extends Pick<Viewers, 'findReader' | 'findViewer'> {
  /** The scope of the pages, for routes that send something else. */
  app: FastifyInstance;
  /** Adds a page. */
  page: <Path extends string>(
    path: Path,
    show: (visit: Visit<ParameterOf<Path>>) => Answer | Promise<Answer>,
  ) => void;
  /**
   * Adds the route that receives a form. Its page is shown by a redirect, so that going back or reloading
   * sends nothing again.
   * @param refuse Returns what to show about an error in the form, or throws it again. Without it, the
   * error has a separate page.
   */
  form: <Path extends string>(
    path: Path,
    submit: (sent: SentForm<ParameterOf<Path>>) => Promise<Answer>,
    refuse?: (problem: RequestError, sent: SentForm<ParameterOf<Path>>) => Promise<Answer>,
  ) => void;
  /** Adds the updates of a live part of a page. */
  live: <Path extends string>(
    path: Path,
    watch: (visit: Visit<ParameterOf<Path>>) => Load | Promise<Load>,
  ) => void;
}

/** Where pages wait. Forms and live parts don't: they are few, and a repetition costs more. */
export type PageQueue = Pick<WorkQueue, 'enter'>;

/** What all pages use. */
interface PageTools {
  live: LiveUpdates;
  /** Keeps the pages that forms lead to. */
  results: FormResults;
  queue: PageQueue;
}

/** Creates what adds the routes of pages to a scope. */
export function createPages(
  app: FastifyInstance,
  viewers: Viewers,
  { live, results, queue }: PageTools,
): Pages {
  const toVisit = <Found extends Viewer>(request: FastifyRequest, found: Found) => ({
    ...found,
    params: request.params as Readonly<Record<string, string>>,
    query: readQuery(request),
  });
  const { findReader, findViewer, findEditor } = viewers;
  return {
    app,
    findReader,
    findViewer,
    page(path, show) {
      const findAnswer = async (request: FastifyRequest): Promise<Answer> => {
        using _work = await queue.enter();
        const visit = toVisit(request, await findViewer(request));
        const id = visit.query.get(RESULT_PARAMETER);
        const result = id === null ? undefined : await results.find(visit, id);
        return result ?? (await show(visit));
      };
      app.get(path, async (request, reply) => sendAnswer(reply, await findAnswer(request)));
    },
    form(path, submit, refuse) {
      app.post(path, async (request, reply) => {
        const sent = toVisit(request, await findEditor(request));
        const answer = await submit(sent)
          .catch((error: unknown) => {
            if (!refuse || !(error instanceof RequestError)) throw error;
            return refuse(error, sent);
          })
          .catch((error: unknown) => showError(error, request));
        return sendAnswer(reply, await toRedirect(answer, { request, sent, results }));
      });
    },
    live(path, watch) {
      app.get(path, async (request, reply) =>
        live.send(request, reply, await watch(toVisit(request, await findViewer(request)))),
      );
    },
  };
}

/** Returns the page about an error that the form of a browser caused. Other errors are thrown again. */
function showError(error: unknown, { headers }: FastifyRequest): Answer {
  const isShown = error instanceof RequestError && error.status < 500;
  if (!isShown || !prefersHtml(headers.accept ?? '')) throw error;
  return { status: error.status, page: renderErrorPage(error.status, error.message) };
}

/** Keeps the page that a form led to, and leads the browser to it. */
async function toRedirect(
  answer: Answer,
  { request, sent, results }: { request: FastifyRequest; sent: Viewer; results: FormResults },
): Promise<Answer> {
  if (typeof answer === 'object' && 'location' in answer) return answer;
  const id = await results.keep(
    sent,
    typeof answer === 'string' ? { status: 200, page: answer } : answer,
  );
  const path = request.url.replace(/\?.*$/s, '');
  return goTo(sent.context, path, { [RESULT_PARAMETER]: id });
}

/** Sends what a request gets. */
export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  if (typeof answer === 'string') return sendPage(reply, answer);
  if ('location' in answer) return reply.redirect(answer.location, answer.status);
  return sendPage(reply.code(answer.status), answer.page);
}
