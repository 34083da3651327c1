import type { TestedAgent } from '../../../contract/index.ts';
import { InvalidDocumentError, RequestError } from '../../domain/errors.ts';
import { parseBoundedJson } from '../../domain/bounded-json.ts';
import type { ConnectionReport } from '../../domain/kit-functions.ts';
import { findReadiness } from '../../operations/agent-readiness.ts';
import type { ReadinessDeps } from '../../operations/readiness-part.ts';
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
import { goTo, type Pages, type Visit } from '../frame/pages.ts';
import { readAgentForm, toDraft, type AgentDraft } from './agent-form.ts';
import { renderAgentPage } from './agent-page.ts';
import { renderAgentsPage } from './agents-page.ts';
import { renderReportPage } from './report-page.ts';

const AGENTS_PER_PAGE = 50;
const REPORTS_PER_PAGE = 20;
const RUNS_MAX = 5;

/** What the pages of agents read and change. */
export interface AgentPageOptions extends AgentDeps, ReadinessDeps {
  store: AgentDeps['store'] & ReadinessDeps['store'];
}

/** Adds the pages of agents: list, editor, connection check, and reports. */
export function addAgentRoutes(pages: Pages, options: AgentPageOptions): void {
  addListRoutes(pages, options);
  addAgentPageRoutes(pages, options);
  addReportRoutes(pages, options);
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

async function renderAgent(
  options: AgentPageOptions,
  { ownerId, context, query, params: { id } }: Visit<'id'>,
  { draft, uploadProblem }: Mistake = {},
): Promise<string> {
  const { store, kit } = options;
  const agent = await findDocument(store, ownerId, 'agent', id);
  const page = readPage(query, REPORTS_PER_PAGE);
  const [[readiness], found] = await Promise.all([
    findReadiness(options, ownerId, [agent], RUNS_MAX),
    listReports({ store }, ownerId, id, page),
  ]);
  if (!readiness) throw new RequestError('not_found', 'This agent does not exist.');
  const connection = readiness.parts.find((part) => part.id === 'connection')?.report;
  const checked =
    connection?.summary.standing === 'fail'
      ? await store.agentReports.find(ownerId, id, connection.id)
      : undefined;
  const cure = (checked?.report as ConnectionReport | undefined)?.blockedBy?.cure;
  const content = { readiness, ...found, ...page, query, cure, draft: draft ?? toDraft(agent) };
  return renderAgentPage(
    { ...content, uploadProblem, canCheckConnection: kit !== undefined },
    context,
  );
}

function addAgentPageRoutes({ page, form }: Pages, options: AgentPageOptions): void {
  const { store } = options;
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
    await removeDocument(store, ownerId, 'agent', params.id);
    return goTo(context, '/agents', { notice: 'deleted' });
  });
  form('/agents/:id/connection', async ({ ownerId, context, params: { id } }) => {
    await checkConnection(options, ownerId, id);
    return goTo(context, `/agents/${id}`, { notice: 'checked' });
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
