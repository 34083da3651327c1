import type { Persona } from '../../../contract/index.ts';
import { renderFactList, type Fact } from '../../../report-kit/fact-list.ts';
import { cutText, formatCount, formatList } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { completePersona, patienceOf } from '../../scenarios/complete-scenario.ts';
import type { Page } from '../../store/store.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import {
  NEW_TEXTS,
  renderDocumentForms,
  renderEditor,
  type EditedText,
} from './document-editor.ts';
import { SCENARIO_CSS } from './scenario-view.ts';
import { renderDocumentTabs } from './scenarios-page.ts';
import { listVoiceFacts, renderVoiceForm, voiceDraftOf, type VoiceDraft } from './voice-form.ts';

/** The content of the list of personas. */
export interface PersonaList extends Page {
  query: URLSearchParams;
  personas: readonly Persona[];
  total: number;
  /** The text of a new persona, after a mistake. */
  edited?: EditedText | undefined;
  canEdit: boolean;
}

/** Renders the personas, with the form that adds one. */
export function renderPersonasPage(list: PersonaList, context: PageContext): string {
  const { personas, total, edited } = list;
  return renderServicePage(
    {
      title: 'Personas',
      section: 'Scenarios',
      css: SCENARIO_CSS,
      main: html`<h1>Personas</h1>
        ${renderDocumentTabs(context, 'persona')}
        ${renderNotice(context, { deleted: 'The persona was deleted.' })}
        <p>A persona says who a simulated user is. Scenarios refer to it by its id.</p>
        ${total === 0 ? html`<p>No personas yet.</p>` : renderPersonas(personas, context)}
        ${renderPages({ path: '/personas', ...list })}
        ${
          list.canEdit &&
          context.token !== undefined &&
          html`<details ${edited ? 'open' : ''}>
            <summary>Write a persona</summary>
            ${renderEditor(context, {
              kind: 'persona',
              action: '/personas',
              button: 'Add the persona',
              edited: edited ?? { text: NEW_TEXTS.persona },
            })}
          </details>`
        }`,
    },
    context,
  );
}

function renderPersonas(personas: readonly Persona[], context: PageContext): Html {
  const linkToPersona = ({ id, name }: Persona): Html =>
    html`<a href="${linkTo(context, `/personas/${encodeURIComponent(id)}`)}">${name}</a>
      <div class="soft">${id}</div>`;
  return renderItems({
    label: 'Personas',
    items: personas,
    columns: [
      { name: 'persona', content: linkToPersona },
      {
        name: 'characteristics',
        content: ({ characteristics = '' }) => cutText(characteristics, 300),
      },
      { name: 'language', content: (persona) => completePersona(persona).language },
      {
        name: 'patience',
        isNumber: true,
        content: (persona) => formatCount(patienceOf(persona), 'turn'),
      },
    ],
  });
}

/** The content of the page of a persona. */
export interface PersonaPage {
  persona: Persona;
  /** The scenarios that refer to it. */
  scenarios: readonly { id: string; name: string }[];
  edited: EditedText | undefined;
  /** The entered voice, after a mistake. */
  voice?: VoiceDraft | undefined;
}

const SCENARIOS_MAX = 50;

/** Renders the page of a persona. */
export function renderPersonaPage(
  { persona, scenarios, edited, voice }: PersonaPage,
  context: PageContext,
): string {
  const { id, name, characteristics, verbosity } = persona;
  const patience = patienceOf(persona);
  const path = `/personas/${encodeURIComponent(id)}`;
  const facts: Fact[] = [
    ['Characteristics', characteristics, 'text'],
    ['Language', completePersona(persona).language, 'text'],
    ['Says', verbosity],
    ['Patience', `${patience} unhelpful ${patience === 1 ? 'reply' : 'replies'}`],
  ];
  const ofVoice = listVoiceFacts(persona);
  return renderServicePage(
    {
      title: name,
      section: 'Scenarios',
      css: SCENARIO_CSS,
      main: html`<p><a href="${linkTo(context, '/personas')}">Personas</a></p>
        <h1>${name}</h1>
        <p class="soft">${[id, ...(persona.tags ?? [])].join(' · ')}</p>
        ${renderNotice(context, { added: 'The persona was added.', saved: 'The persona was saved.' })}
        ${renderFactList(facts)}
        <h2>Voice in calls</h2>
        ${
          ofVoice.length === 0
            ? html`<p>The usual voice on a good line. It never interrupts or hesitates.</p>`
            : renderFactList(ofVoice)
        }
        ${renderVoiceForm(context, {
          action: `${path}/voice`,
          draft: voice ?? voiceDraftOf(persona),
        })}
        <h2>Scenarios with this persona</h2>
        ${
          scenarios.length === 0
            ? html`<p>None.</p>`
            : html`<ul>
                ${scenarios.slice(0, SCENARIOS_MAX).map(
                  (scenario) =>
                    html`<li>
                      <a href="${linkTo(context, `/scenarios/${encodeURIComponent(scenario.id)}`)}"
                        >${scenario.name}</a
                      >
                    </li>`,
                )}
                ${scenarios.length > SCENARIOS_MAX && html`<li>and ${scenarios.length - SCENARIOS_MAX} more</li>`}
              </ul>`
        }
        ${renderDocumentForms(context, { kind: 'persona', name, path, edited, consequences: describeDependents(scenarios) })}`,
    },
    context,
  );
}

/** The most scenarios that the confirmation of a deletion names. */
const NAMED_MAX = 5;

/** Says what a deletion of a persona does to the scenarios that refer to it. */
function describeDependents(scenarios: PersonaPage['scenarios']): string {
  const names = scenarios.map(({ name }) => cutText(name, 80));
  const kept = 'Simulations with it keep their results.';
  if (names.length === 0) return `No scenario refers to it. ${kept}`;
  const [refer, they] = names.length === 1 ? ['refers', 'it names'] : ['refer', 'they name'];
  return (
    `${formatCount(names.length, 'scenario')} ${refer} to it, and can't run until ${they} ` +
    `another persona: ${formatList(names, NAMED_MAX)}. ${kept}`
  );
}
