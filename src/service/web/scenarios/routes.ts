import type { Persona, Scenario } from '../../../contract/index.ts';
import { html } from '../../../report-kit/html.ts';
import { awaitValues } from '../../../platform/concurrency.ts';
import { foldCase } from '../../../platform/fold-case.ts';
import { makeScenarioFromConversation } from '../../scenarios/conversation-scenario.ts';
import { InvalidDocumentError, RequestError } from '../../requests/errors.ts';
import { sortByConnection } from '../../operations/agents.ts';
import { findDocument, listDocuments, saveDocument } from '../../operations/documents.ts';
import { addStarters } from '../../operations/scenarios.ts';
import type { SimulationEstimate, Simulations } from '../../operations/simulations.ts';
import type { Store } from '../../store/store.ts';
import { JUDGED_RUNS_MAX, judgeRuns } from '../runs/judge-runs.ts';
import { makeVersion } from '../frame/edits.ts';
import { readText, readTexts } from '../frame/forms.ts';
import { readPage } from '../frame/list-filter.ts';
import { goTo, type Pages, type SentForm, type Visit } from '../frame/pages.ts';
import { addTextRoutes, type TextOptions } from './document-routes.ts';
import type { EditedText } from './document-editor.ts';
import {
  emptyRun,
  readRequestId,
  readRunForm,
  renderConfirmationPage,
  renderHiddenRun,
  RUN_PATH,
  type RunDraft,
} from './run-form.ts';
import { renderPersonaPage, renderPersonasPage } from './personas-page.ts';
import { renderScenarioPage, SOURCE_PARAMETER } from './scenario-page.ts';
import { renderScenariosPage } from './scenarios-page.ts';
import { readVoiceForm, type VoiceDraft } from './voice-form.ts';

const DOCUMENTS_PER_PAGE = 50;

/** The data and operations of the pages of scenarios and personas. */
export interface ScenarioPageOptions extends TextOptions {
  store: Store;
  simulations: Pick<Simulations, 'estimate' | 'checkHealth' | 'start' | 'judge'>;
}

/** Adds the pages of scenarios and personas, and the forms that run scenarios. */
export function addScenarioRoutes(pages: Pages, options: ScenarioPageOptions): void {
  addTextRoutes(pages, options, {
    kind: 'scenario',
    path: '/scenarios',
    renderList: (visit, edited) => renderList(options, visit, { edited }),
    renderDocument: (visit, scenario, edited) => renderScenario(options, visit, scenario, edited),
  });
  addStarterRoute(pages, options);
  addRunRoute(pages, options);
  addTextRoutes(pages, options, {
    kind: 'persona',
    path: '/personas',
    renderList: (visit, edited) => renderPersonas(options, visit, edited),
    renderDocument: (visit, persona, edited) => renderPersona(options, visit, persona, { edited }),
  });
  addVoiceRoute(pages, options);
}

/** `POST /personas/:id/voice`: changes the voice of a persona. */
function addVoiceRoute({ form }: Pages, options: ScenarioPageOptions): void {
  const { store, kit } = options;
  form('/personas/:id/voice', async (sent) => {
    const { ownerId, context, params } = sent;
    const persona = await findDocument(store, ownerId, 'persona', params.id);
    const { draft, persona: changed } = readVoiceForm(sent.form, persona);
    if (!changed) {
      const edit = { version: makeVersion(persona) };
      const edited = kit && { text: await kit.writeYaml(persona), edit };
      const page = await renderPersona(options, sent, persona, { edited, voice: draft });
      return { status: draft.edit.changed ? 409 : 422, page };
    }
    await saveDocument(store, ownerId, 'persona', changed);
    return goTo(context, `/personas/${encodeURIComponent(persona.id)}`, { notice: 'saved' });
  });
}

/** Adds the form that stores one starter scenario, or all of a set. */
function addStarterRoute({ form }: Pages, { kit, store }: ScenarioPageOptions): void {
  form('/scenarios/starters', async ({ ownerId, context, form: sent }) => {
    if (!kit) throw new RequestError('not_found', 'This service was started without starters.');
    const id = readText(sent, 'starter');
    const sets = await kit.readStarters();
    if (id === 'general' || id === 'shop') {
      await addStarters(store, ownerId, sets[id], undefined);
      const agent = readText(sent, 'agent');
      const kept = { notice: 'starters', ...(agent !== '' && { agent }) };
      return goTo(context, '/scenarios', kept);
    }
    const isGeneral = sets.general.scenarios.some((scenario) => scenario.id === id);
    await addStarters(store, ownerId, isGeneral ? sets.general : sets.shop, id);
    return goTo(context, `/scenarios/${encodeURIComponent(id)}`, { notice: 'added' });
  });
}

/** Renders the list of scenarios, with what the reader entered in one of its forms. */
async function renderList(
  { store, kit }: ScenarioPageOptions,
  { ownerId, context, query }: Visit,
  { edited, run }: { edited?: EditedText | undefined; run?: RunDraft },
): Promise<string> {
  const { skip, limit } = readPage(query, DOCUMENTS_PER_PAGE);
  const [stored, unsorted, starters] = await Promise.all([
    listDocuments(store, ownerId, 'scenario'),
    listDocuments(store, ownerId, 'agent'),
    kit?.readStarters(),
  ]);
  const agents = await sortByConnection(store, ownerId, unsorted);
  const matching = filterScenarios(stored, run ? '' : (query.get('q') ?? ''));
  const storedIds = new Set(stored.map(({ id }) => id));
  const content = {
    scenarios: matching.slice(skip, skip + limit),
    query,
    skip,
    limit,
    agents,
    edited,
    total: matching.length,
    storedCount: stored.length,
    canEdit: kit !== undefined,
    starters: {
      general: starters?.general.scenarios.filter(({ id }) => !storedIds.has(id)) ?? [],
      shop: starters?.shop.scenarios.filter(({ id }) => !storedIds.has(id)) ?? [],
    },
    run: run ?? emptyRun(query.get('agent') ?? undefined),
  };
  return renderScenariosPage(content, context);
}

/** Returns the scenarios whose name, id, category, or tags contain a text in any case. */
function filterScenarios(scenarios: readonly Scenario[], text: string): Scenario[] {
  const wanted = foldCase(text.trim());
  return scenarios.filter(({ id, name, category = 'general', tags = [] }) =>
    [id, name, category, ...tags].some((part) => foldCase(part).includes(wanted)),
  );
}

async function renderScenario(
  options: ScenarioPageOptions,
  { ownerId, context, query }: Visit,
  scenario: Scenario,
  edited: EditedText | undefined,
): Promise<string> {
  const { store } = options;
  const page = { skip: 0, limit: JUDGED_RUNS_MAX };
  const newest = { ownerId, kind: 'simulation', ...page, judgedMax: JUDGED_RUNS_MAX } as const;
  const { unsorted, newestRuns, ...shown } = await awaitValues({
    personas: listDocuments(store, ownerId, 'persona'),
    evals: store.evals.list(ownerId),
    notes: findNotes(store, ownerId, scenario, query.get(SOURCE_PARAMETER)),
    unsorted: listDocuments(store, ownerId, 'agent'),
    newestRuns: store.runs.list(newest),
  });
  const agents = await sortByConnection(store, ownerId, unsorted);
  const [agent] = agents;
  const estimate = agent && (await findEstimate(options, ownerId, agent.id, scenario.id));
  const runs = await judgeRuns(options, ownerId, newestRuns.runs);
  const content = { ...shown, scenario, agents, estimate, runs, edited };
  return renderScenarioPage(content, context);
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
  { simulations }: ScenarioPageOptions,
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
function addRunRoute({ form }: Pages, options: ScenarioPageOptions): void {
  const { store, simulations } = options;
  const readRun = async ({ ownerId, form: sent }: SentForm) =>
    readRunForm(sent, await readScenarioIds(options, ownerId, sent));
  form(
    RUN_PATH,
    async (sent) => {
      const { ownerId, context } = sent;
      const { draft, request: run } = await readRun(sent);
      if (readText(sent.form, 'back') === 'yes') {
        return renderList(options, sent, { run: { ...draft, problems: {} } });
      }
      if (!run) return { status: 400, page: await renderList(options, sent, { run: draft }) };
      const estimate = await simulations.estimate(ownerId, run);
      const health = await simulations.checkHealth(ownerId, run);
      if (readText(sent.form, 'start') === 'yes' && health.problem === undefined) {
        const { agentVersion } = health;
        const requestId = readRequestId(sent.form);
        const { id } = await simulations.start(ownerId, run, { agentVersion, requestId });
        return goTo(context, `/simulation/${id}`);
      }
      const agent = await findDocument(store, ownerId, 'agent', draft.values.agent ?? '');
      const start = {
        agent,
        estimate,
        health,
        action: RUN_PATH,
        scenarioCount: draft.scenarioIds.length,
        fields: renderHiddenRun(draft),
        back: html`<button class="quiet" name="back" value="yes">Back</button>`,
      };
      return renderConfirmationPage(start, context);
    },
    async (problem, sent) => {
      if (!(problem instanceof InvalidDocumentError)) throw problem;
      const { draft } = await readRun(sent);
      const field = /^\/(agent|samples)/.exec(problem.pointer)?.[1] ?? 'scenarios';
      const run = { ...draft, problems: { [field]: problem.message } };
      return { status: 422, page: await renderList(options, sent, { run }) };
    },
  );
}

/** Returns the ids of the chosen scenarios, or of all that match the search of the list. */
async function readScenarioIds(
  { store }: ScenarioPageOptions,
  ownerId: string,
  form: FormData,
): Promise<string[]> {
  if (readText(form, 'all') === '') {
    return readTexts(form, 'scenario');
  }
  const all = await listDocuments(store, ownerId, 'scenario');
  return filterScenarios(all, readText(form, 'q')).map(({ id }) => id);
}

async function renderPersonas(
  { store, kit }: ScenarioPageOptions,
  { ownerId, context, query }: Visit,
  edited: EditedText | undefined,
): Promise<string> {
  const { skip, limit } = readPage(query, DOCUMENTS_PER_PAGE);
  const all = await listDocuments(store, ownerId, 'persona');
  const personas = all.slice(skip, skip + limit);
  const page = { skip, limit, total: all.length };
  const content = { ...page, query, personas, edited, canEdit: kit !== undefined };
  return renderPersonasPage(content, context);
}

async function renderPersona(
  { store }: ScenarioPageOptions,
  { ownerId, context }: Visit,
  persona: Persona,
  forms: { edited: EditedText | undefined; voice?: VoiceDraft },
): Promise<string> {
  const all = await listDocuments(store, ownerId, 'scenario');
  const scenarios = all.filter((scenario) => scenario.persona === persona.id);
  return renderPersonaPage({ persona, scenarios, ...forms }, context);
}
