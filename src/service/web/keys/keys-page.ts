import { html, type Html } from '../../../report-kit/html.ts';
import type { Page, StoredKey } from '../../store/store.ts';
import type { FieldProblems } from '../frame/field-problems.ts';
import { renderField, renderProblem } from '../frame/fields.ts';
import { renderDeletion } from '../frame/deletion.ts';
import { renderForm } from '../frame/forms.ts';
import {
  linkTo,
  renderDone,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { createTimeColumn, renderTime } from '../../../report-kit/time.ts';

/** The content of the page of API keys. */
export interface KeysPage extends Page {
  keys: readonly StoredKey[];
  total: number;
  query: URLSearchParams;
  /** The label that the reader entered. */
  label?: string;
  problems?: FieldProblems<'label' | 'key' | 'id'>;
}

/** Path of the form that revokes a key; by the key itself, it first shows which one that is. */
export const REVOKE_PATH = '/keys/revoke';

const NOTICES = { revoked: 'The key was revoked. Requests with it get a 401 from now on.' };

/** Renders the API keys of an owner, without the keys, and the forms that add and revoke keys. */
export function renderKeysPage(page: KeysPage, context: PageContext): string {
  const { keys, total, label = '', problems = {} } = page;
  return renderServicePage(
    {
      title: 'API keys',
      section: 'Settings',
      css: CSS,
      main: html`<h1>API keys</h1>
        ${renderNotice(context, NOTICES)}
        <p>
          A key identifies its owner when a program sends traces, closes conversations, or reads
          results. The service stores only a digest of each key, so no page can show a key again.
        </p>
        ${renderProblem(problems.id)}
        ${total === 0 ? html`<p>This owner has no keys.</p>` : renderKeys(keys, context)}
        ${renderPages({ path: '/keys', ...page })}
        <h2>Generate a key</h2>
        ${renderForm(context, {
          action: '/keys/generate',
          body: html`${renderField({
              name: 'label',
              label: 'Label',
              value: label,
              hint: 'Optional: identifies this key in the list, for example “staging exporter”.',
              problem: problems.label,
            })}
            <p><button>Generate a key</button></p>`,
        })}
        ${context.token !== undefined && renderRevocation(context, problems.key)}`,
    },
    context,
  );
}

/** Renders the form that finds a key by the key itself, to revoke it. It never shows the key again. */
function renderRevocation(context: PageContext, problem: string | undefined): Html {
  return html`<h2>Revoke a key that you have</h2>
    ${renderForm(context, {
      action: REVOKE_PATH,
      body: html`${renderField(
          { name: 'key', label: 'API key', type: 'password', problem, isRequired: true },
          html`autocomplete="off"`,
        )}
        <p><button class="danger">Revoke this key …</button></p>`,
    })}`;
}

function renderKeys(keys: readonly StoredKey[], context: PageContext): Html {
  return renderItems({
    label: 'Keys',
    items: keys,
    columns: [
      { name: 'label', content: ({ label }) => label ?? html`<span class="soft">no label</span>` },
      createTimeColumn<StoredKey>({ name: 'created', msOf: ({ createdAtMs }) => createdAtMs }),
      { name: 'origin', content: ({ isConfigured }) => (isConfigured ? 'configuration' : 'added') },
      { name: 'revoke', content: (key) => renderRevoke(key, context) },
    ],
  });
}

function renderRevoke(
  { id, label, isConfigured }: StoredKey,
  context: PageContext,
): Html | undefined {
  if (isConfigured) {
    return html`<span class="soft"
      >Remove it from the configuration, and restart the service.</span
    >`;
  }
  return renderDeletion(context, {
    summary: 'Revoke …',
    label: `Revoke ${nameKey(label)}`,
    consequences: html`<span class="soft">${CONSEQUENCES}</span>`,
    button: 'Revoke',
    action: REVOKE_PATH,
    fields: html`<input type="hidden" name="id" value="${id}" />`,
    className: 'revoke',
  });
}

const CONSEQUENCES = 'Programs that use it get a 401 from then on.';

const nameKey = (label: string | undefined): string =>
  label === undefined ? 'the key without a label' : `the key “${label}”`;

/** Renders the page that says which key the reader is about to revoke. */
export function renderRevocationPage(
  { id, label, createdAtMs }: StoredKey,
  context: PageContext,
): string {
  const title = `Revoke ${nameKey(label)}?`;
  return renderServicePage(
    {
      title,
      section: 'Settings',
      main: html`<h1>${title}</h1>
        <p>
          ${createdAtMs !== undefined && html`It was added at ${renderTime(createdAtMs)}.`}
          ${CONSEQUENCES}
        </p>
        ${renderForm(context, {
          action: REVOKE_PATH,
          body: html`<input type="hidden" name="id" value="${id}" />
            <p>
              <button class="danger">Revoke</button>
              <a href="${linkTo(context, '/keys')}">Cancel</a>
            </p>`,
        })}`,
    },
    context,
  );
}

/** Renders a new key, once, with the settings of an exporter that uses it. */
export function renderNewKeyPage(
  { key, label, apiKeyHeader }: { key: string; label: string; apiKeyHeader: string },
  context: PageContext,
): string {
  const close = `curl -X POST -H '${apiKeyHeader}: ${key}' \\\n  ${context.serviceUrl}/v1/sessions/CONVERSATION_ID/end`;
  return renderServicePage(
    {
      title: 'New API key',
      section: 'Settings',
      main: html`<h1>New API key</h1>
        ${renderDone(`Copy the key now: only this page shows it, for half an hour.${label === '' ? '' : ` Its label is “${label}”.`}`)}
        <pre class="key">${key}</pre>
        <h2>Send traces with it</h2>
        <p>For an OpenTelemetry SDK, set these variables:</p>
        <pre>
OTEL_EXPORTER_OTLP_ENDPOINT=${context.serviceUrl}
OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
OTEL_EXPORTER_OTLP_HEADERS=${apiKeyHeader}=${key}</pre>
        <h2>Close a conversation with it</h2>
        <pre>${close}</pre>
        <p><a href="${linkTo(context, '/keys')}">All keys</a></p>`,
    },
    context,
  );
}

const CSS = `
.revoke { margin: 0.3rem 0; }
`;
