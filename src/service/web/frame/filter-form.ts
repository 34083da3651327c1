import { html, type Html } from '../../../report-kit/html.ts';
import type { SessionKind } from '../../store/store.ts';
import type { PageContext } from './page-frame.ts';

/** Renders a form that filters a list. It works by GET, so that each view has a URL. */
export function renderFilterForm(
  context: PageContext,
  form: { path: string; kind?: SessionKind; body: Html },
): Html {
  const { path, kind, body } = form;
  return html`<form action="${path}" class="filters" role="search">
    ${renderScope(context, kind)} ${body}
  </form>`;
}

/** Renders the hidden fields of a form by GET, which keep the owner and the kind of its page. */
export const renderScope = ({ owner }: PageContext, kind?: SessionKind): Html =>
  html`${kind !== undefined && html`<input type="hidden" name="kind" value="${kind}" />`}
  ${owner !== undefined && html`<input type="hidden" name="owner" value="${owner}" />`}`;

/** The labels of the fields of a filter, and the query with their values. */
interface Filter<Name extends string> {
  query: URLSearchParams;
  labels: Readonly<Record<Name, string>>;
}

/** Renders a text field of a filter. */
export const renderFilterField = <Name extends string>(
  { query, labels }: Filter<Name>,
  name: Name,
  placeholder = '',
): Html =>
  html`<label
    >${labels[name]}
    <input name="${name}" value="${query.get(name) ?? ''}" placeholder="${placeholder}"
  /></label>`;

/** Renders the fields that limit a list to a time, with an example of each format. */
export const renderTimeFilters = (filter: Filter<'started_after' | 'started_before'>): Html =>
  html`${renderFilterField(filter, 'started_after', '2026-11-20T09:30:00Z')}
  ${renderFilterField(filter, 'started_before', '2026-11-21')}`;
