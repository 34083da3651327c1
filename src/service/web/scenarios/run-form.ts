import type { SimulationRequest } from '../../../contract/index.ts';
import { randomUuid } from '../../../platform/random.ts';
import { formatCount } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { AgentHealth, SimulationEstimate } from '../../operations/simulations.ts';
import type { RunnableAgent } from '../../operations/agents.ts';
import type { StoredAgent } from '../../store/store.ts';
import { findFieldProblems, isFlawless, type FieldProblems } from '../frame/field-problems.ts';
import { renderField, renderSelect } from '../frame/fields.ts';
import { readText, renderForm } from '../frame/forms.ts';
import { renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { SCENARIO_CSS } from './scenario-view.ts';

/** Path of the route that shows the cost of a simulation, and starts it. */
export const RUN_PATH = '/scenarios/run';

/** The names of the fields besides the scenarios. */
const NAMES = ['agent', 'samples', 'channel', 'concurrency', 'seed', 'name'] as const;
type FieldName = (typeof NAMES)[number];

/** The typed values of a run, and what is wrong with them. */
export interface RunDraft {
  values: Partial<Record<FieldName, string>>;
  scenarioIds: readonly string[];
  problems: FieldProblems<FieldName | 'scenarios'>;
}

/** The initial values of a form. */
export const emptyRun = (agent?: string): RunDraft => ({
  values: { ...(agent !== undefined && { agent }) },
  scenarioIds: [],
  problems: {},
});

const PROBLEMS: Record<FieldName | 'scenarios', string> = {
  scenarios: 'Choose at least one scenario, and at most 1,000.',
  agent: 'Choose an agent.',
  samples: 'Enter a whole number from 1 to 1,000, or leave it empty.',
  concurrency: 'Enter a whole number from 1 to 100, or leave it empty.',
  channel: 'Choose a channel.',
  seed: 'Enter 1 to 64 letters, digits, dots, dashes, or underscores, or leave it empty.',
  name: 'Enter at most 200 characters.',
};

/** Reads the form of a run. The request is undefined if a value is invalid. */
export function readRunForm(
  form: FormData,
  scenarioIds: readonly string[],
): { draft: RunDraft; request: SimulationRequest | undefined } {
  const values = Object.fromEntries(NAMES.map((name) => [name, readText(form, name)]));
  const { agent = '', samples, channel, concurrency, seed, name } = values;
  const asNumber = (text: string): unknown => (/^\d{1,9}$/.test(text) ? Number(text) : text);
  const request = {
    agent,
    scenarios: [...scenarioIds],
    ...(samples && { samples: asNumber(samples) }),
    ...(channel && { channel }),
    ...(concurrency && { concurrency: asNumber(concurrency) }),
    ...(seed && { seed }),
    ...(name && { name }),
  };
  const problems = findFieldProblems('SimulationRequest', request, PROBLEMS);
  const draft = { values, scenarioIds, problems };
  return { draft, request: isFlawless(problems) ? (request as SimulationRequest) : undefined };
}

/** Renders the settings of a run. */
export function renderRunFields(agents: readonly RunnableAgent[], draft: RunDraft): Html {
  const { values, problems } = draft;
  return html`<div class="row">
    ${renderAgentSelect(agents, draft)}
    ${renderSelect(
      { name: 'channel', label: 'Channel', value: values.channel, problem: problems.channel },
      [
        ['', 'Per scenario'],
        ['chat', 'Chat'],
        ['voice', 'Voice'],
      ],
    )}
    ${renderNumber('samples', 'Samples', { draft, placeholder: 'per scenario' })}
    ${renderNumber('concurrency', 'Concurrent sessions', { draft, placeholder: '5' })}
    ${renderField(
      { name: 'seed', label: 'Seed', value: values.seed ?? '', problem: problems.seed },
      html`placeholder="random" autocomplete="off"`,
    )}
    ${renderField(
      { name: 'name', label: 'Name', value: values.name ?? '', problem: problems.name },
      html`placeholder="agent and time" autocomplete="off"`,
    )}
  </div>`;
}

/** The most agents to choose from. */
const AGENTS_MAX = 50;

function renderAgentSelect(agents: readonly RunnableAgent[], { values, problems }: RunDraft): Html {
  const isShown = ({ id }: RunnableAgent, index: number): boolean =>
    index < AGENTS_MAX || id === values.agent;
  const hint =
    agents.length > AGENTS_MAX
      ? `The ${AGENTS_MAX} agents that were reached last. For another one, follow "Run scenarios" on its page.`
      : undefined;
  return renderSelect(
    { name: 'agent', label: 'Agent', value: values.agent, problem: problems.agent, hint },
    agents.filter(isShown).map((agent) => [agent.id, nameWithState(agent)]),
  );
}

/** Names an agent with the result of its last connection check. */
function nameWithState({ name, isReachable }: RunnableAgent): string {
  if (isReachable) return name;
  return `${name} (${isReachable === false ? 'last connection check failed' : 'connection not checked'})`;
}

const renderNumber = (
  name: 'samples' | 'concurrency',
  label: string,
  { draft, placeholder }: { draft: RunDraft; placeholder: string },
): Html =>
  renderField(
    { name, label, value: draft.values[name] ?? '', problem: draft.problems[name] },
    html`inputmode="numeric" placeholder="${placeholder}" autocomplete="off"`,
  );

/** Renders what a run costs, and what is certain to fail in it. */
export function renderEstimate({ sessions, cost, warnings }: SimulationEstimate): Html {
  return html`<p>${formatCount(sessions, 'session')}. ${cost}</p>
    ${warnings.map((warning) => html`<p class="remark">${warning}</p>`)}`;
}

/** Renders the fields of a run as hidden ones. */
export const renderHiddenRun = ({ values, scenarioIds }: RunDraft): Html =>
  html`${Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => renderHidden(name, value))}
  ${renderHiddenScenarios(scenarioIds)}`;

/** Renders chosen scenarios as hidden fields. */
export const renderHiddenScenarios = (ids: readonly string[]): Html =>
  html`${ids.map((id) => renderHidden('scenario', id))}`;

const renderHidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** The field that tells a second click on the same page from another run. */
const REQUEST_ID_FIELD = 'request_id';
const REQUEST_ID_CHARS_MAX = 64;

/** Returns the id of the page that starts a run; undefined if the form has no valid id. */
export function readRequestId(form: FormData): string | undefined {
  const id = readText(form, REQUEST_ID_FIELD);
  return id === '' || id.length > REQUEST_ID_CHARS_MAX ? undefined : id;
}

/** Renders the button that starts a run, which starts only once. */
export const renderStart = (label: string): Html =>
  html`${renderHidden(REQUEST_ID_FIELD, randomUuid())}
    <button name="start" value="yes">${label}</button>`;

/** What the page that starts a run shows. */
export interface RunStart {
  agent: Pick<StoredAgent, 'name' | 'url'>;
  scenarioCount: number;
  estimate: SimulationEstimate;
  health: AgentHealth;
  /** The path that starts the run, with the hidden fields that it needs. */
  action: string;
  fields?: Html | undefined;
  /** What leads back. */
  back: Html;
}

/** Renders the page that says what a run costs before it starts. */
export function renderConfirmationPage(
  { agent, scenarioCount, estimate, health, action, fields, back }: RunStart,
  context: PageContext,
): string {
  const { problem } = health;
  return renderServicePage(
    {
      title: 'Start this simulation?',
      section: 'Scenarios',
      css: SCENARIO_CSS,
      main: html`<h1>Start this simulation?</h1>
        <p>${formatCount(scenarioCount, 'scenario')} with <b>${agent.name}</b> at ${agent.url}.</p>
        ${renderEstimate(estimate)}
        ${
          problem !== undefined &&
          html`<p class="fail" role="alert">
            Not started, and nothing was sent to the model: ${problem} Every session would stop
            before its first message. Start reads the health again.
          </p>`
        }
        ${renderForm(context, {
          action,
          body: html`${fields}
            <p>${renderStart('Start')} ${back}</p>`,
        })}`,
    },
    context,
  );
}
