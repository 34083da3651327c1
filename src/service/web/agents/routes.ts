import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TestedAgent } from '../../../contract/index.ts';
import { InvalidDocumentError, RequestError } from '../../domain/errors.ts';
import { parseBoundedJson } from '../../domain/bounded-json.ts';
import type { ConnectionReport } from '../../domain/kit-functions.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { findReadiness } from '../../operations/agent-readiness.ts';
import {
  attachReport,
  changeAgent,
  checkConnection,
  findReport,
  listReports,
  REPORT_CHARACTERS_MAX,
} from '../../operations/agents.ts';
import {
  findDocument,
  listDocuments,
  removeDocument,
  saveDocument,
} from '../../operations/documents.ts';
import type { Store } from '../../store/store.ts';
import { readText, redirect } from '../frame/forms.ts';
import { sendPage, servicePageHeaders } from '../frame/page-frame.ts';
import { readQuery, type PageOptions, type Viewer } from '../frame/viewer.ts';
import { readAgentForm, toDraft, type AgentDraft } from './agent-form.ts';
import { renderAgentPage } from './agent-page.ts';
import { renderAgentsPage } from './agents-page.ts';
import { renderReportPage } from './report-page.ts';

type WithId = { Params: { id: string } };

const AGENTS_PER_PAGE = 50;
const REPORTS_PER_PAGE = 20;
const RUNS_MAX = 5;

/** Adds the pages of agents: list, editor, connection check, and reports. */
export function addAgentRoutes(app: FastifyInstance, options: PageOptions): void {
  addListRoutes(app, options);
  addAgentPageRoutes(app, options);
  addReportRoutes(app, options);
}

function addListRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, findViewer, findEditor } = options;
  const sendList = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { ownerId, context }: Viewer,
    draft: AgentDraft,
  ): Promise<FastifyReply> => {
    const query = readQuery(request);
    const { skip } = readListFilter(query, ownerId).filter;
    const all = await listDocuments(store, ownerId, 'agent');
    const shown = all.slice(skip, skip + AGENTS_PER_PAGE);
    const agents = await findReadiness(options, ownerId, shown, 1);
    const list = { agents, total: all.length, skip, limit: AGENTS_PER_PAGE, query, draft };
    return sendPage(reply, renderAgentsPage(list, context));
  };
  app.get('/agents', async (request, reply) =>
    sendList(request, reply, await findViewer(request), toDraft()),
  );
  app.post('/agents', async (request, reply) => {
    const editor = await findEditor(request);
    const { draft, agent } = readAgentForm(editor.form);
    if (!agent) return sendList(request, reply.code(400), editor, draft);
    const { ownerId, context } = editor;
    const problems = await findNameProblem(store, ownerId, agent);
    if (problems) return sendList(request, reply.code(400), editor, { ...draft, problems });
    const { id } = await saveDocument(store, ownerId, 'agent', agent);
    return redirect(reply, context, `/agents/${id}`, { notice: 'added' });
  });
}

/** Returns the problem if another agent has the name: sessions name their agent, not its id. */
async function findNameProblem(
  store: Store,
  ownerId: string,
  { id, name }: TestedAgent,
): Promise<AgentDraft['problems'] | undefined> {
  const known = await listDocuments(store, ownerId, 'agent');
  const isTaken = known.some((agent) => agent.name === name && agent.id !== id);
  return isTaken ? { name: 'An agent has this name already. Choose another one.' } : undefined;
}

/** What the page of an agent shows instead of its stored state, after a mistake. */
interface Mistake {
  draft?: AgentDraft;
  uploadProblem?: string;
}

/** Creates the function that sends the page of an agent. */
function createSendAgent(options: PageOptions) {
  const { store, kit } = options;
  return async (
    request: FastifyRequest<WithId>,
    reply: FastifyReply,
    { ownerId, context }: Viewer,
    mistake: Mistake = {},
  ): Promise<FastifyReply> => {
    const { id } = request.params;
    const agent = await findDocument(store, ownerId, 'agent', id);
    const query = readQuery(request);
    const page = { skip: readListFilter(query, ownerId).filter.skip, limit: REPORTS_PER_PAGE };
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
    const draft = mistake.draft ?? toDraft(agent);
    const content = { readiness, ...found, ...page, query, cure, draft };
    const { uploadProblem } = mistake;
    return sendPage(
      reply,
      renderAgentPage(
        { ...content, uploadProblem, canCheckConnection: kit !== undefined },
        context,
      ),
    );
  };
}

function addAgentPageRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, findViewer, findEditor } = options;
  const sendAgent = createSendAgent(options);
  app.get<WithId>('/agents/:id', async (request, reply) =>
    sendAgent(request, reply, await findViewer(request)),
  );
  app.post<WithId>('/agents/:id', async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context, form } = editor;
    const { id } = request.params;
    const { draft, agent } = readAgentForm(form);
    if (!agent) return sendAgent(request, reply.code(400), editor, { draft });
    const taken = await findNameProblem(store, ownerId, { ...agent, id });
    if (taken) {
      const mistake = { draft: { ...draft, problems: taken } };
      return sendAgent(request, reply.code(400), editor, mistake);
    }
    try {
      const forgetsKey = readText(form, 'forget_key') !== '';
      await changeAgent({ store }, ownerId, { ...agent, id }, { forgetsKey });
    } catch (error) {
      if (!(error instanceof InvalidDocumentError)) throw error;
      const problems = { api_key: 'Enter the key again, because a URL leads to another server.' };
      return sendAgent(request, reply.code(400), editor, { draft: { ...draft, problems } });
    }
    return redirect(reply, context, `/agents/${id}`, { notice: 'saved' });
  });
  app.post<WithId>('/agents/:id/delete', async (request, reply) => {
    const { ownerId, context } = await findEditor(request);
    await removeDocument(store, ownerId, 'agent', request.params.id);
    return redirect(reply, context, '/agents', { notice: 'deleted' });
  });
  app.post<WithId>('/agents/:id/connection', async (request, reply) => {
    const { ownerId, context } = await findEditor(request);
    const { id } = request.params;
    await checkConnection(options, ownerId, id);
    return redirect(reply, context, `/agents/${id}`, { notice: 'checked' });
  });
}

function addReportRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, findViewer, findEditor } = options;
  const sendAgent = createSendAgent(options);
  app.post<WithId>('/agents/:id/reports', async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context, form } = editor;
    const { id } = request.params;
    try {
      const value = await readReportFile(form);
      const { isOutdated } = await attachReport(options, ownerId, id, value);
      const notice = isOutdated ? 'outdated' : 'attached';
      return await redirect(reply, context, `/agents/${id}`, { notice });
    } catch (error) {
      if (!(error instanceof RequestError) || error.code === 'not_found') throw error;
      return sendAgent(request, reply.code(422), editor, { uploadProblem: error.message });
    }
  });
  type WithReport = { Params: { id: string; report: string } };
  const findOne = async ({ params }: FastifyRequest<WithReport>, ownerId: string) => ({
    agent: await findDocument(store, ownerId, 'agent', params.id),
    report: await findReport(options, ownerId, params.id, params.report),
  });
  app.get<WithReport>('/agents/:id/reports/:report', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const found = await findOne(request, ownerId);
    return sendPage(reply, renderReportPage(found, context));
  });
  app.get<WithReport>('/agents/:id/reports/:report/json', async (request, reply) => {
    const { ownerId } = await findViewer(request);
    const { report } = await findOne(request, ownerId);
    reply.headers(servicePageHeaders).type('application/json');
    reply.header('content-disposition', `attachment; filename="${report.kind}-${report.id}.json"`);
    return reply.send(JSON.stringify(report.report, null, 2));
  });
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
