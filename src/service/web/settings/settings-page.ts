import type { EvalDefinition, LiveSettings } from '../../../contract/index.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { evalKinds } from '../evals/eval-fields.ts';
import type { Edit, LabeledValues } from '../frame/edits.ts';
import type { FieldProblems } from '../frame/field-problems.ts';
import { renderCheckbox, renderField, renderProblem } from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import { renderLive } from '../frame/live.ts';
import { linkTo, renderNotice, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { BACKLOG_LIVE_PATH, renderBacklog, type ShownBacklog } from './backlog.ts';

/** The fields with a problem. */
export type SettingsProblems = FieldProblems<'evals' | 'run_name'>;

/** The content of the settings page. */
export interface SettingsPage {
  evals: readonly EvalDefinition[];
  /** The settings as stored, or as the reader entered them. */
  settings: Required<LiveSettings>;
  backlog: ShownBacklog;
  warnings: readonly string[];
  /** The date of the service clock, such as `2026-11-20`. */
  today: string;
  keyCount: number;
  problems?: SettingsProblems;
  edit: Edit;
}

/** Most evals to choose from; selected ones are always shown. */
const EVALS_SHOWN_MAX = 300;

const NOTICES = {
  saved: 'The settings were saved.',
  scored:
    'The settings were saved, and the conversations are being queued. They get their outcomes soon.',
};

/** Renders the settings: live evals, the name of the daily run, the backlog, and the API keys. */
export function renderSettingsPage(page: SettingsPage, context: PageContext): string {
  const { warnings, keyCount } = page;
  return renderServicePage(
    {
      title: 'Settings',
      css: CSS,
      main: html`<h1>Settings</h1>
        ${renderNotice(context, NOTICES)}
        <h2>Live traces</h2>
        ${warnings.map((warning) => html`<p class="remark">${warning}</p>`)}
        ${renderLive(linkTo(context, BACKLOG_LIVE_PATH), renderBacklog(page.backlog, context))}
        ${context.token === undefined && renderSummary(page)}
        ${renderForm(context, { action: '/settings', body: renderFields(page, context), edit: page.edit })}
        <h2>API keys</h2>
        <p>
          ${keyCount === 1 ? '1 key is' : `${formatNumber(keyCount)} keys are`} valid for this
          owner. <a href="${linkTo(context, '/keys')}">Generate or revoke API keys</a>
        </p>`,
    },
    context,
  );
}

/** Renders the settings for readers who may not change them. */
const renderSummary = ({ evals, settings }: SettingsPage): Html =>
  renderFactList(Object.entries(describeSettings(settings, evals)));

/** Returns the settings by the labels of their fields. */
export function describeSettings(
  { evals: ids, run_name: runName }: Required<LiveSettings>,
  evals: readonly EvalDefinition[],
): LabeledValues {
  const names = ids.map((id) => evals.find((each) => each.id === id)?.name ?? id).sort();
  return {
    Evals: names.length === 0 ? 'none' : names.join(', '),
    'Base name of the daily run': runName,
  };
}

function renderFields(page: SettingsPage, context: PageContext): Html {
  const { settings, today, backlog, problems = {} } = page;
  const { unscoredConversations, progress } = backlog;
  const base = settings.run_name === '' ? '…' : settings.run_name;
  return html`${renderEvals(page, context)}
    ${renderField({
      name: 'run_name',
      label: 'Base name of the daily run',
      value: settings.run_name,
      hint: `Conversations of today join the run “${base} ${today}”.`,
      problem: problems.run_name,
    })}
    <p>
      <button name="then" value="save">Save</button>
      ${
        unscoredConversations > 0 &&
        progress?.isRunning !== true &&
        html`<button name="then" value="score" class="quiet">
          Save and score ${formatCount(unscoredConversations, 'conversation')}
        </button>`
      }
    </p>`;
}

function renderEvals(page: SettingsPage, context: PageContext): Html {
  const { evals, settings, problems = {} } = page;
  const others = evals.filter(({ id }) => !settings.evals.includes(id));
  const shown = others.slice(0, EVALS_SHOWN_MAX);
  return html`<fieldset ${problems.evals !== undefined && html`aria-describedby="problem-evals"`}>
    <legend>Evals that score every closed conversation</legend>
    <p class="soft">
      At most five. An eval that uses a language model calls it for every conversation.
    </p>
    ${renderProblem(problems.evals, 'problem-evals')}
    ${settings.evals.map((id) => {
      const definition = evals.find((each) => each.id === id);
      return definition ? renderChoice(definition, true) : renderDeleted(id);
    })}
    ${shown.map((definition) => renderChoice(definition, false))}
    ${evals.length === 0 && renderNoEvals(context)}
    ${
      shown.length < others.length &&
      html`<label
        >Another eval, by its id
        <span class="soft"
          >${formatCount(others.length - shown.length, 'more eval')} not shown above</span
        >
        <input name="evals" autocomplete="off"
      /></label>`
    }
    ${
      evals.length !== 0 &&
      html`<p><a href="${linkTo(context, '/evals')}">Edit evals, or add one</a></p>`
    }
  </fieldset>`;
}

const renderChoice = ({ id, name, kind, required }: EvalDefinition, isChecked: boolean): Html =>
  renderCheckbox(
    'evals',
    html`${name}
      <span class="soft"
        >${evalKinds[kind].name}${required === false ? ', not required' : ''}</span
      >`,
    { value: id, isChecked },
  );

const renderDeleted = (id: string): Html =>
  renderCheckbox(
    'evals',
    html`<del>${id}</del> <span class="soft">was deleted; uncheck it to remove it</span>`,
    { value: id, isChecked: true },
  );

function renderNoEvals(context: PageContext): Html {
  return html`<p>
    There are no evals yet. <a href="${linkTo(context, '/evals/new')}">Add an eval</a>, and then
    choose it here.
  </p>`;
}

const CSS = `
progress { accent-color: var(--link); max-width: 32rem; width: 100%; }
`;
