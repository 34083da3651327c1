import { html, type Html } from '../../../report-kit/html.ts';
import { parseBaseUrl } from '../../../platform/base-url.ts';
import type { TestedAgent } from '../../../contract/index.ts';
import { findSettingToMend } from '../../operations/agents.ts';
import type { StoredAgent } from '../../store/store.ts';
import { findChanged, makeVersion, type LabeledValues } from '../frame/edits.ts';
import { findFieldProblems, isFlawless, type FieldProblems } from '../frame/field-problems.ts';
import { renderCheckbox, renderField } from '../frame/fields.ts';
import { readText, renderForm } from '../frame/forms.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

const PROBLEMS = {
  name: 'Enter a name of 1 to 200 characters.',
  url: 'The URL must be an http or https URL.',
  voice_url: 'The voice URL must be a ws or wss URL, such as wss://sandbox.example.com/voice.',
  api_key: 'The key must consist of at most 4,096 visible ASCII characters without spaces.',
};

/** The typed values of the form of an agent, and what is wrong with them. */
export interface AgentDraft {
  name: string;
  url: string;
  voiceUrl: string;
  /** The typed key of an agent that is being added; the page that shows it is kept encrypted. */
  apiKey?: string | undefined;
  problems: FieldProblems<keyof typeof PROBLEMS>;
  /** What was saved meanwhile. */
  changed?: LabeledValues | undefined;
}

/** Returns the values of an agent for its form. */
export const toDraft = (agent?: { name: string; url: string; voice_url?: string }): AgentDraft => ({
  name: agent?.name ?? '',
  url: agent?.url ?? '',
  voiceUrl: agent?.voice_url ?? '',
  problems: {},
});

/** Returns the version of an agent. It counts the changes of its key, which no page shows. */
const versionOf = ({ name, url, voice_url: voiceUrl, connection }: StoredAgent): string =>
  makeVersion([name, url, voiceUrl, connection]);

/** Returns what a form of an agent would overwrite although its sender has not seen it. */
export function findChangedAgent(
  form: FormData,
  { name, url, voiceUrl }: AgentDraft,
  stored: StoredAgent,
): LabeledValues | undefined {
  const key = stored.has_api_key ? 'stored, not shown' : 'none';
  const isKept = readText(form, 'api_key') === '' && readText(form, 'forget_key') === '';
  return findChanged(form, versionOf(stored), {
    saved: {
      Name: stored.name,
      URL: stored.url,
      'API key': key,
      'Voice URL': stored.voice_url ?? '',
    },
    entered: { Name: name, URL: url, 'API key': isKept ? key : 'entered', 'Voice URL': voiceUrl },
  });
}

/** Reads the form of an agent. The agent is undefined if a value is invalid. */
export function readAgentForm(form: FormData): {
  draft: AgentDraft;
  agent: TestedAgent | undefined;
} {
  const name = readText(form, 'name');
  const url = readText(form, 'url');
  const voiceUrl = readText(form, 'voice_url');
  const apiKey = readText(form, 'api_key');
  const parsed = parseBaseUrl(url, {
    expected: 'an http or https URL',
    keyHint: 'Enter the key in its own field.',
  });
  const agent = {
    name,
    url: parsed.url ?? '',
    ...(voiceUrl !== '' && { voice_url: voiceUrl }),
    ...(apiKey !== '' && { api_key: apiKey }),
  };
  const problems: AgentDraft['problems'] = {
    ...findFieldProblems('TestedAgent', agent, PROBLEMS),
    ...(parsed.problem !== undefined && { url: `The URL ${parsed.problem}` }),
  };
  return {
    draft: { name, url, voiceUrl, problems },
    agent: isFlawless(problems) ? agent : undefined,
  };
}

/** Returns the draft of a new agent with its key, unless the key is invalid. */
export const keepKey = (form: FormData, draft: AgentDraft): AgentDraft =>
  draft.problems.api_key === undefined ? { ...draft, apiKey: readText(form, 'api_key') } : draft;

/** Adds to the problems of a form that its key, which no page shows, has to be entered again. */
export const remindOfKey = (
  form: FormData,
  problems: AgentDraft['problems'],
): AgentDraft['problems'] =>
  readText(form, 'api_key') === ''
    ? problems
    : { api_key: 'Enter the key again: pages never show a key, so it was not kept.', ...problems };

/** The query parameter with the field of the form that a link opens. */
export const EDITED_PARAMETER = 'edit';

/** Renders a link to the field that mends a failed connection; nothing if no field does. */
export function renderSettingLink(
  { id, verdict }: { id: string; verdict: string },
  context: PageContext,
): Html | undefined {
  const field = context.token === undefined ? undefined : findSettingToMend(verdict);
  if (field === undefined) return undefined;
  const link = linkTo(context, `/agents/${id}`, { [EDITED_PARAMETER]: field });
  const text = field === 'api_key' ? 'Change the API key' : 'Change the URL';
  return html`<a href="${link}">${text}</a>`;
}

/** Renders the form that adds an agent, or changes one. A stored key is never shown. */
export function renderAgentForm(
  context: PageContext,
  {
    draft,
    action,
    stored,
    edited,
  }: { draft: AgentDraft; action: string; stored?: StoredAgent; edited?: string | null },
): Html {
  const { name, url, voiceUrl, apiKey, problems, changed } = draft;
  const hasKey = stored?.has_api_key === true;
  return renderForm(context, {
    action,
    edit: stored && { version: versionOf(stored), changed },
    body: html`${renderField({
        name: 'name',
        label: 'Name',
        value: name,
        problem: problems.name,
        isRequired: true,
        hint: 'Shown with its sessions.',
      })}
      ${renderField(
        {
          name: 'url',
          label: 'URL',
          value: url,
          problem: problems.url,
          isRequired: true,
          hint: html`Base URL of the sandbox; <code>/health</code> and the other paths are appended.`,
        },
        html`inputmode="url" placeholder="https://sandbox.example.com"
        ${edited === 'url' && 'autofocus'}`,
      )}
      ${renderField(
        {
          name: 'api_key',
          label: 'API key',
          type: 'password',
          value: apiKey,
          problem: problems.api_key,
          hint: hasKey
            ? 'A key is stored and never shown. Leave this empty to keep it.'
            : 'The bearer key of the sandbox, if it needs one. It is stored and never shown.',
        },
        html`autocomplete="new-password" ${edited === 'api_key' && 'autofocus'}`,
      )}
      ${hasKey && renderCheckbox('forget_key', 'Delete the stored key')}
      ${renderField(
        {
          name: 'voice_url',
          label: 'Voice URL',
          value: voiceUrl,
          problem: problems.voice_url,
          hint: html`Only if calls go to an address other than <code>/voice</code> below the URL.`,
        },
        html`inputmode="url" placeholder="wss://sandbox.example.com/voice"`,
      )}
      <p><button>${stored ? 'Save' : 'Add the agent'}</button></p>`,
  });
}
