import { html, type Html } from '../../../report-kit/html.ts';
import { renderForm } from './forms.ts';
import type { PageContext } from './page-frame.ts';

/** What a reader confirms before something is deleted. */
export interface Deletion {
  /** What opens the confirmation: "Delete this eval". */
  summary: string;
  /** Describes it to screen readers, if several summaries of a page have the same text. */
  label?: string;
  /** What goes with it, what stays, and what depends on it. */
  consequences: Html | string;
  /** What deletes it, with its name: "Delete Polite". */
  button: string;
  /** Path of the route that deletes it. */
  action: string;
  /** The fields that the route needs. */
  fields?: Html;
  className?: string;
}

/** Renders the confirmation that deletes something, folded, for readers who may change it. */
export function renderDeletion(context: PageContext, deletion: Deletion): Html | undefined {
  const { summary, label, consequences, button, action, fields, className } = deletion;
  if (context.token === undefined) return undefined;
  return html`<details>
    <summary ${label !== undefined && html`aria-label="${label}"`}>${summary}</summary>
    ${renderForm(context, {
      action,
      ...(className !== undefined && { className }),
      body: html`${fields}
        <p>${consequences}</p>
        <p><button class="danger">${button}</button></p>`,
    })}
  </details>`;
}
