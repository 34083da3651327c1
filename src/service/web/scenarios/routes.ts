import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Scenario } from '../../../contract/index.ts';
import { makeScenarioFromConversation } from '../../domain/conversation-scenario.ts';
import { InvalidDocumentError, RequestError } from '../../domain/errors.ts';
import { sortByConnection } from '../../operations/agents.ts';
import { findDocument, listDocuments } from '../../operations/documents.ts';
import { addStarters } from '../../operations/scenarios.ts';
import type { SimulationEstimate } from '../../operations/simulations.ts';
import type { Store } from '../../store/store.ts';
import { readText, redirect } from '../frame/forms.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { sendPage } from '../frame/page-frame.ts';
import { readQuery, type PageOptions, type Viewer } from '../frame/viewer.ts';
import { addTextRoutes } from './document-routes.ts';
import type { EditedText } from './document-editor.ts';
import {
  emptyRun,
  readRunForm,
  renderReviewPage,
  REQUEST_ID_FIELD,
  RUN_PATH,
  type RunDraft,
} from './run-form.ts';
import { renderPersonaPage, renderPersonasPage } from './personas-page.ts';
import { renderScenarioPage, SOURCE_PARAMETER } from './scenario-page.ts';
import { renderScenariosPage } from './scenarios-page.ts';
import { createStartOnce } from './start-once.ts';

const DOCUMENTS_PER_PAGE = 50;

/** Adds the pages of scenarios and personas, and the forms that run scenarios. */
export function addScenarioRoutes(app: FastifyInstance, options: PageOptions): void {
  const { findViewer, findEditor } = options;
  const sendScenarios = createSendScenarios(options);
  app.get('/scenarios', async (request, reply) =>
    sendScenarios(request, reply, await findViewer(request)),
  );
  addTextRoutes(app, options, {
    kind: 'scenario',
    path: '/scenarios',
    sendList: (request, reply, viewer, edited) => sendScenarios(request, reply, viewer, { edited }),
    renderDocument: createRenderScenario(options),
  });
  app.post('/scenarios/starters', async (request, reply) => {
    const { ownerId, context, form } = await findEditor(request);
    const { kit, store } = options;
    if (!kit) throw new RequestError('not_found', 'This service was started without starters.');
    const id = readText(form, 'starter');
    const starters = await kit.readStarters();
    await addStarters(store, ownerId, starters, id === '' ? undefined : id);
    if (id === '') {
      const agent = readText(form, 'agent');
      const kept = { notice: 'starters', ...(agent !== '' && { agent }) };
      return redirect(reply, context, '/scenarios', kept);
    }
    return redirect(reply, context, `/scenarios/${encodeURIComponent(id)}`, { notice: 'added' });
  });
  addRunRoute(app, options, sendScenarios);
  addPersonaRoutes(app, options);
}

type SendScenarios = (
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer,
  mistake?: { edited?: EditedText | undefined; run?: RunDraft },
) => Promise<FastifyReply>;

/** Creates the function that sends the list of scenarios. */
function createSendScenarios({ store, kit }: PageOptions): SendScenarios {
  return async (request, reply, { ownerId, context }, { edited, run } = {}) => {
    const query = readQuery(request);
    const { skip } = readListFilter(query, ownerId).filter;
    const [stored, unsorted, starters] = await Promise.all([
      listDocuments(store, ownerId, 'scenario'),
      listDocuments(store, ownerId, 'agent'),
      kit?.readStarters(),
    ]);
    const agents = await sortByConnection(store, ownerId, unsorted);
    const matching = filterScenarios(stored, run ? '' : (query.get('q') ?? ''));
    const storedIds = new Set(stored.map(({ id }) => id));
    const content = {
      scenarios: matching.slice(skip, skip + DOCUMENTS_PER_PAGE),
      ...{ query, skip, limit: DOCUMENTS_PER_PAGE, agents, edited },
      ...{ total: matching.length, storedCount: stored.length, canEdit: kit !== undefined },
      starters: starters?.scenarios.filter(({ id }) => !storedIds.has(id)) ?? [],
      run: run ?? emptyRun(query.get('agent') ?? undefined),
    };
    return sendPage(reply, renderScenariosPage(content, context));
  };
}

/** Returns the scenarios whose name, id, category, or tags contain a text in any case. */
function filterScenarios(scenarios: readonly Scenario[], text: string): Scenario[] {
  const wanted = text.trim().toLowerCase();
  return scenarios.filter(({ id, name, category = 'general', tags = [] }) =>
    [id, name, category, ...tags].some((part) => part.toLowerCase().includes(wanted)),
  );
}

/** Creates the function that renders the page of a scenario. */
function createRenderScenario(options: PageOptions) {
  const { store } = options;
  return async (
    { ownerId, context }: Viewer,
    scenario: Scenario,
    edited: EditedText | undefined,
    query: URLSearchParams,
  ): Promise<string> => {
    const [personas, evals, unsorted, notes] = await Promise.all([
      listDocuments(store, ownerId, 'persona'),
      store.evals.list(ownerId),
      listDocuments(store, ownerId, 'agent'),
      findNotes(store, ownerId, scenario, query.get(SOURCE_PARAMETER)),
    ]);
    const agents = await sortByConnection(store, ownerId, unsorted);
    const [agent] = agents;
    const estimate = agent && (await findEstimate(options, ownerId, agent.id, scenario.id));
    const content = { scenario, personas, evals, agents, estimate, edited, notes };
    return renderScenarioPage(content, context);
  };
}

/** Returns what a scenario leaves out of the conversation that it was made from. */
async function findNotes(
  store: Store,
  ownerId: string,
  { name }: Scenario,
  source: string | null,
): Promise<string[]> {
  const made =
    source === null ? undefined : await makeScenarioFromConversation(store, ownerId, source);
  return made?.scenario.name === name ? made.notes : [];
}

/** Returns what a run of one scenario costs, or why it can't run. */
async function findEstimate(
  { simulations }: PageOptions,
  ownerId: string,
  agent: string,
  scenarioId: string,
): Promise<SimulationEstimate | { problem: string }> {
  try {
    return await simulations.estimate(ownerId, { agent, scenarios: [scenarioId] });
  } catch (error) {
    if (error instanceof InvalidDocumentError) return { problem: error.message };
    throw error;
  }
}

/**
 * `POST /scenarios/run`: shows what a simulation costs; starts it when the reader has seen that, or
 * goes back to the choice.
 */
function addRunRoute(
  app: FastifyInstance,
  options: PageOptions,
  sendScenarios: SendScenarios,
): void {
  const { store, simulations, findEditor } = options;
  const startOnce = createStartOnce(simulations);
  app.post(RUN_PATH, async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context, form } = editor;
    const { draft, request: run } = readRunForm(
      form,
      await readScenarioIds(options, ownerId, form),
    );
    if (readText(form, 'back') === 'yes') {
      return sendScenarios(request, reply, editor, { run: { ...draft, problems: {} } });
    }
    if (!run) return sendScenarios(request, reply.code(400), editor, { run: draft });
    try {
      if (readText(form, 'start') === 'yes') {
        const id = await startOnce(ownerId, run, readText(form, REQUEST_ID_FIELD));
        return await redirect(reply, context, `/simulation/${id}`);
      }
      const estimate = await simulations.estimate(ownerId, run);
      const agent = await findDocument(store, ownerId, 'agent', draft.values.agent ?? '');
      return await sendPage(reply, renderReviewPage({ agent, draft, estimate }, context));
    } catch (error) {
      if (!(error instanceof InvalidDocumentError)) throw error;
      const { pointer, message } = error;
      const field = /^\/(agent|samples)/.exec(pointer)?.[1] ?? 'scenarios';
      const problems = { [field]: message };
      return sendScenarios(request, reply.code(422), editor, { run: { ...draft, problems } });
    }
  });
}

/** Returns the ids of the chosen scenarios, or of all that match the search of the list. */
async function readScenarioIds(
  { store }: PageOptions,
  ownerId: string,
  form: FormData,
): Promise<string[]> {
  if (readText(form, 'all') === '') {
    return form.getAll('scenario').filter((id) => typeof id === 'string');
  }
  const all = await listDocuments(store, ownerId, 'scenario');
  return filterScenarios(all, readText(form, 'q')).map(({ id }) => id);
}

function addPersonaRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, kit, findViewer } = options;
  const sendPersonas = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { ownerId, context }: Viewer,
    edited?: EditedText,
  ): Promise<FastifyReply> => {
    const query = readQuery(request);
    const { skip } = readListFilter(query, ownerId).filter;
    const all = await listDocuments(store, ownerId, 'persona');
    const personas = all.slice(skip, skip + DOCUMENTS_PER_PAGE);
    const page = { skip, limit: DOCUMENTS_PER_PAGE, total: all.length };
    const content = { ...page, query, personas, edited, canEdit: kit !== undefined };
    return sendPage(reply, renderPersonasPage(content, context));
  };
  app.get('/personas', async (request, reply) =>
    sendPersonas(request, reply, await findViewer(request)),
  );
  addTextRoutes(app, options, {
    kind: 'persona',
    path: '/personas',
    sendList: sendPersonas,
    async renderDocument({ ownerId, context }, persona, edited) {
      const all = await listDocuments(store, ownerId, 'scenario');
      const scenarios = all.filter((scenario) => scenario.persona === persona.id);
      return renderPersonaPage({ persona, scenarios, edited }, context);
    },
  });
}
