import { html, withCode, type Html } from '../../../report-kit/html.ts';

/** A field of a form. */
export interface Field {
  name: string;
  label: string;
  value?: string | undefined;
  /** What to enter, below the label. */
  hint?: Html | string | undefined;
  /** The problem with the value. */
  problem?: string | undefined;
  isRequired?: boolean;
}

/** Renders a field of one line. `more` are additional attributes of the input. */
export function renderField(
  field: Field & { type?: 'text' | 'password' | 'number' | 'file' },
  more?: Html,
): Html {
  const { name, type = 'text', value } = field;
  return renderLabeled(
    field,
    html`<input
      name="${name}"
      type="${type}"
      ${value !== undefined && html`value="${value}"`}
      ${attributesOf(field)}
      ${more}
    />`,
  );
}

/** Renders a field of many lines. `more` are additional attributes. */
export function renderTextArea(field: Field & { rows: number }, more?: Html): Html {
  // HTML drops the first line break of a text area.
  return renderLabeled(
    field,
    html`<textarea
      name="${field.name}"
      rows="${field.rows}"
      spellcheck="false"
      ${attributesOf(field)}
      ${more}
    >
${field.value ?? ''}</textarea>`,
  );
}

/** Renders a field with a list of choices. */
export function renderSelect(
  field: Field,
  choices: readonly (readonly [value: string, name: string])[],
): Html {
  return renderLabeled(
    field,
    html`<select name="${field.name}" ${attributesOf(field)}>
      ${choices.map(
        ([value, name]) =>
          html`<option value="${value}" ${value === field.value ? 'selected' : ''}>
            ${name}
          </option>`,
      )}
    </select>`,
  );
}

/** Renders a checkbox. */
export const renderCheckbox = (
  name: string,
  label: Html | string,
  { value = 'yes', isChecked = false }: { value?: string; isChecked?: boolean } = {},
): Html =>
  html`<label
    ><input type="checkbox" name="${name}" value="${value}" ${isChecked ? 'checked' : ''} />
    ${label}</label
  >`;

/**
 * Renders what is wrong with a form, or with a group of fields. The page starts with the focus on it,
 * or on the first field with a problem.
 */
export const renderProblem = (problem: string | undefined, id?: string): Html | undefined =>
  problem === undefined
    ? undefined
    : html`<p
        class="fail"
        role="alert"
        tabindex="-1"
        autofocus
        ${id === undefined ? '' : html`id="${id}"`}
      >
        ${withCode(problem)}
      </p>`;

function renderLabeled({ name, label, hint, problem }: Field, input: Html): Html {
  return html`<div class="field">
    <label
      >${label} ${hint !== undefined && html`<span class="soft">${hint}</span>`} ${input}</label
    >
    ${
      problem !== undefined &&
      html`<p class="fail" role="alert" id="problem-${name}">${withCode(problem)}</p>`
    }
  </div>`;
}

function attributesOf({ name, problem, isRequired = false }: Field): Html {
  return html`${isRequired ? 'required' : ''}
  ${problem === undefined ? '' : html`aria-invalid="true" aria-describedby="problem-${name}" autofocus`}`;
}
