import type { FastifyRequest } from 'fastify';
import type { TestedAgent } from '../../../contract/index.ts';
import { HTML_TYPE, pageHeaders, prefersHtml } from '../../../http-kit/pages.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { InvalidDocumentError, RequestError } from '../../domain/errors.ts';
import { parseBoundedJson } from '../../domain/bounded-json.ts';
import type { AgentTest, ConnectionReport } from '../../domain/kit-functions.ts';
import { findReadiness } from '../../operations/agent-readiness.ts';
import type { AgentTests } from '../../operations/agent-tests.ts';
import type { ReadinessDeps } from '../../operations/readiness-part.ts';
import { reportReadiness } from '../../operations/readiness-report.ts';
import type { StoredAgent } from '../../store/store.ts';
import {
  attachReport,
  changeAgent,
  checkConnection,
  findReport,
  listReports,
  REPORT_CHARACTERS_MAX,
  type AgentDeps,
} from '../../operations/agents.ts';
import {
  findDocument,
  listDocuments,
  removeDocument,
  saveDocument,
} from '../../operations/documents.ts';
import { readText } from '../frame/forms.ts';
import { readPage } from '../frame/list-filter.ts';
import { servicePageHeaders } from '../frame/page-frame.ts';
import { goTo, type Answer, type Pages, type SentForm, type Visit } from '../frame/pages.ts';
import { readAgentForm, toDraft, type AgentDraft } from './agent-form.ts';
import { judgeRuns, type RunJudge } from '../runs/judge-runs.ts';
import { renderAgentNews, renderAgentPage, type AgentNews } from './agent-page.ts';
import { renderAgentsPage } from './agents-page.ts';
import { renderBadge, renderReadinessPage } from './readiness-page.ts';
import { renderReportPage } from './report-page.ts';
import { readLoadTest, renderTestPage, type TestDraft } from './test-pages.ts';

const AGENTS_PER_PAGE = 50;
const REPORTS_PER_PAGE = 20;
const RUNS_MAX = 10;

/** What the pages of agents read and change. */
export interface AgentPageOptions extends AgentDeps, ReadinessDeps {
  store: AgentDeps['store'] & ReadinessDeps['store'];
  simulations: ReadinessDeps['simulations'] & RunJudge['simulations'];
  tests: AgentTests;
}

/** Adds the pages of agents: list, editor, connection check, and reports. */
export function addAgentRoutes(pages: Pages, options: AgentPageOptions): void {
  addListRoutes(pages, options);
  addAgentPageRoutes(pages, options);
  addTestRoutes(pages, options);
  addReportRoutes(pages, options);
  addReadinessRoutes(pages, options);
}

function addListRoutes({ page, form }: Pages, options: AgentPageOptions): void {
  const { store } = options;
  const renderList = async (
    { ownerId, context, query }: Visit,
    draft: AgentDraft,
  ): Promise<string> => {
    const shown = readPage(query, AGENTS_PER_PAGE);
    const all = await listDocuments(store, ownerId, 'agent');
    const some = all.slice(shown.skip, shown.skip + AGENTS_PER_PAGE);
    const agents = await findReadiness(options, ownerId, some, 1);
    return renderAgentsPage({ agents, total: all.length, ...shown, query, draft }, context);
  };
  page('/agents', (visit) => renderList(visit, toDraft()));
  form('/agents', async (sent) => {
    const { ownerId, context } = sent;
    const { draft, agent } = await readAgent(store, ownerId, sent.form);
    if (!agent) return { status: 400, page: await renderList(sent, draft) };
    const { id } = await saveDocument(store, ownerId, 'agent', agent);
    return goTo(context, `/agents/${id}`, { notice: 'added' });
  });
}

/**
 * Reads the form of an agent. The agent is undefined if a value is invalid, or if another agent has the
 * name: sessions name their agent, not its id.
 */
async function readAgent(
  store: AgentDeps['store'],
  ownerId: string,
  form: FormData,
  id?: string,
): Promise<{ draft: AgentDraft; agent: TestedAgent | undefined }> {
  const { draft, agent } = readAgentForm(form);
  if (!agent) return { draft, agent };
  const known = await listDocuments(store, ownerId, 'agent');
  if (known.every((other) => other.name !== agent.name || other.id === id)) return { draft, agent };
  const problems = { name: 'An agent has this name already. Choose another one.' };
  return { draft: { ...draft, problems }, agent: undefined };
}

/** What the page of an agent shows instead of its stored state, after a mistake. */
interface Mistake {
  draft?: AgentDraft;
  uploadProblem?: string;
}

/** Reads what shows whether an agent is ready. @throws RequestError `not_found`. */
async function loadReadiness(
  options: AgentPageOptions,
  ownerId: string,
  id: string,
): Promise<Pick<AgentNews, 'readiness' | 'cure' | 'test' | 'canTest'> & { agent: StoredAgent }> {
  const { store, tests } = options;
  const agent = await findDocument(store, ownerId, 'agent', id);
  // First, so that the report of a test that has ended is read.
  const test = tests.watch(ownerId, id);
  const [readiness] = await findReadiness(options, ownerId, [agent], RUNS_MAX);
  if (!readiness) throw new RequestError('not_found', 'This agent does not exist.');
  const connection = readiness.parts.find((part) => part.id === 'connection')?.report;
  const checked =
    connection?.summary.standing === 'fail'
      ? await store.agentReports.find(ownerId, id, connection.id)
      : undefined;
  const cure = (checked?.report as ConnectionReport | undefined)?.blockedBy?.cure;
  return { agent, readiness, cure, test, canTest: tests.isAvailable };
}

/** Reads what changes on the page of an agent. @throws RequestError `not_found`. */
async function loadNews(
  options: AgentPageOptions,
  { ownerId, query, params: { id } }: Visit<'id'>,
): Promise<AgentNews & { agent: StoredAgent }> {
  const page = readPage(query, REPORTS_PER_PAGE);
  const content = await loadReadiness(options, ownerId, id);
  const found = await listReports(options, ownerId, id, page);
  const judged = await judgeRuns(options, ownerId, content.readiness.runs);
  return { ...content, judged, ...found, ...page, query };
}

async function renderAgent(
  options: AgentPageOptions,
  visit: Visit<'id'>,
  { draft, uploadProblem }: Mistake = {},
): Promise<string> {
  const { agent, ...news } = await loadNews(options, visit);
  const shown = { ...news, draft: draft ?? toDraft(agent), uploadProblem };
  return renderAgentPage(shown, visit.context);
}

function addAgentPageRoutes({ page, form }: Pages, options: AgentPageOptions): void {
  const { store, tests } = options;
  page('/agents/:id', (visit) => renderAgent(options, visit));
  form(
    '/agents/:id',
    async (sent) => {
      const { ownerId, context, params } = sent;
      const { id } = params;
      const { draft, agent } = await readAgent(store, ownerId, sent.form, id);
      if (!agent) return { status: 400, page: await renderAgent(options, sent, { draft }) };
      const forgetsKey = readText(sent.form, 'forget_key') !== '';
      await changeAgent({ store }, ownerId, { ...agent, id }, { forgetsKey });
      return goTo(context, `/agents/${id}`, { notice: 'saved' });
    },
    async (problem, sent) => {
      if (!(problem instanceof InvalidDocumentError)) throw problem;
      const problems = { api_key: 'Enter the key again, because a URL leads to another server.' };
      const draft = { ...readAgentForm(sent.form).draft, problems };
      return { status: 400, page: await renderAgent(options, sent, { draft }) };
    },
  );
  form('/agents/:id/delete', async ({ ownerId, context, params }) => {
    await tests.cancel(ownerId, params.id);
    await removeDocument(store, ownerId, 'agent', params.id);
    return goTo(context, '/agents', { notice: 'deleted' });
  });
  form('/agents/:id/connection', async ({ ownerId, context, params: { id } }) => {
    await checkConnection(options, ownerId, id);
    return goTo(context, `/agents/${id}`, { notice: 'checked' });
  });
}

/** Adds what starts, shows, and cancels tests of agents. */
function addTestRoutes({ page, form, live }: Pages, options: AgentPageOptions): void {
  const { store, tests } = options;
  const renderStart = async (
    { ownerId, context, params: { id } }: Visit<'id'>,
    { draft, test }: { draft: TestDraft; test: AgentTest | undefined },
  ): Promise<string> => {
    const agent = await findDocument(store, ownerId, 'agent', id);
    const plan = test && (await tests.plan(ownerId, id, test));
    return renderTestPage({ agent, draft, plan }, context);
  };
  /** Starts the test of a form, or shows what it costs. */
  const startOrShow = async (
    sent: SentForm<'id'>,
    { draft, test }: { draft: TestDraft; test: AgentTest | undefined },
  ): Promise<Answer> => {
    const { ownerId, context, params } = sent;
    if (!test || readText(sent.form, 'start') !== 'yes') {
      return { status: test ? 200 : 400, page: await renderStart(sent, { draft, test }) };
    }
    await tests.start(ownerId, params.id, test);
    return goTo(context, `/agents/${params.id}`);
  };
  const toCheck = async ({ ownerId, params: { id } }: Visit<'id'>, wantsCalls?: boolean) => {
    const agent = await findDocument(store, ownerId, 'agent', id);
    const reports = await store.agentReports.listNewest(ownerId, [agent]);
    const hasVoice = reports.find(({ kind }) => kind === 'connection')?.summary.hasVoice ?? true;
    const test = { kind: 'check', placesCalls: wantsCalls ?? hasVoice } as const;
    return { draft: { ...test, hasVoice }, test };
  };
  page('/agents/:id/check', async (visit) => renderStart(visit, await toCheck(visit)));
  form('/agents/:id/check', async (sent) =>
    startOrShow(sent, await toCheck(sent, readText(sent.form, 'calls') !== '')),
  );
  page('/agents/:id/load', (visit) => renderStart(visit, readLoadTest(visit.query)));
  form('/agents/:id/load', (sent) => startOrShow(sent, readLoadTest(sent.form)));
  form('/agents/:id/cancel', async ({ ownerId, context, params: { id } }) => {
    await tests.cancel(ownerId, id);
    return goTo(context, `/agents/${id}`);
  });
  live('/agents/:id/live', (visit) => async () => {
    return renderAgentNews(await loadNews(options, visit), visit.context);
  });
}

/** Adds the readiness of an agent as a page of its own, as JSON, and as a badge. */
function addReadinessRoutes({ app, findViewer }: Pages, options: AgentPageOptions): void {
  const { clock } = options;
  const load = async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { ownerId } = await findViewer(request);
    const { readiness } = await loadReadiness(options, ownerId, request.params.id);
    return reportReadiness(options, ownerId, readiness);
  };
  app.get<{ Params: { id: string } }>('/agents/:id/readiness', async (request, reply) => {
    const report = await load(request);
    const format = readQuery(request).get('format');
    const isPage = format === null ? prefersHtml(request.headers.accept ?? '') : format === 'html';
    reply.headers(pageHeaders).header('vary', 'accept');
    if (!isPage) return sendPrettyJson(reply, report);
    // The page says itself which script it may run, so that it also does so as a file.
    reply.header('content-security-policy', "frame-ancestors 'none'");
    return reply.type(HTML_TYPE).send(renderReadinessPage(report, clock.nowMs()));
  });
  app.get<{ Params: { id: string } }>('/agents/:id/badge.svg', async (request, reply) => {
    const badge = renderBadge(await load(request));
    return reply.headers(pageHeaders).type('image/svg+xml').send(badge);
  });
}

function addReportRoutes(pages: Pages, options: AgentPageOptions): void {
  const { store } = options;
  pages.form(
    '/agents/:id/reports',
    async ({ ownerId, context, params: { id }, form }) => {
      const value = await readReportFile(form);
      const { ignored = 'attached' } = await attachReport(options, ownerId, id, value);
      return goTo(context, `/agents/${id}`, { notice: ignored });
    },
    async (problem, sent) => {
      if (problem.code === 'not_found') throw problem;
      const mistake = { uploadProblem: problem.message };
      return { status: 422, page: await renderAgent(options, sent, mistake) };
    },
  );
  const findOne = async (ownerId: string, { id, report }: { id: string; report: string }) => ({
    agent: await findDocument(store, ownerId, 'agent', id),
    report: await findReport(options, ownerId, id, report),
  });
  pages.page('/agents/:id/reports/:report', async ({ ownerId, context, params }) =>
    renderReportPage(await findOne(ownerId, params), context),
  );
  pages.app.get<{ Params: { id: string; report: string } }>(
    '/agents/:id/reports/:report/json',
    async (request, reply) => {
      const { ownerId } = await pages.findViewer(request);
      const { report } = await findOne(ownerId, request.params);
      const filename = `${report.kind}-${report.id}.json`;
      reply.headers(servicePageHeaders).type('application/json');
      reply.header('content-disposition', `attachment; filename="${filename}"`);
      return reply.send(JSON.stringify(report.report, null, 2));
    },
  );
}

/** Returns the value in the uploaded JSON file. @throws RequestError. */
async function readReportFile(form: FormData): Promise<unknown> {
  const file = form.get('report');
  if (!(file instanceof File) || file.size === 0) {
    throw new RequestError('bad_request', 'Choose the JSON file of a report.');
  }
  if (file.size > 4 * REPORT_CHARACTERS_MAX) {
    const message = `The file is larger than a report may be (${REPORT_CHARACTERS_MAX} characters).`;
    throw new RequestError('too_large', message);
  }
  return parseBoundedJson(await file.text(), 'The file');
}
