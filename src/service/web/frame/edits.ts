/** Detects that what a form edits was saved after the form was loaded, such as in another tab. */
import { createHash } from 'node:crypto';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { html, type Html } from '../../../report-kit/html.ts';

const VERSION_FIELD = '_version';

/** The values of a form, as people read them, by the labels of their fields. */
export type LabeledValues = Readonly<Record<string, string>>;

/** What a form edits. */
export interface Edit {
  /** Changes with everything that was saved, also with what is not shown. */
  version: string;
  /** The saved values that differ from the entered ones; undefined unless they were saved meanwhile. */
  changed?: LabeledValues | undefined;
}

/** Returns the version of what is stored. */
export const makeVersion = (stored: unknown): string =>
  createHash('sha256').update(JSON.stringify(stored)).digest('hex').slice(0, 32);

/**
 * Returns the saved values that a form would overwrite although its sender has not seen them; undefined
 * if nothing was saved since the form was loaded, or if it was the same.
 */
export function findChanged(
  form: FormData,
  version: string,
  { saved, entered }: { saved: LabeledValues; entered: LabeledValues },
): LabeledValues | undefined {
  const loaded = form.get(VERSION_FIELD);
  if (loaded === null || loaded === version) return undefined;
  const differing = Object.entries(saved).filter(([label, value]) => value !== entered[label]);
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

/** Renders the hidden version of a form, and what was saved meanwhile. */
export function renderEdit({ version, changed }: Edit): Html {
  return html`<input type="hidden" name="${VERSION_FIELD}" value="${version}" /> ${
      changed &&
      html`<div class="remark" role="alert" tabindex="-1" autofocus>
        <p>
          <b>Not saved: this was changed meanwhile, for example in another tab.</b> The fields below
          contain what you entered. These values are saved now:
        </p>
        ${renderFactList(
          Object.entries(changed).map(([label, value]) => [label, renderValue(value)]),
        )}
        <p>Save again to replace them with yours, or copy what you want to keep first.</p>
      </div>`
    }`;
}

function renderValue(value: string): Html | string {
  if (value === '') return html`<span class="soft">empty</span>`;
  return value.includes('\n') ? html`<pre>${value}</pre>` : value;
}
