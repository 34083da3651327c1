import { quoteArgument } from '../../../platform/shell.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

/** Path of the route that stores the scenario of a conversation or session. */
export const MAKE_SCENARIO_PATH = '/sessions/scenario';

/** The source of a scenario. */
export interface ScenarioSource {
  /** The id of the conversation or session. */
  id: string;
  /** `conversation`: one that repeats the lines of the user. `simulation`: the one that was played. */
  kind: 'conversation' | 'simulation';
  /** The id of the scenario if it is stored. */
  storedId: string | undefined;
}

/** Renders the form that makes a scenario of a conversation, or a link to the scenario that exists. */
export function renderNextStep(
  source: ScenarioSource | undefined,
  context: PageContext,
): Html | undefined {
  if (!source) return undefined;
  if (source.kind === 'simulation') return renderPlayed(source, context);
  const { owner, serviceUrl } = context;
  const command = [
    ...['npx', 'sandbox-kit', 'scenario', 'from-conversation', quoteArgument(source.id)],
    ...['--service', quoteArgument(serviceUrl)],
    ...(owner === undefined ? [] : ['--owner', quoteArgument(owner)]),
    ...['--out', 'conversation.scenario.yaml'],
  ].join(' ');
  return html`<h2>Make a scenario from this</h2>
    <p>In the scenario, a simulated user says the same lines to your agent.</p>
    ${renderMakeForm(source, 'Make a scenario', context)}
    <p>This command writes the scenario to a file instead:</p>
    <pre>${command}</pre>`;
}

function renderPlayed(source: ScenarioSource, context: PageContext): Html {
  const { storedId } = source;
  if (storedId === undefined) {
    return html`<h2>Scenario</h2>
      <p>The scenario of this session came with its simulation. Store it to edit and run it.</p>
      ${renderMakeForm(source, 'Store the scenario', context)}`;
  }
  const link = linkTo(context, `/scenarios/${encodeURIComponent(storedId)}`);
  return html`<h2>Scenario</h2>
    <p><a href="${link}">Open the scenario</a> to edit it or to run it again.</p>`;
}

const renderMakeForm = ({ id }: ScenarioSource, button: string, context: PageContext): Html =>
  renderForm(context, {
    action: MAKE_SCENARIO_PATH,
    body: html`<input type="hidden" name="id" value="${id}" /><button>${button}</button>`,
  });
