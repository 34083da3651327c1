import type { TestedAgent } from '../../../contract/index.ts';
import { findReadiness } from '../../operations/agent-readiness.ts';
import { changeAgent, checkConnection, type AgentDeps } from '../../operations/agents.ts';
import {
  findDocument,
  listDocuments,
  removeDocument,
  saveDocument,
} from '../../operations/documents.ts';
import { InvalidDocumentError } from '../../requests/errors.ts';
import { readText } from '../frame/forms.ts';
import { readPage } from '../frame/list-filter.ts';
import { goTo, type Pages, type Visit } from '../frame/pages.ts';
import {
  findChangedAgent,
  keepKey,
  readAgentForm,
  remindOfKey,
  toDraft,
  type AgentDraft,
} from './agent-form.ts';
import { renderAgentsPage } from './agents-page.ts';
import { renderAgent, type AgentPageOptions } from './load-agent-page.ts';
import { addReadinessRoutes } from './readiness-routes.ts';
import { addReportRoutes } from './report-routes.ts';
import { addTestRoutes } from './test-routes.ts';

const AGENTS_PER_PAGE = 50;

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
 * The form of a new agent keeps its key; one that changes an agent asks for it again.
 */
async function readAgent(
  store: AgentDeps['store'],
  ownerId: string,
  form: FormData,
  id?: string,
): Promise<{ draft: AgentDraft; agent: TestedAgent | undefined }> {
  const { draft, agent } = readAgentForm(form);
  const refuse = (problems: AgentDraft['problems']) => {
    const refused = { ...draft, problems };
    const shown =
      id === undefined
        ? keepKey(form, refused)
        : { ...refused, problems: remindOfKey(form, problems) };
    return { draft: shown, agent: undefined };
  };
  if (!agent) return refuse(draft.problems);
  const known = await listDocuments(store, ownerId, 'agent');
  if (known.every((other) => other.name !== agent.name || other.id === id)) return { draft, agent };
  return refuse({ name: 'An agent with this name already exists. Choose another one.' });
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
      const stored = await findDocument(store, ownerId, 'agent', id);
      const changed = findChangedAgent(sent.form, draft, stored);
      if (changed) {
        const kept = { ...draft, changed, problems: remindOfKey(sent.form, {}) };
        return { status: 409, page: await renderAgent(options, sent, { draft: kept }) };
      }
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
