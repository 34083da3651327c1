import { cutText } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { TextKind, TextProblem } from '../../operations/scenarios.ts';
import type { Edit } from '../frame/edits.ts';
import { renderDeletion } from '../frame/deletion.ts';
import { renderTextArea } from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { renderFields } from './document-fields.ts';

/** The text of a document in its editor, and what is wrong with it. */
export interface EditedText {
  text: string;
  problem?: TextProblem | undefined;
  /** What it edits; undefined for a new document. */
  edit?: Edit | undefined;
}

/** The label of the text. */
export const TEXT_LABEL = 'YAML or JSON';

/** How far the editor grows with its text. */
const ROWS = { min: 12, max: 40 };
const LINE_LENGTH_MAX = 200;

/** Renders the form where a scenario or persona is edited as YAML or JSON. */
export function renderEditor(
  context: PageContext,
  {
    kind,
    action,
    button,
    edited,
  }: { kind: TextKind; action: string; button: string; edited: EditedText },
): Html {
  const { text, problem, edit } = edited;
  const lines = text.split('\n');
  const rows = Math.min(ROWS.max, Math.max(ROWS.min, lines.length + 1));
  const place = problem?.place;
  const line = place && lines[place.line - 1]?.trim().slice(0, LINE_LENGTH_MAX);
  const form = renderForm(context, {
    action,
    edit,
    body: html`${renderTextArea({
        name: 'text',
        label: TEXT_LABEL,
        value: text,
        rows,
        problem: problem && describeProblem(problem),
      })}
      ${line && html`<pre>${line}</pre>`}
      <p><button>${button}</button></p>`,
  });
  return html`${form} ${renderFields(kind)}`;
}

const describeProblem = ({ message, place }: TextProblem): string =>
  `Line ${place.line}, column ${place.column}: ${message}`;

/** What the forms of a document need. */
interface DocumentForms {
  kind: TextKind;
  name: string;
  path: string;
  edited: EditedText | undefined;
  /** What a deletion keeps, and what depends on the document. */
  consequences: string;
}

/** The most characters of a name on a button. */
const NAME_LENGTH_MAX = 80;

/** Renders the forms that edit, duplicate, and delete a document, for readers who may change it. */
export function renderDocumentForms(
  context: PageContext,
  { kind, name, path, edited, consequences }: DocumentForms,
): Html | undefined {
  if (context.token === undefined) return undefined;
  return html`${
    edited &&
    html`<details ${(edited.problem ?? edited.edit?.changed) ? 'open' : ''}>
      <summary>Edit the ${kind}</summary>
      ${renderEditor(context, { kind, action: `${path}/save`, button: 'Save', edited })}
    </details>`
  }
  ${renderForm(context, {
    action: `${path}/duplicate`,
    body: html`<button class="quiet">Duplicate the ${kind}</button>`,
  })}
  ${renderDeletion(context, {
    summary: `Delete this ${kind}`,
    consequences,
    button: `Delete ${cutText(name, NAME_LENGTH_MAX)}`,
    action: `${path}/delete`,
  })}`;
}

/** The initial text of a new scenario or persona. */
export const NEW_TEXTS: Readonly<Record<TextKind, string>> = {
  scenario: `id: late-parcel
name: Asks about a late parcel
user:
  goal: Know when the parcel arrives.
  opening: Where is my parcel?
  facts:
    - { name: order number, value: A-1001 }
evals:
  - id: says-when
    name: Says when it arrives
    kind: contains
    params: { text: tomorrow }
`,
  persona: `id: busy
name: Busy
characteristics: Writes in short sentences and has no time.
patience_turns: 3
`,
};
